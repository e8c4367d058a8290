"""Differences between the old inputs of a resource and the new ones.

Old *inputs*, not outputs: live values have defaults and other spellings, so a comparison with them shows changes that
the program did not make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pulumi.runtime.proto import provider_pb2 as pb

from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.paths import Path

DEFAULTS_KEY = "__defaults"
"""Lists the inputs that the program did not set: `{"__defaults": ["name"]}`. Bridged providers use the same key."""

ADD, DELETE, UPDATE = 0, 2, 4  # PropertyDiff.Kind; the kind of a replacement is one more


@dataclass(frozen=True)
class Change:
    """One changed property. `input` is False if an output differs from what the inputs require."""

    path: Path
    kind: int
    replace: bool = False
    input: bool = True


@dataclass(frozen=True)
class Diff:
    """Changes of a resource.

    Attributes:
        changes: Each changed property.
        delete_before_replace: The new object can't exist beside the old one.
        whole_paths: The reasons of a replacement are whole paths (pulumi-kubernetes), not top-level properties (bridged
            providers).
    """

    changes: tuple[Change, ...] = ()
    delete_before_replace: bool = False
    whole_paths: bool = False

    def replacing(self, forces_new: Callable[[Path], bool]) -> Diff:
        """The same changes, with `replace` set for those that no update can make."""
        return replace(self, changes=tuple(replace(c, replace=forces_new(c.path)) for c in self.changes))

    def without_ignored(self, ignore_changes: Iterable[str]) -> Diff:
        """The changes that ignoreChanges does not cover."""
        ignore = tuple(ignore_changes)
        return replace(self, changes=tuple(c for c in self.changes if not paths.ignored(c.path, ignore)))

    def message(self) -> pb.DiffResponse:
        """The answer for the engine."""
        detailed = {
            paths.write(change.path): pb.PropertyDiff(kind=change.kind + change.replace, inputDiff=change.input)  # type: ignore[arg-type]
            for change in self.changes
        }
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if self.changes else pb.DiffResponse.DIFF_NONE,
            replaces=sorted({self._reason(change) for change in self.changes if change.replace}),
            diffs=sorted({str(change.path[0]) for change in self.changes}),
            detailedDiff=detailed,
            hasDetailedDiff=True,
            deleteBeforeReplace=self.delete_before_replace and any(change.replace for change in self.changes),
        )

    def _reason(self, change: Change) -> str:
        return paths.write(change.path) if self.whole_paths else str(change.path[0])


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Every leaf that differs, sorted by path.

    A property that was imported from the cloud and that the program does not set is not a change.
    """
    imported = set(old.get(DEFAULTS_KEY) or ())
    left = {key: value for key, value in old.items() if not key.startswith("__")}
    right = {key: value for key, value in new.items() if not key.startswith("__")}
    return tuple(change for change in _compare(left, right, ()) if not _left_out(change, imported))


def _left_out(change: Change, imported: set[str]) -> bool:
    return change.kind == DELETE and change.path[0] in imported and isinstance(change.path[-1], str)


def _compare(old: Any, new: Any, path: Path) -> Iterable[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _compare_item(old, new, key, path)
    elif isinstance(old, list) and isinstance(new, list):
        left, right = dict(enumerate(old)), dict(enumerate(new))
        for index in sorted({*left, *right}):
            yield from _compare_item(left, right, index, path)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield Change(path, UPDATE)


def _compare_item(old: Mapping[Any, Any], new: Mapping[Any, Any], key: Any, path: Path) -> Iterable[Change]:
    below = (*path, key)
    if key not in old:
        yield Change(below, ADD)
    elif key not in new:
        yield Change(below, DELETE)
    else:
        yield from _compare(old[key], new[key], below)
