"""Keys of values as paths: `controller.resources.limits.memory`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from slipway.sandbox.kubernetes.helm import values as chart_values
from slipway.sandbox.kubernetes.helm.chart import Chart

Path: TypeAlias = tuple[str, ...]
SEPARATOR = "/"
"""Between the parts of a path as text: dots and slashes both occur in keys, but a slash only in those of labels, which
are keys of a map that takes any."""


def leaves(values: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Paths of all values that are not maps, and of empty maps."""
    for key, value in values.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, here)
        else:
            yield here


def verified(chart: Chart, values: Mapping[str, Any]) -> frozenset[str]:
    """What of the values the chart knows: each path down to where the chart takes any key.

    Only for values in which `slipway.sandbox.kubernetes.helm.values.problems` finds nothing.
    """
    return frozenset(text(_known(chart.defaults, path)) for path in leaves(values))


def unverified(values: Mapping[str, Any], known: Collection[str]) -> tuple[str, ...]:
    """Paths of the values that neither stand in `known` nor below one that does, sorted."""
    return tuple(sorted(text(path) for path in leaves(values) if not _covered(path, known)))


def text(path: Path) -> str:
    """A path as it is written down."""
    return SEPARATOR.join(path)


def _covered(path: Path, known: Collection[str]) -> bool:
    return any(text(path[:length]) in known for length in range(1, len(path) + 1))


def _known(defaults: Any, path: Path) -> Path:
    """The path, cut where the chart's own default is a map that takes any key: an empty one, or one by its name."""
    at = defaults
    for length, part in enumerate(path, start=1):
        if not isinstance(at, Mapping) or part not in at:
            return path
        at = at[part]
        if isinstance(at, Mapping) and (not at or chart_values.OPEN.search(part)):
            return path[:length]
    return path
