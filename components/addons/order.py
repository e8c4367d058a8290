"""The order of add-ons: what each requires or follows comes before it."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from spec.settings.addons import AddonSettings

Kinds = Mapping[str, type[AddonSettings]]


def before(kinds: Kinds) -> dict[str, tuple[str, ...]]:
    """For each add-on that is on, those that come directly before it, sorted.

    Args:
        kinds: Settings classes of the add-ons that are on, by name.

    Raises:
        ValueError: Where one requires what is not on, or two exclude each other; both are named.
    """
    names = {kind: name for name, kind in kinds.items()}
    for name, kind in sorted(kinds.items()):
        for other in kind.requires:
            if other not in names:
                msg = f"{name} requires {other.__name__}, which is not on"
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
    """Names in an order that holds every `before`; the same for the same set.

    Raises:
        ValueError: As `before`, and for a cycle, with its path.
    """
    graph = before(kinds)
    try:
        return tuple(TopologicalSorter({name: graph[name] for name in sorted(graph)}).static_order())
    except CycleError as error:
        msg = f"add-ons wait for each other: {' -> '.join(error.args[1])}"
        raise ValueError(msg) from None
