"""What a Job and its pod prove about their pool and their team."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from slipway.verify.probes import WRITTEN, Probe
from spec.pools.keys import POOL

Object = Mapping[str, Any]
NO_KUEUE: Final = "Kueue does not run in this sandbox"
_DEVICE: Final = re.compile(r"^\s*(GPU|MIG) ", re.MULTILINE)


class CheckStatus(StrEnum):
    """The result of one check."""

    PASSED = "passed"
    FAILED = "failed"
    NEEDS_AWS = "needs AWS"
    MEASURED = "measured"  # a number that nothing published can be compared with


@dataclass(frozen=True)
class ClusterCheck:
    """One line of the report."""

    subject: str
    what: str
    status: CheckStatus
    detail: str = ""


@dataclass(frozen=True)
class Observed:
    """What became of a Job."""

    refused: str = ""  # why the API server refused it; empty if it did not
    job: Object | None = None  # the Job, as last read
    pod: Object | None = None  # its pod, as last read; None if there was none
    node: Object | None = None  # the pod's node, as last read; None if it had none
    why: str = ""  # why the pod waits, if it does
    pods: tuple[tuple[Object, Object | None], ...] = ()  # every pod of the Job with its node, the first one first
    missing: str = ""  # the kind that the API server does not serve, if it is needed
    queues: bool = True  # whether something admits what is queued: Kueue, on AWS or in the sandbox


def of_probe(probe: Probe, seen: Observed, *, simulated: bool) -> Iterator[ClusterCheck]:
    """The checks of one Job; in the sandbox no container runs."""
    subject = probe.subject
    if seen.refused:
        yield ClusterCheck(subject, "the API server admits a Job", CheckStatus.FAILED, seen.refused)
        return
    yield ClusterCheck(subject, "the API server admits a Job", CheckStatus.PASSED)
    queue = admitted(probe, seen)
    if queue is not None:
        yield queue
        if queue.status is not CheckStatus.PASSED:
            return
    if seen.node is None or not placed(seen.node, probe):
        yield ClusterCheck(
            subject, f"its pod is placed on pool {probe.pool.name}", CheckStatus.FAILED, seen.why or "no node"
        )
        return
    yield ClusterCheck(subject, f"its pod is placed on pool {probe.pool.name}", CheckStatus.PASSED, _name(seen.node))
    if probe.disk:
        yield _disk(subject, seen, simulated=simulated)
    yield from _devices(probe, seen, simulated=simulated)
    if probe.claims:
        yield _ran(subject, f"its pod mounts {', '.join(probe.claims)}", seen, simulated=simulated)
        if probe.written:
            yield _ran(subject, f"its pod writes to {', '.join(probe.written)}", seen, simulated=simulated)
    elif not probe.devices and not probe.disk:
        yield _ran(subject, "its container runs", seen, simulated=simulated)


def admitted(probe: Probe, seen: Observed) -> ClusterCheck | None:
    """Whether the queue admits the Job; None if it has no queue."""
    if not probe.queued:
        return None
    what = "its queue admits the Job"
    if not seen.queues:
        return ClusterCheck(probe.subject, what, CheckStatus.NEEDS_AWS, NO_KUEUE)
    if seen.job is None or seen.job["spec"].get("suspend"):
        return ClusterCheck(probe.subject, what, CheckStatus.FAILED, seen.why or "the Job is still suspended")
    return ClusterCheck(probe.subject, what, CheckStatus.PASSED)


def placed(node: Object, probe: Probe) -> bool:
    """Whether a node is one of the pool."""
    return bool((node["metadata"].get("labels") or {}).get(POOL) == probe.pool.name)


def of_claims(subject: str, claims: Sequence[Object]) -> ClusterCheck:
    """Every claim of a namespace has its volume; one without a named volume may wait for its first pod."""
    pending = [one for one in claims if (one.get("status") or {}).get("phase") != "Bound"]
    broken = [_name(one) for one in pending if one["spec"].get("volumeName")]
    status = CheckStatus.FAILED if broken else CheckStatus.PASSED
    waiting = [_name(one) for one in pending if not one["spec"].get("volumeName")]
    parts = [(broken, "not bound"), (waiting, "waits for its first pod")]
    return ClusterCheck(
        subject, "its claims are bound", status, "; ".join(f"{text}: {', '.join(each)}" for each, text in parts if each)
    )


def _devices(probe: Probe, seen: Observed, *, simulated: bool) -> Iterator[ClusterCheck]:
    offered = (seen.node or {}).get("status", {}).get("allocatable") or {}
    if probe.pool.dra and probe.devices:
        # Only with the feature DRAExtendedResource, which EKS is assumed to leave on.
        given = ((seen.pod or {}).get("status") or {}).get("extendedResourceClaimStatus") or {}
        status = CheckStatus.PASSED if given else CheckStatus.FAILED
        what = "its request gets a device of the DeviceClass"
        yield ClusterCheck(probe.subject, what, status, str(given.get("resourceClaimName") or "none"))
    for resource, count in probe.devices.items() if not probe.pool.dra else ():
        has = int(offered.get(resource, 0))
        status = CheckStatus.PASSED if has >= count else CheckStatus.FAILED
        yield ClusterCheck(probe.subject, f"its node advertises {resource}", status, str(has))
    if probe.devices and not probe.claims and not probe.queued:
        ran = _ran(probe.subject, "nvidia-smi lists its GPUs", seen, simulated=simulated)
        if ran.status is CheckStatus.PASSED and not _DEVICE.search(message(seen)):
            ran = ClusterCheck(ran.subject, ran.what, CheckStatus.FAILED, message(seen) or "it listed none")
        yield ran


def _disk(subject: str, seen: Observed, *, simulated: bool) -> ClusterCheck:
    """The volume is written before anything else, so what fails later says nothing about it."""
    ran = _ran(subject, "its pod writes to a new volume of class gp3", seen, simulated=simulated)
    if not simulated and WRITTEN in message(seen):
        return ClusterCheck(subject, ran.what, CheckStatus.PASSED)
    return ran


def _ran(subject: str, what: str, seen: Observed, *, simulated: bool) -> ClusterCheck:
    if simulated:
        return ClusterCheck(subject, what, CheckStatus.NEEDS_AWS, "no container runs in the sandbox")
    phase = ((seen.pod or {}).get("status") or {}).get("phase")
    if phase == "Succeeded":
        return ClusterCheck(subject, what, CheckStatus.PASSED)
    return ClusterCheck(subject, what, CheckStatus.FAILED, message(seen) or seen.why or f"the pod is {phase}")


def message(seen: Observed) -> str:
    """What the container wrote as its last message, or why it ended."""
    for one in ((seen.pod or {}).get("status") or {}).get("containerStatuses") or ():
        for state in (one.get("state") or {}).values():
            if state.get("message") or state.get("reason") not in (None, "Completed"):
                return str(state.get("message") or state.get("reason"))
    return ""


def _name(one: Object) -> str:
    return str(one["metadata"]["name"])
