"""Jobs: queued, bounded, and able to lose a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import Levels
from policies.pods import Pod, of_pod, pods
from policies.pools import CAPACITY
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, violation
from policies.tokens import JOB, JOBS, MPI_JOB, PYTORCH_JOB

_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_OF_BATCH: Final = (JOB,)
_LONGEST_GRACE: Final = 120
"""Seconds between AWS's notice and the end of a Spot machine (EC2 User Guide, "Spot Instance interruption notices")."""


def _gpus(resource: Resource) -> bool:
    """Whether it certainly asks for GPUs."""
    limits = (one["resources"]["limits"] for pod in pods(resource) for one in pod.containers)
    return any(key.startswith("nvidia.com/") for limit in limits for key in limit.fields())


def _unqueued(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"][_QUEUE]
    if label.missing and _gpus(job):
        yield violation(label)


def _unranked(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    ranks = [pod.spec["priorityClassName"] for pod in pods(job)]
    if label.missing and _gpus(job) and all(rank.missing for rank in ranks):
        yield violation(label)


QUEUED = ResourceRule(
    name="job-queue-and-priority",
    title="A job that wants GPUs stands in a queue, with a priority",
    types=JOBS,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A job outside the queue takes GPUs that were promised to others, and nothing can stop it for a better one.",
    fix="Label it kueue.x-k8s.io/queue-name and kueue.x-k8s.io/priority-class.",
    checks={
        "queue": Check(
            asks="must name a LocalQueue",
            find=_unqueued,
        ),
        "priority": Check(
            asks="must name a priority",
            find=_unranked,
        ),
    },
)


def _endless(key: str) -> Any:
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
    title="A job ends, gives up, and is cleared away",
    types=(JOB, PYTORCH_JOB, MPI_JOB),
    severity=Severity.LOW,
    levels=Levels("A/M/M"),
    why="A job that hangs holds its GPUs over the weekend (EKS Best Practices, AI/ML compute).",
    fix="Set ttlSecondsAfterFinished, activeDeadlineSeconds and backoffLimit.",
    settings={
        "maximumSeconds": Setting(
            asks="seconds that a job may run",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 604800, "staging": 604800, "prod": 2592000},
        )
    },
    checks={
        "cleared": Check(
            asks="must be set",
            find=_endless("ttlSecondsAfterFinished"),
        ),
        "deadline": Check(
            asks="must be set",
            find=_endless("activeDeadlineSeconds"),
        ),
        "retries": Check(
            asks="must be set",
            find=_endless("backoffLimit"),
        ),
        "longest": Check(
            asks="must be within the environment's bound",
            find=_long,
        ),
    },
)


def _on_spot(pod: Pod) -> bool:
    return bool(pod.spec["nodeSelector"][CAPACITY].raw == "spot")


def _keeps_nothing(pod: Pod) -> Node | None:
    volumes = pod.spec["volumes"]
    claims = [entry["persistentVolumeClaim"] for entry in volumes.items()]
    kept = volumes.unknown or any(claim.unknown or claim.known for claim in claims)
    return volumes if _on_spot(pod) and not kept else None


def _slow(pod: Pod) -> Node | None:
    grace = pod.spec["terminationGracePeriodSeconds"]
    seconds = grace.number()
    return grace if _on_spot(pod) and seconds is not None and seconds > _LONGEST_GRACE else None


SPOT_CHECKPOINTS = ResourceRule(
    name="spot-job-checkpoints",
    title="A job on Spot machines keeps its progress where a machine's end does not reach",
    types=JOBS,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Two minutes after the notice everything on the machine is gone.",
    fix="Mount a claim for checkpoints, and leave terminationGracePeriodSeconds at 120 or less.",
    checks={
        "volume": Check(
            asks="must have a claim for checkpoints",
            find=of_pod(_keeps_nothing),
        ),
        "grace": Check(
            asks="must be 120 seconds at the most",
            find=of_pod(_slow),
        ),
    },
)

RULES = (QUEUED, BOUNDED, SPOT_CHECKPOINTS)
