"""What the AWS provider's documentation says of the inputs of a type, read from the docstrings of pulumi_aws.

They are generated from the Terraform provider's pages, so a phrase such as "Conflicts with `subnet_id`" stands for a
check that the provider makes at plan. A phrase that none of the patterns here knows says nothing, and a name that is no
property of the same object, or of the type, is left out: what remains is refused in the documentation's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sandbox.aws.statements import Statement, Word

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
PHRASES: Final[Sequence[_Phrase]] = (
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
    (word, re.compile(pattern, 0 if word is Word.VALUES else re.IGNORECASE)) for word, pattern in PHRASES
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
            sentence = re.sub(r"\s+", " ", match[0]).strip()
            text = f"the provider's documentation: {sentence!r}"
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
