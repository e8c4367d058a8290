"""What would hold the objects of a file: the API server's answer first, then the settings of the stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from components.workloads.metadata import QUEUE
from components.workloads.target import Target
from slipway.why import file
from slipway.why.answer import Answer, Evidence, Layer, Part
from slipway.why.claims import claims_of
from slipway.why.dryrun import DryRun, Outcome
from slipway.why.file import Finding
from slipway.why.podsets import podsets
from slipway.why.refusals import refusal
from spec.settings.admission import Admission

Object = Mapping[str, Any]
_ORDER: Final = {layer: number for number, layer in enumerate(Layer)}


def flat(documents: Sequence[Any]) -> list[Object]:
    """The objects of a file; a List becomes its items."""
    found: list[Object] = []
    for one in documents:
        if isinstance(one, Mapping) and str(one.get("kind", "")).endswith("List") and "items" in one:
            found += flat(one["items"] or ())
        elif isinstance(one, Mapping):
            found.append(one)
    return found


def answer(
    manifest: Object,
    *,
    target: Target | None,
    rules: Admission,
    dry_run: DryRun | None,
    others: Sequence[Object] = (),
    unread: Sequence[str] = (),
) -> Answer:
    """What would hold one object before it exists.

    Args:
        manifest: The object.
        target: What the stack offers in its namespace; None if the stack is unknown.
        rules: Which admission rules are on.
        dry_run: The API server; None if there is none.
        others: The other objects of the file.
        unread: What could not be asked.
    """
    metadata = manifest.get("metadata") or {}
    subject = f"{str(manifest.get('kind')).lower()}/{metadata.get('name') or metadata.get('generateName') or ''}"
    parts: list[Part] = []
    seen: list[Evidence] = []
    if dry_run is not None:
        outcome = dry_run.of(manifest)
        who = f"as {dry_run.member}" if dry_run.member else "with your permissions"
        if outcome.message:
            parts.append(_refused(outcome, who))
        else:
            seen.append(Evidence("dry run", f"the API server accepts it {who}"))
        if outcome.exists:
            seen.append(Evidence("dry run", f"it exists already: `slipway why {subject}` answers for that"))
        parts += _absent(manifest, dry_run, others)
    found = file.findings(manifest, target, rules, others) if target else []
    if dry_run is not None:
        # The API server has answered for admission, and knows the claims and queues that exist.
        found = [one for one in found if one.layer not in (Layer.ADMISSION, Layer.VOLUME)]
    parts += [_part(one) for one in found]
    parts.sort(key=lambda one: _ORDER[one.layer])
    seen += [Evidence("note", str(one)) for one in (file.notes(manifest, target) if target else ())]
    if not parts:
        cause, numbers = _room(manifest, target)
        part = Part(layer=Layer.ACCEPTED, cause=cause, numbers=numbers)
        return Answer(subject=subject, part=part.seen(*seen), unread=tuple(unread), planned=True)
    first, *rest = parts
    more = [Evidence(f"also {one.layer}", f"{one.cause}; next: {one.fix}") for one in rest]
    return Answer(subject=subject, part=first.seen(*seen, *more), unread=tuple(unread), planned=True)


def _refused(outcome: Outcome, who: str) -> Part:
    found = refusal(outcome.message)
    if found is None:
        found = Part(layer=Layer.ADMISSION, cause=outcome.message, fix="correct it, and try again")
    about = f"{outcome.about}: " if outcome.about.startswith("a pod") else ""
    seen = Evidence(f"dry run of {outcome.about} {who}", outcome.message)
    return replace(found, cause=about + found.cause).seen(seen)


def _absent(manifest: Object, dry_run: DryRun, others: Sequence[Object]) -> Iterator[Part]:
    """Claims and queues that neither the namespace nor the file has."""
    made = {(one.get("kind"), (one.get("metadata") or {}).get("name")) for one in others}
    claims = [name for one in podsets(manifest) for name in claims_of(one.spec)]
    wanted = [name for name in dict.fromkeys(claims) if ("PersistentVolumeClaim", name) not in made]
    for name in dry_run.missing("v1", "PersistentVolumeClaim", wanted):
        known = ", ".join(dry_run.names("v1", "PersistentVolumeClaim"))
        fix = f"correct the name ({f'there are {known}' if known else 'the namespace has none'}), or create the claim"
        yield Part(layer=Layer.VOLUME, cause=f"claim {name} does not exist", fix=fix, numbers={"claim": name})
    queue = str(((manifest.get("metadata") or {}).get("labels") or {}).get(QUEUE) or "")
    known_queues = dry_run.names("kueue.x-k8s.io/v1beta2", "LocalQueue") if queue else []
    if known_queues and queue not in known_queues:
        fix = f"set its label {QUEUE} to a queue of the namespace: {', '.join(known_queues)}"
        cause = f"LocalQueue {queue} does not exist"
        yield Part(layer=Layer.QUEUE, cause=cause, fix=fix, numbers={"queue": queue})


def _part(found: Finding) -> Part:
    one = found.problem
    # The tolerations that Kueue adds are among those of the problem.
    given = "" if one.value is None or one.path.endswith(".tolerations") else f" (given: {one.value})"
    return Part(
        layer=found.layer,
        cause=f"{one.path}: {one.rule}{given}",
        fix=one.fix[:1].lower() + one.fix[1:].rstrip("."),
        numbers={} if one.value is None else {"given": str(one.value)},
    )


def _room(manifest: Object, target: Target | None) -> tuple[str, dict[str, str]]:
    """Where its pods would run."""
    groups = [one for one in podsets(manifest) if one.count]
    if target is None or not groups:
        return "", {}
    parts = []
    for one in groups:
        pools = file.usable(str(manifest.get("kind")), manifest, one, target)
        names = ", ".join(name for name, problems in pools.items() if not problems and name in (target.shares or pools))
        parts.append(f"{one.count} {'pod' if one.count == 1 else 'pods'} on {names}")
    return ", ".join(parts), {"pods": str(sum(one.count for one in groups))}
