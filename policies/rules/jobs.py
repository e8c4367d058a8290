"""Jobs: queues and priorities, deadlines, and checkpoints on Spot."""

from collections.abc import Iterator
from typing import Final

from policies.checks.pods import Pod, of_pod, pods
from policies.checks.questions import at_most, present
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import JOB, JOBS, MPI_JOB, PYTORCH_JOB, RAY, RAY_JOB
from policies.rule import Context, ResourceRule, Violation, setting, violation
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
    finds={
        "queue": _unqueued,
        "priority": _without_priority,
    },
)


BOUNDED = ResourceRule(
    name="job-bounded",
    types=(JOB, PYTORCH_JOB, MPI_JOB, RAY_JOB),
    settings={"maximumSeconds": setting("maximum duration of a job, in seconds", 7 * DAY, 7 * DAY, LONGEST, minimum=1)},
    finds={
        "cleared": present("spec.ttlSecondsAfterFinished", *_OF_BATCH),
        "deadline": present("spec.activeDeadlineSeconds", *_OF_BATCH),
        "retries": present("spec.backoffLimit", *_OF_BATCH),
        "longest": at_most("spec.activeDeadlineSeconds", "maximumSeconds", *_OF_BATCH),
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
    finds={
        "volume": of_pod(_without_claim),
        "grace": of_pod(_slow),
    },
    shown={"seconds": SPOT_NOTICE_SECONDS},
)
