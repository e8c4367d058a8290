"""All that waits or is held in a namespace: what holds each, since when, its position in its queue, the next step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.workloads.target import Target
from slipway.why.answer import Answer
from slipway.why.bundle import Bundle, Object, is_true
from slipway.why.collect import Survey
from slipway.why.explain import explain
from slipway.why.served import CLAIM

_PARTS: Final = ("Workload", "LocalQueue", CLAIM, "Service", "Configuration", "Revision", "ReplicaSet")
"""Kinds that are no workload of a user: an answer on one names them if they matter."""
HEAD: Final = ("NAMESPACE", "NAME", "HELD BY", "SINCE", "QUEUE", "NEXT")


@dataclass(frozen=True, kw_only=True)
class Held:
    """One workload that waits or is held."""

    namespace: str
    answer: Answer  # what holds it
    since: str  # when it was created
    queue: str  # its LocalQueue, with its position there and their number: `default 2/5`; empty if it is in none

    def document(self) -> dict[str, Any]:
        """The row as plain values."""
        return {**self.answer.document(), "namespace": self.namespace, "since": self.since, "queue": self.queue}

    def row(self) -> Sequence[str]:
        """The row of the table."""
        part = self.answer.part
        return (self.namespace, self.answer.subject, part.layer, self.since, self.queue, part.fix or part.cause)


def held(survey: Survey, target: Target | None) -> Iterator[Held]:
    """Workloads that something holds, the oldest first; what a controller made for another is part of its answer."""
    tops = (one for one in survey.objects if one["metadata"].get("namespace") and one["kind"] not in _PARTS)
    for one in sorted(tops, key=_created):
        own = survey.of(one, target)
        if any(own.owners(one)):
            continue
        answer = explain(own)
        if answer.held:
            namespace = str(one["metadata"]["namespace"])
            yield Held(namespace=namespace, answer=answer, since=_created(one), queue=_position(own))


def _created(one: Object) -> str:
    return str(one["metadata"].get("creationTimestamp") or "")


def _position(bundle: Bundle) -> str:
    """Where its Workload stands: Kueue tries those of a queue by priority, then by their creation (kueue v0.19.2,
    pkg/cache/queue/cluster_queue.go, queueOrderingFunc; 2026-11-29). Evictions and fair sharing change it."""
    waiting = [one for one in bundle.workloads if not is_true(one, "QuotaReserved", "Finished")]
    if not waiting:
        return ""
    name = str(waiting[0]["spec"].get("queueName", ""))
    beside = [one for one in bundle.of_kind("Workload") if one["spec"].get("queueName") == name]
    order = [one for one in beside if not is_true(one, "QuotaReserved", "Finished") and one["spec"].get("active", True)]
    order.sort(key=lambda one: (-int(one["spec"].get("priority") or 0), _created(one)))
    named = [one["metadata"]["name"] for one in order]
    place = waiting[0]["metadata"]["name"]
    return f"{name} {named.index(place) + 1}/{len(named)}" if place in named else name
