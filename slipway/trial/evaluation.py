"""Whether an object does what is expected of it: a pure function of what was read about it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final

from slipway.trial.expectations import Expectation
from slipway.why.answer import Answer, Layer
from slipway.why.bundle import Bundle, is_true
from spec.pools import keys
from spec.quantities import seconds

REFUSES = frozenset({Layer.ADMISSION, Layer.QUOTA})  # layers that refuse an object or its pods


UNDISTURBED: Final = "does not start again"
"""An expectation that holds until it is broken."""


class Status(StrEnum):
    """The result of one expectation."""

    PASSED = "passed"
    WAITS = "waits"  # not yet
    FAILED = "failed"  # it will not happen any more


@dataclass(frozen=True)
class Check:
    """One expectation of one object, and what became of it."""

    subject: str
    expected: str
    status: Status
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What became of an object so far."""

    refusal: str = ""  # the API server's error; empty if it accepted the object
    bundle: Bundle | None = None  # what was read about it; None if it was refused, or is gone
    answer: Answer | None = None  # why it waits, or that it does not; None with the bundle
    elapsed: float = 0.0  # seconds since it was created
    uids: Mapping[str, str] = field(default_factory=dict)  # UID of each object of the trial that exists, by name
    lost: bool = False  # whether pods of it that ran are gone, and as many others run
    disturbed: bool = False  # whether a pod of it that ran was lost
    replaced: bool = False  # whether a node on which it ran first is gone, and it has run on another
    price: Decimal | None = None  # USD that it costs at most; None if it is unknown


def checks(name: str, expectation: Expectation, seen: Seen) -> list[Check]:
    """Every expectation of an object."""
    if expectation.refused_because is not None:
        return [_refused(name, expectation.refused_because, seen)]
    if seen.refusal:
        return [Check(name, _first(expectation), Status.FAILED, seen.refusal)]
    if seen.bundle is None or seen.answer is None:
        return [Check(name, _first(expectation), Status.FAILED, "it is gone")]
    found = list(_of_object(name, expectation, seen.bundle, seen.answer, seen.elapsed))
    found += _over_time(name, expectation, seen.bundle, seen.answer, seen)
    return found or [Check(name, "accepted", Status.PASSED)]


def _first(expectation: Expectation) -> str:
    return ", ".join(_words(expectation)) or "accepted"


def _words(expectation: Expectation) -> Iterator[str]:
    if expectation.admitted:
        yield "admitted"
    if expectation.runs_on:
        yield f"runs on {expectation.runs_on}"
    if expectation.completes_within:
        yield f"completes within {expectation.completes_within}"
    if expectation.held_by or expectation.because:
        yield f"held by {expectation.held_by or 'a layer'}"
    if expectation.starts_within:
        yield f"starts within {expectation.starts_within}"
    if expectation.preempted_by:
        yield f"preempted by {expectation.preempted_by}"


def _refused(name: str, text: str, seen: Seen) -> Check:
    expected = f"refused because {text}"
    if seen.refusal:
        status = Status.PASSED if text in seen.refusal else Status.FAILED
        return Check(name, expected, status, seen.refusal)
    answer = seen.answer
    if answer is not None and answer.part.layer in REFUSES:
        said = _said(answer)
        return Check(name, expected, Status.PASSED if text in said else Status.WAITS, answer.sentence)
    if answer is not None and answer.part.layer in (Layer.RUNS, Layer.FINISHED):
        return Check(name, expected, Status.FAILED, answer.sentence)
    return Check(name, expected, Status.WAITS, answer.sentence if answer else "it is gone")


def _said(answer: Answer) -> str:
    return "\n".join([answer.sentence, *(one.text for one in answer.part.evidence)])


def _of_object(name: str, expectation: Expectation, bundle: Bundle, answer: Answer, elapsed: float) -> Iterator[Check]:
    why = answer.sentence
    if expectation.admitted:
        workloads = bundle.workloads
        passed = any(is_true(one, "Admitted", "Finished") for one in workloads)
        detail = "" if passed else (why if workloads else "Kueue has made no Workload for it")
        yield Check(name, "admitted", Status.PASSED if passed else Status.WAITS, detail)
    if expectation.runs_on:
        yield _placed(name, expectation.runs_on, bundle, why)
    if expectation.completes_within:
        expected = f"completes within {expectation.completes_within}"
        layer = answer.part.layer
        if layer is Layer.FINISHED:
            in_time = elapsed <= seconds(expectation.completes_within)
            yield Check(name, expected, Status.PASSED if in_time else Status.FAILED, f"{elapsed:.0f} s")
        else:
            yield Check(name, expected, Status.FAILED if layer is Layer.FAILED else Status.WAITS, why)
    if expectation.held_by or expectation.because:
        text, layer = expectation.because or "", answer.part.layer
        passed = answer.held and expectation.held_by in (None, str(layer)) and text in _said(answer)
        expected = f"held by {expectation.held_by or 'a layer'}" + (f" because {text}" if text else "")
        ended = layer in (Layer.FINISHED, Layer.FAILED) and not passed
        status = Status.PASSED if passed else Status.FAILED if ended else Status.WAITS
        yield Check(name, expected, status, why)


def _over_time(name: str, expectation: Expectation, bundle: Bundle, answer: Answer, seen: Seen) -> Iterator[Check]:
    """What shows only while things happen, and what is known before."""
    why, layer = answer.sentence, answer.part.layer
    ended = layer in (Layer.FINISHED, Layer.FAILED)
    if expectation.starts_within:
        limit, started = seconds(expectation.starts_within), layer in (Layer.RUNS, Layer.FINISHED)
        status = Status.PASSED if started and seen.elapsed <= limit else Status.FAILED
        status = Status.WAITS if not started and seen.elapsed <= limit else status
        detail = f"{seen.elapsed:.0f} s" if started else why
        yield Check(name, f"starts within {expectation.starts_within}", status, detail)
    if expectation.preempted_by:
        said = [str(event.get("message")) for event in bundle.events_of(*bundle.workloads) if _preempts(event)]
        other = seen.uids.get(expectation.preempted_by, "no such object")
        passed = any(other in one for one in said)
        status = Status.PASSED if passed else Status.FAILED if ended else Status.WAITS
        yield Check(name, f"preempted by {expectation.preempted_by}", status, said[-1] if said else why)
    if expectation.starts_again:
        status = Status.PASSED if seen.lost else Status.FAILED if ended else Status.WAITS
        yield Check(name, "starts again", status, why)
    elif expectation.starts_again is False:
        goes_on = layer in (Layer.RUNS, Layer.FINISHED)
        status = Status.FAILED if seen.disturbed else Status.PASSED if goes_on else Status.WAITS
        yield Check(name, UNDISTURBED, status, "a pod that ran is gone" if seen.disturbed else why)
    if expectation.node_replaced:
        yield Check(name, "node replaced", Status.PASSED if seen.replaced else Status.WAITS, why)
    if expectation.fails:
        status = Status.PASSED if layer is Layer.FAILED else Status.FAILED if ended else Status.WAITS
        yield Check(name, "fails", status, why)
    if (most := expectation.costs_at_most) is not None:
        known = seen.price is not None and seen.price <= most
        detail = "its price is unknown" if seen.price is None else f"{seen.price:.2f} USD"
        yield Check(name, f"costs at most {most} USD", Status.PASSED if known else Status.FAILED, detail)


def _preempts(event: Mapping[str, object]) -> bool:
    """Kueue's event on a Workload that it preempts (kueue v0.19.2, pkg/scheduler/preemption, IssuePreemptions)."""
    return event.get("reason") == "Preempted"


def _placed(name: str, pool: str, bundle: Bundle, why: str) -> Check:
    nodes = {
        str(node["metadata"]["name"]): str((node["metadata"].get("labels") or {}).get(keys.POOL))
        for node in bundle.of_kind("Node")
    }
    placed = [str(pod["spec"]["nodeName"]) for pod in bundle.pods if pod["spec"].get("nodeName")]
    pools = {nodes.get(node, "a node that is gone") for node in placed}
    expected = f"runs on {pool}"
    if wrong := sorted(pools - {pool}):
        return Check(name, expected, Status.FAILED, f"a pod is on {', '.join(wrong)}")
    if placed and len(placed) == len(bundle.pods):
        return Check(name, expected, Status.PASSED, ", ".join(sorted(set(placed))))
    return Check(name, expected, Status.WAITS, why)
