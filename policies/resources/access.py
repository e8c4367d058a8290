"""Safe access to a resource's properties: every value is known, unknown or missing.

The SDK wraps properties in proxies that raise on access to a value that a preview doesn't know; that ends the whole
policy for the resource with only a warning. Here an unknown is a value of its own: a check of it reports nothing, and
the other checks are evaluated. Secrets arrive in plain text and are read like other values. A value of the wrong type
raises `WrongTypeError`, which the runner reports as a violation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError


class Absent(Enum):
    """Why there is no value."""

    UNKNOWN = "not known before the update"
    MISSING = "not set"


UNKNOWN: Final = Absent.UNKNOWN
MISSING: Final = Absent.MISSING
_TRUTH: Final = {"true": True, "false": False}
_LONGEST_SHOWN: Final = 80
_SECRET: Final = re.compile(r"(?i)(password|secretString|secretBinary|secretAccessKey|privateKey|authToken|apiKey)$")
"""Paths of values that no log may have: the engine hands secrets to a policy pack as they are."""


class WrongTypeError(Exception):
    """A value doesn't have the type of its property."""

    def __init__(self, node: Node, expected: str) -> None:
        super().__init__(f"{node.path} must be {expected}; it is {node.shown}")
        self.node = node
        self.expected = expected


def plain(value: Any) -> Any:
    """A value without the SDK's proxies: dicts, lists and scalars, with `UNKNOWN` for unknown values."""
    if isinstance(value, Mapping):
        return {str(key): _entry(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_entry(value, index) for index in range(len(value))]
    return value


def _entry(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN


@dataclass(frozen=True)
class Node:
    """A path in a resource's properties, and its value."""

    path: str  # `vpcConfig.publicAccessCidrs[0]`
    raw: Any  # the value, with dicts for maps (`plain`), or the reason that there is none

    @property
    def unknown(self) -> bool:
        """Whether the value is known only after the update."""
        return self.raw is UNKNOWN

    @property
    def missing(self) -> bool:
        """Whether the value is not set, or null."""
        return self.raw is MISSING or self.raw is None

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        # Asked 100,000 times for the resources of stack prod, so without the other properties (2026-11).
        return self.raw is not UNKNOWN and self.raw is not MISSING and self.raw is not None

    @property
    def shown(self) -> str:
        """The value as it appears in a message."""
        if isinstance(self.raw, str) and _SECRET.search(self.path):
            return "a text that is not shown"
        text = self.whole
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."

    @property
    def whole(self) -> str:
        """The same, without a limit."""
        if self.missing:
            return MISSING.value
        if self.unknown:
            return UNKNOWN.value
        if isinstance(self.raw, bool):
            return str(self.raw).lower()
        number = int(self.raw) if isinstance(self.raw, float) and self.raw.is_integer() else self.raw
        return repr(number) if isinstance(number, str) else str(number)

    def __getitem__(self, key: str) -> Node:
        """The value of a key; unknown below an unknown value, missing below a missing one."""
        path = f"{self.path}.{key}" if self.path else key
        if not self.known:
            return Node(path, self.raw)
        if not isinstance(self.raw, dict):
            raise WrongTypeError(self, "a map")
        return Node(path, self.raw.get(key, MISSING))

    def at(self, *keys: str) -> Node:
        """The value at a path of keys."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def items(self) -> list[Node]:
        """Entries of a list, including unknown ones; none if the list is unknown or missing."""
        if not self.known:
            return []
        if not isinstance(self.raw, list):
            raise WrongTypeError(self, "a list")
        return [Node(f"{self.path}[{index}]", item) for index, item in enumerate(self.raw)]

    def fields(self) -> dict[str, Node]:
        """Values of a map by key; none if the map is unknown or missing."""
        if not self.known:
            return {}
        if not isinstance(self.raw, dict):
            raise WrongTypeError(self, "a map")
        return {key: self[key] for key in self.raw}

    def text(self) -> str | None:
        """A known text, otherwise None."""
        value: str | None = self._typed(str, "text")
        return value

    def number(self) -> float | None:
        """A known number, otherwise None; numbers arrive as floats, in some properties as text."""
        if isinstance(self.raw, str):
            try:
                return float(self.raw)
            except ValueError as error:
                raise WrongTypeError(self, "a number") from error
        if isinstance(self.raw, bool):
            raise WrongTypeError(self, "a number")
        value = self._typed((int, float), "a number")
        return None if value is None else float(value)

    def truth(self) -> bool | None:
        """A known boolean, otherwise None; the texts `true` and `false` count too: launch templates contain them."""
        if isinstance(self.raw, str) and self.raw in _TRUTH:
            return _TRUTH[self.raw]
        value: bool | None = self._typed(bool, "true or false")
        return value

    def is_true(self, *, default: bool = False) -> bool:
        """Whether it is certainly true; `default` is AWS's default."""
        return default if self.missing else self.truth() is True

    def is_false(self, *, default: bool = False) -> bool:
        """Whether it is certainly false; `default` is AWS's default."""
        return not default if self.missing else self.truth() is False

    def is_not(self, *accepted: Any) -> bool:
        """Whether it is certainly none of these values: known and different, or missing."""
        return self.missing or (self.known and self.raw not in accepted)

    def walk(self) -> Iterator[Node]:
        """Every known scalar at and below this node."""
        if isinstance(self.raw, str | int | float):
            yield self
        elif isinstance(self.raw, list):
            for item in self.items():
                yield from item.walk()
        elif isinstance(self.raw, dict):
            for field in self.fields().values():
                yield from field.walk()
        elif self.known:
            yield self

    def _typed(self, kinds: Any, expected: str) -> Any:
        if not self.known:
            return None
        if not isinstance(self.raw, kinds):
            raise WrongTypeError(self, expected)
        return self.raw


def known_part(value: Any) -> Any:
    """A plain value without what is unknown in it."""
    if isinstance(value, dict):
        return {key: known_part(each) for key, each in value.items() if each is not UNKNOWN}
    return [known_part(each) for each in value if each is not UNKNOWN] if isinstance(value, list) else value


def texts(nodes: Iterable[Node]) -> set[str]:
    """Known texts among values."""
    return {node.raw for node in nodes if isinstance(node.raw, str)}


def unknowns(nodes: Iterable[Node]) -> int:
    """The number of unknown values: each of them may be the one that a check looks for."""
    return sum(node.unknown for node in nodes)


def tree(value: Any) -> Node:
    """The root of a resource's properties."""
    return Node("", plain(value))
