"""Two renderings of a stack compared: what of the one would become the other, resource by resource, by URN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from slipway.report.plan.changes import Plan, PropertyChange, ResourceChange, Verb, ordered
from slipway.report.plan.forcing import forces_new, verdict, with_losses
from slipway.report.plan.text import at, shown
from slipway.sandbox.rpc import diff, paths

Data = Mapping[str, Any]
"""A resource as `resources.json` of a rendering has it (`slipway.render.layout.as_data`)."""

_OPTIONS: Final = ("protect", "retainOnDelete")
"""Options that decide what may happen later; others (waits, timeouts, providers) change no resource."""
_NOTE: Final = (
    "Compared are two versions of the program and its settings, not what stands: what was changed by hand shows in "
    "slipway preview, which asks AWS."
)


def compare(
    before: Iterable[Data], after: Iterable[Data], needs: Mapping[str, Mapping[str, Sequence[str]]], *, against: str
) -> Plan:
    """What changes from one rendering to the other.

    Args:
        before: Resources of what it is compared with.
        after: Resources as they shall be.
        needs: Of each resource that shall be, the URNs that its properties come from, by property.
        against: Name of what it is compared with.
    """
    old = {one["urn"]: one for one in before if _counts(one)}
    new = {one["urn"]: one for one in after if _counts(one)}
    changes = {urn: _changed(old[urn], new[urn]) for urn in sorted(old.keys() & new.keys())}
    found = {urn: change for urn, change in changes.items() if change is not None}
    _follow(found, new, needs)
    found |= {urn: _gone(old[urn]) for urn in old.keys() - new.keys()}
    found |= {urn: ResourceChange(urn=urn, type=new[urn]["type"], verb=Verb.CREATE) for urn in new.keys() - old.keys()}
    return Plan(
        against=against,
        changes=ordered(list(found.values())),
        unchanged=len(new.keys() - found.keys()),
        notes=(_NOTE,),
    )


def _counts(one: Data) -> bool:
    """Whether it is a resource that a cloud would know: components only group others."""
    return not str(one["type"]).startswith(("slipway:", "pulumi:pulumi:"))


def _gone(one: Data) -> ResourceChange:
    change = ResourceChange(urn=one["urn"], type=one["type"], verb=Verb.DELETE)
    return with_losses(change, one["inputs"], retained=bool(one["options"].get("retainOnDelete")))


def _changed(old: Data, new: Data) -> ResourceChange | None:
    before, after = old["inputs"], new["inputs"]
    ignored = new["options"].get("ignoreChanges") or ()
    properties = [
        PropertyChange(
            path=paths.write(one.path),
            before=shown(at(before, one.path)),
            after=shown(at(after, one.path)),
            forces=forces_new(new["type"], one.path, before, after),
        )
        for one in diff.compare(before, after)
        if not paths.ignored(one.path, ignored)
    ]
    verb = verdict([one.forces for one in properties])
    for option in _OPTIONS:
        was, is_ = bool(old["options"].get(option)), bool(new["options"].get(option))
        if was != is_:
            properties.append(PropertyChange(path=f"option {option}", before=shown(was), after=shown(is_)))
    if not properties:
        return None
    return with_losses(
        ResourceChange(urn=new["urn"], type=new["type"], verb=verb, properties=tuple(properties)), before
    )


def _follow(
    found: dict[str, ResourceChange], new: Mapping[str, Data], needs: Mapping[str, Mapping[str, Sequence[str]]]
) -> None:
    """Add what may be replaced because something that it names is: a mount target goes with its file system.

    A replaced resource has another id. Whether what a property takes of it changes (its id does, its name may not) is
    not known before, so nothing more than "update or replace" is said.
    """
    waiting = [urn for urn, change in found.items() if change.verb is Verb.REPLACE]
    while waiting:
        moved = waiting.pop()
        for urn, sources in needs.items():
            known = found.get(urn)
            if urn not in new or (known and known.verb is not Verb.UPDATE):
                continue
            one = new[urn]
            hit = [key for key, urns in sorted(sources.items()) if moved in urns]
            forced = [key for key in hit if forces_new(one["type"], (key,), one["inputs"], one["inputs"])]
            if forced:
                found[urn] = _followed(one, forced, moved, known.properties if known else ())
                waiting.append(urn)


def _followed(one: Data, keys: Sequence[str], moved: str, own: tuple[PropertyChange, ...]) -> ResourceChange:
    name = moved.rpartition("::")[2]
    brought = tuple(
        PropertyChange(path=key, before=f"of {name}", after=f"of the new {name}", forces=None) for key in keys
    )
    change = ResourceChange(
        urn=one["urn"], type=one["type"], verb=Verb.MAYBE, properties=(*own, *brought), because=name
    )
    return with_losses(change, one["inputs"])
