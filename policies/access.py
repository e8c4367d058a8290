"""Safe reading of a resource's properties: every value is known, unknown or missing, and reading never raises.

The SDK gives properties behind proxies that raise at the first touch of a value that a preview can't know, and one such
raise ends the whole policy for that resource with a mere remark. Here an unknown is a value of its own: a question
about it has no definite answer, and the questions beside it are answered as ever. Secrets arrive in plain text and are
read like anything else. A value of the wrong type raises `WrongTypeError`, which the runner turns into a violation.
"""

from __future__ import annotations

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


class WrongTypeError(Exception):
    """A value is not of the type that its property has."""

    def __init__(self, node: Node, expected: str) -> None:
        super().__init__(f"{node.path} must be {expected}, and is {node.shown}")
        self.node = node
        self.expected = expected


def plain(value: Any) -> Any:
    """A value without the SDK's proxies: dicts, lists and scalars, with `UNKNOWN` where nothing is known."""
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
    """A place in a resource's properties, and what is there.

    Attributes:
        path: Where it is, as a person would write it: `vpcConfig.publicAccessCidrs[0]`.
        raw: The value, or why there is none.
    """

    path: str
    raw: Any

    @property
    def unknown(self) -> bool:
        """Whether something is given that only the update will know."""
        return self.raw is UNKNOWN

    @property
    def missing(self) -> bool:
        """Whether nothing is given, or null."""
        return self.raw is MISSING or self.raw is None

    @property
    def known(self) -> bool:
        """Whether there is a value to look at."""
        return not self.unknown and not self.missing

    @property
    def shown(self) -> str:
        """The value as a message shows it."""
        if self.missing:
            return MISSING.value
        if self.unknown:
            return UNKNOWN.value
        if isinstance(self.raw, bool):
            return str(self.raw).lower()
        number = int(self.raw) if isinstance(self.raw, float) and self.raw.is_integer() else self.raw
        text = repr(number) if isinstance(number, str) else str(number)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."

    def __getitem__(self, key: str) -> Node:
        """The value of a key; of what is unknown everything is unknown, of what is missing everything is missing."""
        path = f"{self.path}.{key}" if self.path else key
        if not self.known:
            return Node(path, self.raw)
        if not isinstance(self.raw, Mapping):
            raise WrongTypeError(self, "a map")
        return Node(path, self.raw.get(key, MISSING))

    def at(self, *keys: str) -> Node:
        """The value below several keys."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def items(self) -> list[Node]:
        """Entries of a list, unknown ones among them; none where the list is unknown or missing."""
        if not self.known:
            return []
        if not isinstance(self.raw, list):
            raise WrongTypeError(self, "a list")
        return [Node(f"{self.path}[{index}]", item) for index, item in enumerate(self.raw)]

    def fields(self) -> dict[str, Node]:
        """Values of a map by key; none where the map is unknown or missing."""
        if not self.known:
            return {}
        if not isinstance(self.raw, Mapping):
            raise WrongTypeError(self, "a map")
        return {key: self[key] for key in self.raw}

    def text(self) -> str | None:
        """A known text, else None."""
        found: str | None = self._typed(str, "text")
        return found

    def number(self) -> float | None:
        """A known number, else None; numbers arrive as floats, and some properties hold them as text."""
        if isinstance(self.raw, str):
            try:
                return float(self.raw)
            except ValueError as error:
                raise WrongTypeError(self, "a number") from error
        if isinstance(self.raw, bool):
            raise WrongTypeError(self, "a number")
        found = self._typed((int, float), "a number")
        return None if found is None else float(found)

    def truth(self) -> bool | None:
        """A known boolean, else None; `true` and `false` as text count, as launch templates write them."""
        if isinstance(self.raw, str) and self.raw in _TRUTH:
            return _TRUTH[self.raw]
        found: bool | None = self._typed(bool, "true or false")
        return found

    def is_true(self, *, default: bool = False) -> bool:
        """Whether it is certainly true; `default` is what AWS takes where nothing is given."""
        return default if self.missing else self.truth() is True

    def is_false(self, *, default: bool = False) -> bool:
        """Whether it is certainly false; `default` is what AWS takes where nothing is given."""
        return not default if self.missing else self.truth() is False

    def is_not(self, *accepted: Any) -> bool:
        """Whether it is certainly none of these values: known and different, or missing."""
        return self.missing or (self.known and self.raw not in accepted)

    def walk(self) -> Iterator[Node]:
        """Every scalar below, this one included; unknown ones are left out."""
        if isinstance(self.raw, Mapping):
            for field in self.fields().values():
                yield from field.walk()
        elif isinstance(self.raw, list):
            for item in self.items():
                yield from item.walk()
        elif self.known:
            yield self

    def _typed(self, kinds: Any, expected: str) -> Any:
        if not self.known:
            return None
        if not isinstance(self.raw, kinds):
            raise WrongTypeError(self, expected)
        return self.raw


def texts(nodes: Iterable[Node]) -> set[str]:
    """Known texts among values."""
    return {node.raw for node in nodes if isinstance(node.raw, str)}


def unknowns(nodes: Iterable[Node]) -> int:
    """How many of some values are unknown: each of them may turn out to be the one that is looked for."""
    return sum(node.unknown for node in nodes)


def tree(value: Any) -> Node:
    """The root of a resource's properties."""
    return Node("", plain(value))
