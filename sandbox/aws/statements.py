"""Statements about the inputs of a type, and what they refuse.

They come from rows that say what the provider's source checks at plan or what the service's API refuses (`validators`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import regex

from sandbox.aws import forms
from sandbox.rpc.wire import has_unknown


class Word(StrEnum):
    """What a statement requires of a property and of others."""

    CONFLICTS = "conflicts"
    """None of the others is set beside it."""
    ONE = "one"
    """Exactly one of the properties is set."""
    SOME = "some"
    """At least one of the properties is set."""
    NEEDS = "needs"
    """With it, all the others are set; if it is false, it is as if not set."""
    NEEDS_ONE = "needs-one"
    """With it, at least one of the others is set."""
    NEEDED = "needed"
    """It is set if the other is, or if the other has one of the values."""
    ONLY = "only"
    """It is set only if the other has one of the values, or is not set."""
    WITH = "with"
    """It is set only if the other has one of the values; not set is none of them."""
    WITHOUT = "without"
    """It is not set if the other has one of the values."""
    VALUES = "values"
    """It is one of the values."""
    RANGE = "range"
    """It is a number between the two values."""
    LENGTH = "length"
    """It is a text whose length is between the two values."""
    ITEMS = "items"
    """It is a list whose length is between the two values."""
    UNIQUE = "unique"
    """It is a list of objects that differ in the property named by the value."""
    PATTERN = "pattern"
    """It is a text in which the regular expression matches somewhere, as Go's `MatchString`: anchors are its own."""
    FORM = "form"
    """It is a text of a form of `forms`."""
    AT_MOST = "at-most"
    """It is a number not greater than the other, unless that is below 0: -1 leaves a size as it is."""
    AT_MOST_IF_ON = "at-most-if-on"
    """The same, unless the other is 0, which switches it off."""


@dataclass(frozen=True)
class Statement:
    """One statement about a property.

    Attributes:
        word: What is required.
        names: Other properties by wire name; of ONE and SOME, all of them. With a slash they are those of the type.
        values: Values as texts.
        text: Where the check is.
        when: A property and values of it; with another value nothing is required.
    """

    word: Word
    names: tuple[str, ...]
    values: tuple[str, ...]
    text: str
    when: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The word and what it is about."""
        condition = f" (if {self.when[0].lstrip('/')} is {' or '.join(self.when[1:])})" if self.when else ""
        return f"{self.word}: {', '.join((*self.names, *self.values))}{condition}"


def problem(statement: Statement, name: str, inputs: Mapping[str, Any], whole: Mapping[str, Any]) -> str | None:
    """What a statement refuses; None if it is met, or if a value that it depends on is not known yet.

    Args:
        statement: The statement.
        name: The property of which it is said.
        inputs: The object in which the property is.
        whole: The inputs of the type.
    """

    def given(path: str) -> Any:
        return whole.get(path[1:]) if path.startswith("/") else inputs.get(path)

    needed = statement.when[:1] if statement.word in _OF_PRESENCE else (name, *statement.names, *statement.when[:1])
    if any(has_unknown(given(path)) for path in needed):
        return None
    if statement.when and as_text(given(statement.when[0])) not in statement.when[1:]:
        return None
    found = _PROBLEMS[statement.word](statement, name, inputs.get(name), given)
    return f"{found} ({statement.text})" if found else None


_OF_PRESENCE: Final = frozenset({Word.CONFLICTS, Word.ONE})
"""A value that is not known yet is one, for these."""


def _is_set(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _is_on(value: Any) -> bool:
    """Whether it is set, and not to false or 0, which the provider does not send."""
    return _is_set(value) and value not in (False, "false", 0, "0")


_Given = Callable[[str], Any]


def _conflicts(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    beside = [path for path in statement.names if _is_set(given(path))]
    return f"{name!r} conflicts with {_named(beside)}" if beside and _is_set(own) else None


def _one(statement: Statement, _name: str, _own: Any, given: _Given) -> str | None:
    found = [path for path in statement.names if _is_set(given(path))]
    if len(found) == 1:
        return None
    return f"exactly one of {_named(statement.names)} must be set, got {_named(found) if found else 'none'}"


def _some(statement: Statement, _name: str, _own: Any, given: _Given) -> str | None:
    if any(_is_set(given(path)) for path in statement.names):
        return None
    return f"one of {_named(statement.names)} must be set"


def _needs(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    missing = [path for path in statement.names if not _is_set(given(path))]
    return f"{name!r} requires {_named(missing)}" if missing and _is_on(own) else None


def _needs_one(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    if not _is_on(own) or any(_is_on(given(path)) for path in statement.names):
        return None
    return f"{name!r} requires one of {_named(statement.names)}"


def _needed(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    other = given(statement.names[0])
    matches = as_text(other) in statement.values if statement.values else _is_set(other)
    if not matches or _is_set(own):
        return None
    return f"{name!r} is required with {_named(statement.names)} {as_text(other)!r}"


def _only(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    return _with(statement, name, own, given) if _is_set(given(statement.names[0])) else None


def _with(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    other = given(statement.names[0])
    if not _is_on(own) or as_text(other) in statement.values:
        return None
    return f"{name!r} is not allowed with {_named(statement.names)} {as_text(other)!r}"


def _without(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    other = given(statement.names[0])
    if not _is_on(own) or as_text(other) not in statement.values:
        return None
    return f"{name!r} is not allowed with {_named(statement.names)} {as_text(other)!r}"


def _values(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    wrong = [item for item in _items(own) if not isinstance(item, Mapping) and as_text(item) not in statement.values]
    return f"{name!r} must be one of {', '.join(statement.values)}, got {as_text(wrong[0])!r}" if wrong else None


def _range(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    number, (low, high) = _number(own), statement.values
    if number is None or float(low) <= number <= float(high):
        return None
    return f"{name!r} must be between {low} and {high}, got {own!r}"


def _length(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    low, high = map(int, statement.values)
    if not isinstance(own, str) or not own or low <= len(own) <= high:
        return None
    return f"{name!r} must have {low} to {high} characters, got {len(own)}"


def _item_count(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    low, high = map(int, statement.values)
    if not isinstance(own, list) or low <= len(own) <= high:
        return None
    return f"{name!r} must have {low} to {high} items, got {len(own)}"


def _unique(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    keys = [as_text(item.get(statement.values[0])) for item in _items(own) if isinstance(item, Mapping)]
    twice = [key for key in keys if keys.count(key) > 1]
    return f"{name!r} has {statement.values[0]} {twice[0]!r} twice" if twice else None


def _pattern(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    pattern = statement.values[0]
    wrong = [item for item in _items(own) if isinstance(item, str) and not regex.search(pattern, item)]
    return f"{name!r} must match {pattern}, got {_short(wrong[0])}" if wrong else None


def _form(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    # A document is also given as an object. A flag may have the name of a text: assignGeneratedIpv6CidrBlock.
    items = [item for item in _items(own) if not isinstance(item, bool)]
    wrong = [text for item in items for kind in statement.values if (text := forms.problem(kind, item))]
    return f"{name!r} {wrong[0]}" if wrong else None


def _at_most(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    low, high = _number(own), _number(given(statement.names[0]))
    off = statement.word is Word.AT_MOST_IF_ON and high == 0
    if low is None or high is None or high < 0 or off or low <= high:
        return None
    return f"{name!r} must not be greater than {_named(statement.names)}, got {own} and {given(statement.names[0])}"


_PROBLEMS: Final[Mapping[Word, Callable[[Statement, str, Any, _Given], str | None]]] = {
    Word.CONFLICTS: _conflicts, Word.ONE: _one, Word.SOME: _some, Word.NEEDS: _needs, Word.NEEDS_ONE: _needs_one,
    Word.NEEDED: _needed, Word.ONLY: _only, Word.WITH: _with, Word.WITHOUT: _without, Word.VALUES: _values,
    Word.RANGE: _range, Word.LENGTH: _length, Word.ITEMS: _item_count, Word.UNIQUE: _unique, Word.PATTERN: _pattern,
    Word.FORM: _form, Word.AT_MOST: _at_most, Word.AT_MOST_IF_ON: _at_most,
}  # fmt: skip


def _items(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if _is_set(item)]


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _named(paths: Sequence[str]) -> str:
    return ", ".join(repr(path.lstrip("/")) for path in paths)


def as_text(value: Any) -> str:
    """A value as statements, filters and attributes have it: booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
