"""A Ray Serve application on a cluster of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pulumi
import yaml

from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.metadata import metadata
from components.workloads.ray.args import RayServiceArgs
from components.workloads.ray.checks import cluster_problems
from components.workloads.ray.cluster import ray_object
from components.workloads.ray.groups import cluster_spec
from components.workloads.refusal import refuse_if_any
from spec.settings.problems import Problem
from spec.teams.labels import JOB


def ray_service(name: str, args: RayServiceArgs) -> WorkloadManifests:
    """The manifests of a Ray service.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayService", name, _problems(args))
    spec = {
        # The head has the dashboard, and answers no requests.
        "excludeHeadPodFromServeSvc": True,
        "rayClusterConfig": {**cluster_spec(name, args, serves=True), "suspend": args.suspend},
        "serveConfigV2": yaml.safe_dump(dict(args.serve), sort_keys=True),
        # Otherwise a change of the cluster starts a second one beside it, which Kueue doesn't count.
        "upgradeStrategy": {"type": "None"},
    }
    budget = _budget(name, args)
    return {
        "service": WorkloadManifest(ray_object("RayService", name, args, spec)),
        **({"budget": WorkloadManifest(budget)} if budget else {}),
    }


class RayService(Workload):
    """The resources of a Ray service."""

    PULUMI_TYPE: Final = "slipway:workloads:RayService"

    def __init__(self, name: str, args: RayServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_service(name, args), args.target, opts)


def _budget(name: str, args: RayServiceArgs) -> dict[str, Any] | None:
    """A PodDisruptionBudget: one worker at a time; None for a single worker, whose drain it would block.

    `maxUnavailable` would block every drain: it needs a controller with a subresource `scale`, which a RayCluster
    doesn't have (kubernetes.io, "Specifying a Disruption Budget", arbitrary workloads).
    """
    workers = sum(group.replicas for group in args.workers.values())
    if workers < 2:
        return None
    selector = {"matchLabels": {JOB: name, "ray.io/node-type": "worker"}}
    spec = {"minAvailable": workers - 1, "selector": selector, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    meta = metadata(name, args.target)
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def _problems(args: RayServiceArgs) -> Iterator[Problem]:
    yield from cluster_problems("RayService", args, serves=True)
    applications = args.serve.get("applications")
    if not isinstance(applications, list | tuple) or not applications:
        rule = "Serve's configuration has a list of applications"
        yield Problem("serve", rule, sorted(args.serve), 'Write {"applications": [{"name": ..., "import_path": ...}]}.')
