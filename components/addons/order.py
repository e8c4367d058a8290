"""The installation order of add-ons: what an add-on requires or follows comes before it."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from spec.settings.addons import AddonSettings

Kinds = Mapping[str, type[AddonSettings]]


def before(kinds: Kinds) -> dict[str, tuple[str, ...]]:
    """For each enabled add-on, those that come directly before it, sorted.

    Args:
        kinds: Settings classes of the enabled add-ons, by name.

    Raises:
        ValueError: If one requires an add-on that isn't enabled, or two exclude each other; the message names both.
    """
    names = {kind: name for name, kind in kinds.items()}
    for name, kind in sorted(kinds.items()):
        for other in kind.requires:
            if other not in names:
                msg = f"{name} requires {other.__name__}, which is not enabled"
                raise ValueError(msg)
        for other in kind.excludes:
            if other in names:
                msg = f"{name} and {names[other]} exclude each other"
                raise ValueError(msg)
    return {
        name: tuple(sorted(names[other] for other in (*kind.requires, *kind.follows) if other in names))
        for name, kind in kinds.items()
    }


def sequence(kinds: Kinds) -> tuple[str, ...]:
    """Names in an order that satisfies `before`; deterministic for the same set.

    Raises:
        ValueError: As `before`, and for a cycle, with its path.
    """
    graph = before(kinds)
    try:
        return tuple(TopologicalSorter({name: graph[name] for name in sorted(graph)}).static_order())
    except CycleError as error:
        msg = f"add-ons depend on each other in a cycle: {' -> '.join(error.args[1])}"
        raise ValueError(msg) from None
