"""Limits of names: length and characters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spec.catalog.document import Source, load, source

AUTONAME_SUFFIX: Final = 8
"""Characters that Pulumi's auto-naming adds: a hyphen and seven hexadecimal digits (pulumi.com, "Resource names")."""


@dataclass(frozen=True)
class NameLimit:
    """Limits of one kind of name."""

    kind: str
    shortest: int
    longest: int
    pattern: str  # regular expression for the whole name
    origin: str  # source of the limit: `botocore` shape, or a quotation of the documentation

    def problem(self, name: str, *, autonamed: bool = False) -> str | None:
        """What is wrong with a name, optionally with Pulumi's suffix; None if it is valid."""
        length = len(name) + (AUTONAME_SUFFIX if autonamed else 0)
        if length > self.longest:
            suffix = f", of which Pulumi's suffix has {AUTONAME_SUFFIX}" if autonamed else ""
            return f"a name of kind {self.kind} has at most {self.longest} characters: {name!r} has {length}{suffix}"
        if length < self.shortest:
            return f"a name of kind {self.kind} has at least {self.shortest} characters: {name!r} has {length}"
        if not re.fullmatch(self.pattern, name):
            return f"a name of kind {self.kind} must match {self.pattern}: {name!r} does not"
        return None


_DOCUMENT: Final = load("names.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
LIMITS: Final[Mapping[str, NameLimit]] = MappingProxyType(
    {
        kind: NameLimit(
            kind=kind,
            shortest=entry.get("shortest", 1),
            longest=entry["longest"],
            pattern=entry["pattern"],
            origin=f"botocore {entry['botocore']}" if "botocore" in entry else entry["documented"],
        )
        for kind, entry in _DOCUMENT["limits"].items()
    }
)
"""Limits by kind of name."""


def limit(kind: str) -> NameLimit:
    """Return the limit of a kind; a KeyError lists the kinds."""
    if kind not in LIMITS:
        message = f"the catalog has no limit for names of {kind!r}: it has {', '.join(LIMITS)}"
        raise KeyError(message)
    return LIMITS[kind]


def problem(kind: str, name: str, *, autonamed: bool = False) -> str | None:
    """What is wrong with a name of a kind; None if it is valid."""
    return limit(kind).problem(name, autonamed=autonamed)
