"""Compares two recordings: the resources that a change of settings or code affects."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.render.layout import as_data
from slipway.render.recording import Recording


@dataclass(frozen=True)
class Changes:
    """Sorted URNs by kind of change."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def urns(self) -> tuple[str, ...]:
        """All changed URNs, sorted."""
        return tuple(sorted((*self.added, *self.removed, *self.changed)))


def changes(before: Recording, after: Recording) -> Changes:
    """Compare inputs and options of every resource, as `resources.json` has them.

    A resource whose URN changed counts as removed and added, even if an alias connects the two, because a reviewer must
    check it.
    """
    old = {resource.urn: as_data(resource) for resource in before}
    new = {resource.urn: as_data(resource) for resource in after}
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(urn for urn in old.keys() & new.keys() if old[urn] != new[urn])),
    )
