"""Keys of values as paths, such as `controller/resources`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from slipway.sandbox.kubernetes.helm import values as chart_values
from slipway.sandbox.kubernetes.helm.chart import Chart

Path: TypeAlias = tuple[str, ...]
SEPARATOR = "/"
"""Separates the parts of a path as text. Keys may contain dots and slashes, but slashes only occur in label keys, and
labels are maps that accept any key."""


def leaves(values: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Paths of all values that are not maps, and of empty maps."""
    for key, value in values.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, here)
        else:
            yield here


def verified(chart: Chart, values: Mapping[str, Any]) -> frozenset[str]:
    """Paths of the values that the chart supports, shortened where the chart accepts any key.

    Only for values without `slipway.sandbox.kubernetes.helm.values.problems`.
    """
    return frozenset(text(_known(chart.defaults, path)) for path in leaves(values))


def unverified(values: Mapping[str, Any], known: Collection[str]) -> tuple[str, ...]:
    """Sorted paths of the values that are neither in `known` nor below a path in it."""
    return tuple(sorted(text(path) for path in leaves(values) if not _covered(path, known)))


def text(path: Path) -> str:
    """A path as it is recorded."""
    return SEPARATOR.join(path)


def _covered(path: Path, known: Collection[str]) -> bool:
    return any(text(path[:length]) in known for length in range(1, len(path) + 1))


def _known(defaults: Any, path: Path) -> Path:
    """The path, shortened where the chart's default is a map that accepts any key: empty, or open by its name."""
    at = defaults
    for length, part in enumerate(path, start=1):
        if not isinstance(at, Mapping) or part not in at:
            return path
        at = at[part]
        if isinstance(at, Mapping) and (not at or chart_values.OPEN.search(part)):
            return path[:length]
    return path
