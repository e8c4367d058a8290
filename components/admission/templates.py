"""Where each kind has its pods, labels and bounds, in CEL."""

from __future__ import annotations

from typing import Final

from components.admission.kinds import REPLICATED

O: Final = "dyn(object)"  # noqa: E741 - short, because every expression uses it
"""The object. `dyn`, because CEL's type checker would look for the fields of a Job in a Pod."""
KIND: Final = "request.kind.kind"
USER: Final = "request.userInfo.username"
CHANGED: Final = "request.operation == 'CREATE' || object.spec != oldObject.spec"
"""Whether the spec is new: finalizers of objects older than a rule must still be removable."""


def changed(*metadata: str) -> str:
    """Whether the spec is new, or one of these fields of the metadata."""
    parts = [CHANGED]
    for field in metadata:
        new, old = (
            f"(has({each}.metadata.{field}) ? dyn({each}.metadata.{field}) : dyn(null))"
            for each in ("object", "oldObject")
        )
        parts.append(f"{new} != {old}")
    return " || ".join(parts)


def groups(each: str) -> str:
    """An expression over every replica group `g` of a job with groups, as a list."""
    return " : ".join(
        f"{KIND} == '{kind}' ? {O}.spec.{field}.map(r, {O}.spec.{field}[r]).map(g, {each})"
        for kind, field in REPLICATED.items()
    )


_LEADER: Final = f"{O}.spec.leaderWorkerTemplate"
SPECS: Final = (
    f"{KIND} == 'Pod' ? [{O}.spec] : "
    f"{KIND} == 'CronJob' ? [{O}.spec.jobTemplate.spec.template.spec] : "
    f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(j, j.template.spec.template.spec) : "
    f"{KIND} == 'ScaledJob' ? [{O}.spec.jobTargetRef.template.spec] : "
    f"{KIND} == 'LeaderWorkerSet' ? [{_LEADER}.workerTemplate.spec] + "
    f"(has({_LEADER}.leaderTemplate) ? [{_LEADER}.leaderTemplate.spec] : []) : "
    f"{groups('g.template.spec')} : "
    f"[{O}.spec.template.spec]"
)
"""Pod specs of an object."""
CONTAINERS: Final = (
    "variables.specs.map(s, s.containers + (has(s.initContainers) ? s.initContainers : []) + "
    "(has(s.ephemeralContainers) ? s.ephemeralContainers : []))"
)
"""Containers of each of the `specs`."""


def _labels(metadata: str) -> str:
    return f"(has({metadata}.labels) ? {metadata}.labels : {{}})"


_CRON: Final = f"{O}.spec.jobTemplate.metadata"
_REPLICA: Final = f"{O}.spec.template.metadata"
LABELS: Final = (
    f"{KIND} == 'CronJob' ? (has({_CRON}) ? {_labels(_CRON)} : {{}}) : "
    # Kueue has no integration for ReplicaSets; it queues each of their pods.
    f"{KIND} == 'ReplicaSet' ? (has({_REPLICA}) ? {_labels(_REPLICA)} : {{}}) : "
    f"{_labels(f'{O}.metadata')}"
)
"""Labels in which Kueue looks for the queue: those of the object, of the Jobs of a CronJob, of a ReplicaSet's pods."""
JOINED: Final = ".filter(t, t != '').join(', ')"
"""Suffix for a list of strings: joins those that aren't empty."""
