"""Jobs: queues and priorities, deadlines, and checkpoints on Spot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.pods import Pod, of_pod, pods
from policies.checks.pools import CAPACITY
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import JOB, JOBS, MPI_JOB, PYTORCH_JOB, RAY, RAY_JOB
from policies.rule import Check, Context, ResourceRule, Setting, Violation, violation

_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_OF_BATCH: Final = (JOB, RAY_JOB)
"""Kinds with the bounds in their spec."""
_LONGEST_GRACE: Final = 120
"""Seconds between notice and end of a Spot instance (EC2 User Guide, "Spot Instance interruption notices")."""


def _gpus(resource: Resource) -> bool:
    """Whether it certainly requests GPUs."""
    limits = (one["resources"]["limits"] for pod in pods(resource) for one in pod.containers)
    return any(key.startswith("nvidia.com/") for limit in limits for key in limit.fields())


def _unqueued(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"][_QUEUE]
    if label.missing and _gpus(job):
        yield violation(label)


def _without_priority(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    classes = [pod.spec["priorityClassName"] for pod in pods(job)]
    if label.missing and _gpus(job) and all(name.missing for name in classes):
        yield violation(label)


QUEUED = ResourceRule(
    name="job-queue-and-priority",
    title="Jobs that request GPUs name a Kueue queue and a priority",
    types=(*JOBS, *RAY),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A job outside Kueue takes GPUs that are guaranteed to others, and can't be preempted by a job of higher "
    "priority.",
    fix="Set the labels kueue.x-k8s.io/queue-name and kueue.x-k8s.io/priority-class.",
    checks={
        "queue": Check(
            asks="must name a LocalQueue",
            find=_unqueued,
        ),
        "priority": Check(
            asks="must name a priority",
            find=_without_priority,
        ),
    },
)


def _unset(key: str) -> Any:
    def find(job: Resource, _: Context) -> Iterator[Violation]:
        if job.type in _OF_BATCH and job["spec"][key].missing:
            yield violation(job["spec"][key])

    return find


def _long(job: Resource, context: Context) -> Iterator[Violation]:
    deadline = job["spec"]["activeDeadlineSeconds"]
    seconds = deadline.number() if job.type in _OF_BATCH else None
    if seconds is not None and seconds > context.settings["maximumSeconds"]:
        yield violation(deadline)


BOUNDED = ResourceRule(
    name="job-bounded",
    title="Jobs have a deadline, a retry limit and a TTL",
    types=(JOB, PYTORCH_JOB, MPI_JOB, RAY_JOB),
    severity=Severity.LOW,
    levels=Levels("A/M/M"),
    why="A job that hangs holds its GPUs over the weekend (EKS Best Practices, AI/ML compute).",
    fix="Set ttlSecondsAfterFinished, activeDeadlineSeconds and backoffLimit.",
    settings={
        "maximumSeconds": Setting(
            asks="maximum duration of a job, in seconds",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 604800, "staging": 604800, "prod": 2592000},
        )
    },
    checks={
        "cleared": Check(
            asks="must be set",
            find=_unset("ttlSecondsAfterFinished"),
        ),
        "deadline": Check(
            asks="must be set",
            find=_unset("activeDeadlineSeconds"),
        ),
        "retries": Check(
            asks="must be set",
            find=_unset("backoffLimit"),
        ),
        "longest": Check(
            asks="must be at most the environment's maximum",
            find=_long,
        ),
    },
)


def _on_spot(pod: Pod) -> bool:
    return bool(pod.spec["nodeSelector"][CAPACITY].raw == "spot")


def _without_claim(pod: Pod) -> Node | None:
    volumes = pod.spec["volumes"]
    claims = [entry["persistentVolumeClaim"] for entry in volumes.items()]
    persistent = volumes.unknown or any(claim.unknown or claim.known for claim in claims)
    return volumes if _on_spot(pod) and not persistent else None


def _slow(pod: Pod) -> Node | None:
    grace = pod.spec["terminationGracePeriodSeconds"]
    seconds = grace.number()
    return grace if _on_spot(pod) and seconds is not None and seconds > _LONGEST_GRACE else None


SPOT_CHECKPOINTS = ResourceRule(
    name="spot-job-checkpoints",
    title="Jobs on Spot write checkpoints to persistent volumes",
    types=JOBS,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Two minutes after the interruption notice, the instance and its local data are gone.",
    fix="Mount a PersistentVolumeClaim for checkpoints, and keep terminationGracePeriodSeconds at 120 or less.",
    checks={
        "volume": Check(
            asks="must contain a PersistentVolumeClaim for checkpoints",
            find=of_pod(_without_claim),
        ),
        "grace": Check(
            asks="must be at most 120 seconds",
            find=of_pod(_slow),
        ),
    },
)

RULES = (QUEUED, BOUNDED, SPOT_CHECKPOINTS)
