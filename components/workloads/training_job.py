"""A training job on one node, or on several that don't communicate: a `batch/v1` Job.

A Spot interruption, a drain or a preemption doesn't count as a retry; exit codes that a retry can't fix fail the job
immediately.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi

from components.base.operator import object_with
from components.workloads.checks.jobs import bounds_problems, count_problems, lifetime_problems, suspended_problems
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, kept, metadata, pod_metadata
from components.workloads.pods import Pod, container, pod_spec
from components.workloads.target import Target
from spec.jobs import DAY
from spec.settings.problems import Problem

CONTAINER: Final = "train"
FATAL_EXIT_CODES: Final = (2, 126, 127)
"""Usage error (argparse), command not executable, command not found: a retry would fail too."""


@dataclass(frozen=True, kw_only=True)
class TrainingJobArgs:
    """Inputs of a training job.

    Attributes:
        target: The target platform and namespace.
        pod: Its pod.
        deadline_seconds: Maximum total duration, including retries, without time suspended.
        ttl_seconds: How long the finished job and its logs are kept.
        retries: Pod failures before the job fails; disruptions don't count.
        completions: Pods that must succeed.
        parallelism: Maximum number of pods at a time.
        restart: `Never` creates a new pod for every retry; `OnFailure` restarts the container on the same node.
        fatal_exit_codes: Exit codes that fail the job immediately; only with `Never`.
        priority: Priority class, for queue and pod.
        suspend: Create it suspended; the queue starts it.
    """

    target: Target
    pod: Pod
    deadline_seconds: int | None = None
    ttl_seconds: int | None = DAY
    retries: int | None = 3
    completions: int = 1
    parallelism: int = 1
    restart: Literal["Never", "OnFailure"] = "Never"
    fatal_exit_codes: tuple[int, ...] = FATAL_EXIT_CODES
    priority: str = "experiment"
    suspend: bool = True


def training_job(name: str, args: TrainingJobArgs) -> WorkloadManifests:
    """The manifests of a job.

    Raises:
        WorkloadRefused: With all problems.
    """
    manifest = _manifest(name, args)
    refuse_if_any("TrainingJob", name, _problems(args, manifest["spec"]["template"]["spec"]))
    return {"job": WorkloadManifest(manifest)}


class TrainingJob(Workload):
    """The resource of a training job."""

    PULUMI_TYPE: Final = "slipway:workloads:TrainingJob"

    def __init__(self, name: str, args: TrainingJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, training_job(name, args), args.target, opts)


def _manifest(name: str, args: TrainingJobArgs) -> dict[str, Any]:
    target, pod = args.target, args.pod
    spec = {
        **pod_spec(pod, target, [container(CONTAINER, pod, target)], priority=args.priority),
        "restartPolicy": args.restart,
    }
    body = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": args.retries,
        "completions": args.completions,
        "parallelism": args.parallelism,
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": args.ttl_seconds,
        **failure_policy(args.restart, args.fatal_exit_codes),
        "template": {"metadata": pod_metadata(name, pod, target, kept(pod, target)), "spec": spec},
    }
    meta = metadata(name, target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"})
    return object_with("batch/v1", "Job", meta, spec=body)


def failure_policy(restart: str, fatal: tuple[int, ...]) -> dict[str, Any]:
    """`podFailurePolicy` of a Job; the API server accepts it only with `Never` (kubernetes.io, "Handling retriable and
    non-retriable pod failures with Pod failure policy")."""
    if restart != "Never":
        return {}
    rules: list[dict[str, Any]] = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    if fatal:
        codes = {"containerName": CONTAINER, "operator": "In", "values": sorted(fatal)}
        rules.append({"action": "FailJob", "onExitCodes": codes})
    return {"podFailurePolicy": {"rules": rules}}


def _problems(args: TrainingJobArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    yield from bounds_problems(args.deadline_seconds, args.ttl_seconds, args.retries)
    yield from count_problems("completions", args.completions, 1, 1000)
    yield from count_problems("parallelism", args.parallelism, 1, max(1, args.completions))
    yield from exit_code_problems(args.fatal_exit_codes)
    yield from suspended_problems(args.suspend, args.target, "Job")
    yield from pod_problems("pod", spec, args.target, at_once=args.parallelism)
    yield from spot_problems("pod", spec, args.target)
    yield from lifetime_problems("deadline_seconds", args.deadline_seconds, spec, args.target)


def exit_code_problems(fatal: tuple[int, ...]) -> Iterator[Problem]:
    """Exit codes that mean success or don't exist."""
    for code in fatal:
        if not 1 <= code <= 255:
            yield Problem("fatal_exit_codes", "the exit code of a failure is from 1 to 255", code, "Remove it.")
