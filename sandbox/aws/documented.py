"""What the AWS provider's documentation says of the inputs of a type, read from the docstrings of pulumi_aws.

They are generated from the Terraform provider's pages, so a phrase such as "Conflicts with `subnet_id`" stands for a
check that the provider makes at plan. A phrase that none of the patterns here knows says nothing, and a name that is no
property of the same object, or of the type, is left out: what remains is refused in the documentation's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sandbox.rpc.wire import UNKNOWN, has_unknown


class Word(StrEnum):
    """What a statement requires of a property and of others."""

    CONFLICTS = "conflicts"
    """None of the others is set beside it."""
    ONE = "one"
    """Exactly one of the properties is set."""
    SOME = "some"
    """At least one of the properties is set."""
    NEEDS = "needs"
    """With it, all the others are set."""
    NEEDED = "needed"
    """It is set if the other is, or if the other has one of the values."""
    ONLY = "only"
    """It is set only if the other has one of the values."""
    VALUES = "values"
    """It is one of the values."""
    RANGE = "range"
    """It is a number between the two values."""
    LENGTH = "length"
    """It is a text whose length is between the two values."""


@dataclass(frozen=True)
class Statement:
    """One statement about a property.

    Attributes:
        word: What is required.
        names: Other properties by wire name; of ONE and SOME, all of them. With a slash they are those of the type.
        values: Values as texts.
        text: The sentence of the documentation.
    """

    word: Word
    names: tuple[str, ...]
    values: tuple[str, ...]
    text: str


_TERM: Final = r"`[^`\n]+`"
_SEPARATOR: Final = r"(?:\s*,?\s*(?:and/or|and|or|&|/|\|)\s+(?:a\s+)?|\s*[,/|]\s*)"
_ASIDE: Final = r"(?:\s*\([^()]*\))?"
_TERMS: Final = rf"(?P<terms>{_TERM}{_ASIDE}(?:{_SEPARATOR}{_TERM}{_ASIDE})*)"
_END: Final = r"(?=\s*(?:[.;\n]|(?i:defaults?)\b|$))"
_IS: Final = r"\s+(?:is|of|to|=|set to|is set to|equals|is one of|are)\s+(?:set to\s+|either\s+)?"
_MUST: Final = r"(?:is required|must be (?:specified|set|provided|populated))"
# At the beginning of a sentence: "for the strategy binpack, valid values are" says it of one case.
_VALUE_LIST: Final = (
    r"(?:(?:Valid|Possible|Allowed|Supported) (?:values|options|types)(?: are)?|Must be (?:either|one of)):?"
)
_BETWEEN: Final = (
    r"(?:valid (?:values?|range)|must be|values?)(?: is| are| must be)?:?(?: an integer)?"
    r"(?: from| between| in the range)?"
)
_UNIT: Final = r"(?! characters)(?: days| seconds| minutes| hours| GiB)?(?:,? inclusive)?"

_Phrase = tuple[Word, str]
_PHRASES: Final[Sequence[_Phrase]] = (
    (Word.CONFLICTS, rf"\*{{0,2}}conflicts? with\*{{0,2}} (?:the )?{_TERMS}"),
    (Word.CONFLICTS, rf"cannot be (?:specified|used|set|combined) (?:together )?with {_TERMS}{_END}"),
    (Word.ONE, rf"exactly one of (?:of )?(?:either )?{_TERMS} {_MUST}"),
    (Word.ONE, rf"must specify either {_TERMS},? but not both"),
    (Word.SOME, rf"(?<!exactly )\bone of (?:either )?{_TERMS} {_MUST}"),
    (Word.SOME, rf"either {_TERMS} {_MUST}"),
    (Word.SOME, rf"required if (?P<instead>{_TERM}) is not (?:specified|set|provided){_END}"),
    (Word.NEEDS, rf"requires (?:specifying (?:a )?)?{_TERMS}(?: to be (?:set|specified|provided))?{_END}"),
    (Word.NEEDED, rf"required (?:if|when) (?P<name>{_TERM}){_IS}{_TERMS}{_END}"),
    (Word.NEEDED, rf"required (?:if|when) (?P<terms>{_TERM}) is (?:set|specified|provided){_END}"),
    (Word.ONLY, rf"only (?:valid|applicable|allowed) (?:if|when|for) (?P<name>{_TERM}){_IS}{_TERMS}{_END}"),
    (Word.ONLY, rf"can only be (?:set|used|specified) (?:if|when) (?:the )?(?P<name>{_TERM}){_IS}{_TERMS}{_END}"),
    (Word.VALUES, rf"{_VALUE_LIST}\s+(?:either )?{_TERMS}{_END}"),
    (Word.RANGE, rf"{_BETWEEN}\s+`?(?P<low>-?[\d,]+)`?\s*(?:-|and|to|through)\s*`?(?P<high>[\d,]+)`?{_UNIT}{_END}"),
    (Word.LENGTH, r"(?:between|from) (?P<low>\d+) (?:and|to) (?P<high>\d+) characters"),
    (Word.LENGTH, r"(?:maximum (?:length )?of|up to|maximum length is|at most) (?P<high>\d+) characters"),
)
# A list of values begins a sentence; all else may be anywhere in one.
_COMPILED: Final = tuple(
    (word, re.compile(pattern, 0 if word is Word.VALUES else re.IGNORECASE)) for word, pattern in _PHRASES
)

_MORE: Final = re.compile(r"\balso (?:be )?(?:valid|allowed|supported|accepted|possible)|other values", re.IGNORECASE)

Resolve = Callable[[str], str | None]
"""The wire name of a property that the documentation names; None if there is none."""


def statements(name: str, documentation: str, resolve: Resolve) -> tuple[Statement, ...]:
    """What the documentation of a property says.

    Args:
        name: The property's own wire name.
        documentation: Its docstring.
        resolve: Finds other properties.
    """
    found = tuple(dict.fromkeys(_read(name, documentation, resolve)))
    lists = [one for one in found if one.word is Word.VALUES]
    # Two lists belong to two cases, and "`email` is also valid" goes on after the list (aws:sns/topicSubscription).
    if len(lists) > 1 or _MORE.search(documentation):
        return tuple(one for one in found if one.word is not Word.VALUES)
    return found


def _read(own: str, documentation: str, resolve: Resolve) -> Iterator[Statement]:
    for word, pattern in _COMPILED:
        for match in pattern.finditer(documentation):
            groups = match.groupdict()
            terms = tuple(term.strip("`").strip('"') for term in re.findall(_TERM, groups.get("terms") or ""))
            text = re.sub(r"\s+", " ", match[0]).strip()
            if word in (Word.RANGE, Word.LENGTH):
                low, high = (str(groups.get(bound) or 0).replace(",", "") for bound in ("low", "high"))
                yield Statement(word, (), (low, high), text)
            elif word is Word.VALUES:
                # A list of one is most often one that goes on in another form.
                if len(terms) > 1:
                    yield Statement(word, (), terms, text)
            elif "instead" in groups:
                other = resolve(groups["instead"].strip("`"))
                if other is not None and other != own:
                    yield Statement(word, (own, other), (), text)
            elif "name" in groups:
                other = resolve(groups["name"].strip("`"))
                if other is not None and other != own:
                    yield Statement(word, (other,), terms, text)
            else:
                yield from _of_names(word, own, [resolve(term) for term in terms], text)


def _of_names(word: Word, own: str, names: Sequence[str | None], text: str) -> Iterator[Statement]:
    """A statement about names. Where one isn't found, a choice among them is unsure."""
    found = tuple(name for name in names if name is not None)
    if word in (Word.ONE, Word.SOME):
        if len(found) == len(names) > 1:
            yield Statement(word, found, (), text)
    elif others := tuple(name for name in found if name != own):
        yield Statement(word, others, (), text)


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

    own = inputs.get(name)
    if any(has_unknown(given(path)) for path in (name, *statement.names)):
        return None
    found = _PROBLEMS[statement.word](statement, name, own, given)
    return f"{found} (the provider's documentation: {statement.text!r})" if found else None


def _is_set(value: Any) -> bool:
    return value is not None and value not in ("", [], {}) and value != UNKNOWN


_Given = Callable[[str], Any]


def _conflicts(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    beside = [path.lstrip("/") for path in statement.names if _is_set(given(path))]
    return f"{name!r} conflicts with {_named(beside)}" if beside and _is_set(own) else None


def _one(statement: Statement, _name: str, _own: Any, given: _Given) -> str | None:
    found = [path.lstrip("/") for path in statement.names if _is_set(given(path))]
    if len(found) == 1:
        return None
    return f"exactly one of {_named(statement.names)} must be set, got {_named(found) if found else 'none'}"


def _some(statement: Statement, _name: str, _own: Any, given: _Given) -> str | None:
    if any(_is_set(given(path)) for path in statement.names):
        return None
    return f"one of {_named(statement.names)} must be set"


def _needs(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    missing = [path.lstrip("/") for path in statement.names if not _is_set(given(path))]
    return f"{name!r} requires {_named(missing)}" if missing and _is_set(own) else None


def _needed(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    other = given(statement.names[0])
    matches = _text(other) in statement.values if statement.values else _is_set(other)
    if not matches or _is_set(own):
        return None
    return f"{name!r} is required with {statement.names[0].lstrip('/')!r} {_text(other)!r}"


def _only(statement: Statement, name: str, own: Any, given: _Given) -> str | None:
    other = given(statement.names[0])
    if not _is_set(own) or own in (False, "false") or not _is_set(other) or _text(other) in statement.values:
        return None
    return f"{name!r} is not allowed with {statement.names[0].lstrip('/')!r} {_text(other)!r}"


def _values(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    wrong = [
        item for item in (own if isinstance(own, list) else [own]) if _is_set(item) and not _listed(item, statement)
    ]
    return f"{name!r} must be one of {', '.join(statement.values)}, got {_text(wrong[0])!r}" if wrong else None


def _listed(item: Any, statement: Statement) -> bool:
    return isinstance(item, Mapping) or _text(item) in statement.values


def _range(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    try:
        number = float(own)
    except (TypeError, ValueError):
        return None
    low, high = statement.values
    return None if float(low) <= number <= float(high) else f"{name!r} must be between {low} and {high}, got {own!r}"


def _length(statement: Statement, name: str, own: Any, _given: _Given) -> str | None:
    low, high = map(int, statement.values)
    if not isinstance(own, str) or not own or low <= len(own) <= high:
        return None
    return f"{name!r} must have {low} to {high} characters, got {len(own)}"


_PROBLEMS: Final[Mapping[Word, Callable[[Statement, str, Any, _Given], str | None]]] = {
    Word.CONFLICTS: _conflicts, Word.ONE: _one, Word.SOME: _some, Word.NEEDS: _needs, Word.NEEDED: _needed,
    Word.ONLY: _only, Word.VALUES: _values, Word.RANGE: _range, Word.LENGTH: _length,
}  # fmt: skip


def _named(paths: Sequence[str]) -> str:
    return ", ".join(repr(path.lstrip("/")) for path in paths)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
