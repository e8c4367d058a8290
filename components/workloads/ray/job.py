"""A Ray job with a cluster of its own, which ends with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pulumi
import yaml

from components.base.eviction import NOT_MOVED
from components.workloads.checks.bounds import (
    LONGEST,
    LONGEST_IDLE,
    count_problems,
    deadline_problems,
    retries_problems,
)
from components.workloads.checks.lifetime import lifetime_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.metadata import pod_metadata
from components.workloads.pods import container, pod_spec
from components.workloads.ray.args import RayJobArgs
from components.workloads.ray.checks import cluster_problems
from components.workloads.ray.cluster import ray_object
from components.workloads.ray.groups import cluster_spec, head, worker
from components.workloads.refusal import refuse_if_any
from components.workloads.resources import Resources
from spec.settings.problems import Problem

SUBMITTER: Final = "ray-job-submitter"
SUBMITTER_RESOURCES: Final = Resources(cpu="500m", memory="1Gi")


def ray_job(name: str, args: RayJobArgs) -> WorkloadManifests:
    """The manifests of a Ray job.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayJob", name, _problems(args))
    spec = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": args.retries,
        "entrypoint": args.entrypoint,
        "rayClusterSpec": cluster_spec(name, args),
        "shutdownAfterJobFinishes": True,
        "submissionMode": "K8sJobMode",
        "submitterPodTemplate": _submitter(name, args),
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": args.ttl_seconds,
    }
    if args.runtime_env is not None:
        spec["runtimeEnvYAML"] = yaml.safe_dump(dict(args.runtime_env), sort_keys=True)
    return {"job": WorkloadManifest(ray_object("RayJob", name, args, spec))}


class RayJob(Workload):
    """The resources of a Ray job."""

    PULUMI_TYPE: Final = "slipway:workloads:RayJob"

    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_job(name, args), args.target, opts)


def _submitter(name: str, args: RayJobArgs) -> dict[str, Any]:
    """The pod that submits the job and prints the driver's log. KubeRay's own has no security context, which the level
    `restricted` refuses."""
    pod = replace(args.head, resources=SUBMITTER_RESOURCES, shared_memory=None, volumes={})
    spec = pod_spec(pod, args.target, [container(SUBMITTER, pod, args.target)], priority=args.priority)
    return {
        "metadata": pod_metadata(name, pod, args.target, NOT_MOVED),
        "spec": {**spec, "restartPolicy": "Never"},
    }


def _problems(args: RayJobArgs) -> Iterator[Problem]:
    yield from cluster_problems("RayJob", args)
    if not args.entrypoint.strip():
        yield Problem("entrypoint", "a job needs a command", args.entrypoint, "Set it: python train.py.")
    yield from deadline_problems(args.deadline_seconds)
    yield from retries_problems(args.retries)
    yield from count_problems("ttl_seconds", args.ttl_seconds, 0, LONGEST_IDLE)
    if args.deadline_seconds is None or args.retries is None:
        return
    if args.deadline_seconds * (args.retries + 1) > LONGEST:
        rule = f"all {args.retries + 1} attempts together may take at most {LONGEST} s, and each may take the deadline"
        fix = f"Set at most {LONGEST // (args.retries + 1)}, or fewer retries."
        yield Problem("deadline_seconds", rule, args.deadline_seconds, fix)
    for template in (head("check", args, serves=False), *(worker("check", args, each.pod, serves=False)
                     for _, each in sorted(args.workers.items()))):  # fmt: skip
        yield from lifetime_problems("deadline_seconds", args.deadline_seconds, template["spec"], args.target)
