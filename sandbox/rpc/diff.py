"""Property paths, and the differences between the old inputs of a resource and the new ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pulumi.runtime.proto import provider_pb2 as pb

from sandbox.rpc import wire

# Property paths as Pulumi writes them: `scalingConfig.desiredSize`, `tags["kubernetes.io/role/elb"]`, `rules[*].id`.
#
# The engine sends them in ignoreChanges and receives them in detailed diffs. Here a path is a tuple of map keys (str)
# and indexes (int).

Path: TypeAlias = tuple[str | int, ...]

_TOKEN = re.compile(r"""\.?([^.\[\]"]+)|\[(\d+|\*)\]|\["((?:[^"\\]|\\.)*)"\]""")
_PLAIN_KEY = re.compile(r"[^.\[\]\"]+")
WILDCARD = "*"


def parse(text: str) -> Path:
    """The path of a text. Raises ValueError if the text is not a property path."""
    path: list[str | int] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            msg = f"{text!r} is not a property path: it can't be read from {text[at:]!r} on"
            raise ValueError(msg)
        key, index, quoted = match.groups()
        if key is not None:
            path.append(key)
        elif index is not None:
            path.append(index if index == WILDCARD else int(index))
        else:
            path.append(re.sub(r"\\(.)", r"\1", quoted))
        at = match.end()
    return tuple(path)


def write(path: Path) -> str:
    """The text of a path."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


def covers(pattern: Path, path: Path) -> bool:
    """Whether the path matches the pattern or is below it; `*` in the pattern matches any one part."""
    if len(pattern) > len(path):
        return False
    return all(want in (WILDCARD, part) for want, part in zip(pattern, path, strict=False))


def value(inputs: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None if there is none."""
    current: Any = inputs
    for part in path.split("."):
        current = current.get(part) if isinstance(current, Mapping) else None
    return current


def without_indexes(path: Path) -> str:
    """`ingress[0].fromPort` -> `ingress.fromPort`: a property's name in schemas and tables."""
    return ".".join(part for part in path if isinstance(part, str))


def ignored(path: Path, ignore_changes: Iterable[str]) -> bool:
    """Whether ignoreChanges covers the path. Texts that aren't paths are ignored, as in the engine."""
    for text in ignore_changes:
        try:
            pattern = parse(text)
        except ValueError:
            continue
        if covers(pattern, path):
            return True
    return False


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
    """Changes of a resource."""

    changes: tuple[Change, ...] = ()  # each changed property
    delete_before_replace: bool = False  # the new object can't exist beside the old one
    whole_paths: bool = False
    """The reasons of a replacement are whole paths (pulumi-kubernetes), not top-level properties (bridged providers).
    """

    def replacing(self, forces_new: Callable[[Path], bool]) -> Diff:
        """The same changes, with `replace` set for those that no update can make."""
        return replace(self, changes=tuple(replace(c, replace=forces_new(c.path)) for c in self.changes))

    def without_ignored(self, ignore_changes: Iterable[str]) -> Diff:
        """The changes that ignoreChanges does not cover."""
        ignore = tuple(ignore_changes)
        return replace(self, changes=tuple(c for c in self.changes if not ignored(c.path, ignore)))

    def message(self) -> pb.DiffResponse:
        """The answer for the engine."""
        detailed = {
            write(change.path): pb.PropertyDiff(kind=change.kind + change.replace, inputDiff=change.input)  # type: ignore[arg-type]
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
        return write(change.path) if self.whole_paths else str(change.path[0])


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Every leaf that differs, sorted by path.

    A property that was imported from the cloud and that the program does not set is not a change.
    """
    imported = set(old.get(DEFAULTS_KEY) or ())
    left = {key: value for key, value in old.items() if not key.startswith("__")}
    right = {key: value for key, value in new.items() if not key.startswith("__")}
    return tuple(change for change in _compare(left, right, ()) if not _left_out(change, imported))


def overlaid(old: Mapping[str, Any], before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """New inputs over old outputs, maps key by key: what the cloud added stays, what the program took back goes.

    A preview that has only the inputs of `spec` gives the program no `spec.clusterIP`.
    """
    outputs = {key: value for key, value in old.items() if key not in before}
    for key, value in new.items():
        above, given = old.get(key), before.get(key)
        if isinstance(value, Mapping) and isinstance(above, Mapping):
            outputs[key] = overlaid(above, given if isinstance(given, Mapping) else {}, value)
        else:
            outputs[key] = above if value == given and above is not None else value
    return outputs


def _left_out(change: Change, imported: set[str]) -> bool:
    return change.kind == DELETE and change.path[0] in imported and isinstance(change.path[-1], str)


def _compare(old: Any, new: Any, path: Path) -> Iterable[Change]:
    if (before := wire.content(old)) is not None and (after := wire.content(new)) is not None:
        if before != after:
            yield Change(path, UPDATE)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
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
