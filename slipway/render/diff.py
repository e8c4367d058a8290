"""What differs between two recordings: which resources a change of settings or code would touch."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.render.layout import as_data
from slipway.render.recording import Recording


@dataclass(frozen=True)
class Changes:
    """URNs by what happened to them, each sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def urns(self) -> tuple[str, ...]:
        """All of them, sorted."""
        return tuple(sorted((*self.added, *self.removed, *self.changed)))


def changes(before: Recording, after: Recording) -> Changes:
    """Compare inputs and options of every resource, as `resources.json` has them.

    A resource under another URN counts as removed and added, even where an alias joins the two: that is what a reader
    has to look at.
    """
    old = {resource.urn: as_data(resource) for resource in before}
    new = {resource.urn: as_data(resource) for resource in after}
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(urn for urn in old.keys() & new.keys() if old[urn] != new[urn])),
    )
