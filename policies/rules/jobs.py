"""Jobs: queues and priorities, deadlines, and checkpoints on Spot."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.pods import Pod, of_pod, pods
from policies.checks.questions import at_most, present
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import JOB, JOBS, MPI_JOB, PYTORCH_JOB, RAY, RAY_JOB
from policies.rule import Check, Context, Levels, ResourceRule, Violation, setting, violation
from spec.jobs import DAY, LONGEST, PRIORITY, QUEUE, SPOT_NOTICE_SECONDS
from spec.pools import keys

_OF_BATCH: Final = (JOB, RAY_JOB)  # kinds with the bounds in their spec


def _gpus(resource: Resource) -> bool:
    """Whether it certainly requests GPUs."""
    found = list(pods(resource))
    limits = (one["resources"]["limits"] for pod in found for one in pod.containers)
    return any(pod.spec["resourceClaims"].items() for pod in found) or any(
        key.startswith(keys.NVIDIA) for limit in limits for key in limit.fields()
    )


def _unqueued(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"][QUEUE]
    if label.missing and _gpus(job):
        yield violation(label)


def _without_priority(job: Resource, _: Context) -> Iterator[Violation]:
    label = job["metadata"]["labels"][PRIORITY]
    classes = [pod.spec["priorityClassName"] for pod in pods(job)]
    if label.missing and _gpus(job) and all(name.missing for name in classes):
        yield violation(label)


QUEUED = ResourceRule(
    name="job-queue-and-priority",
    types=(*JOBS, *RAY),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    checks={
        "queue": Check("must name a LocalQueue", _unqueued),
        "priority": Check("must name a priority", _without_priority),
    },
)


BOUNDED = ResourceRule(
    name="job-bounded",
    types=(JOB, PYTORCH_JOB, MPI_JOB, RAY_JOB),
    severity=Severity.LOW,
    levels=Levels("A/M/M"),
    settings={"maximumSeconds": setting("maximum duration of a job, in seconds", 7 * DAY, 7 * DAY, LONGEST, minimum=1)},
    checks={
        "cleared": Check("must be set", present("spec.ttlSecondsAfterFinished", *_OF_BATCH)),
        "deadline": Check("must be set", present("spec.activeDeadlineSeconds", *_OF_BATCH)),
        "retries": Check("must be set", present("spec.backoffLimit", *_OF_BATCH)),
        "longest": Check(
            "must be at most the environment's maximum",
            at_most("spec.activeDeadlineSeconds", "maximumSeconds", *_OF_BATCH),
        ),
    },
)


def _on_spot(pod: Pod) -> bool:
    return bool(pod.spec["nodeSelector"][keys.CAPACITY_TYPE].raw == "spot")


def _without_claim(pod: Pod) -> Node | None:
    volumes = pod.spec["volumes"]
    claims = [entry["persistentVolumeClaim"] for entry in volumes.items()]
    persistent = volumes.unknown or any(claim.unknown or claim.known for claim in claims)
    return volumes if _on_spot(pod) and not persistent else None


def _slow(pod: Pod) -> Node | None:
    grace = pod.spec["terminationGracePeriodSeconds"]
    seconds = grace.number()
    return grace if _on_spot(pod) and seconds is not None and seconds > SPOT_NOTICE_SECONDS else None


SPOT_CHECKPOINTS = ResourceRule(
    name="spot-job-checkpoints",
    types=JOBS,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    checks={
        "volume": Check("must contain a PersistentVolumeClaim for checkpoints", of_pod(_without_claim)),
        "grace": Check(f"must be at most {SPOT_NOTICE_SECONDS} seconds", of_pod(_slow)),
    },
)

RULES = (QUEUED, BOUNDED, SPOT_CHECKPOINTS)
