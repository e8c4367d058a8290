"""What breaks when Kubernetes or a controller gets another version: the rows of `data/upgrades.yaml`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from spec.catalog.addons import numbers
from spec.catalog.document import load
from spec.catalog.lifecycle import reached

_VERSION: Final = re.compile(r"^v?\d+(\.\d+)+")


@dataclass(frozen=True, kw_only=True)
class Software:
    """Which versions of a controller fit which of Kubernetes; the file says what each attribute is."""

    title: str
    images: Sequence[str]
    source: str = ""
    charts: Mapping[str, str] = field(default_factory=dict)
    addon: str = ""
    kubernetes: Mapping[str, str] = field(default_factory=dict)
    behind: int | None = None
    releases: Sequence[str] = ()

    def unsupported(self, version: str, kubernetes: str) -> str:
        """What a version of Kubernetes needs instead of this version; empty if they fit."""
        if self.behind is not None:
            newest = numbers(kubernetes)[1]
            fits = newest - self.behind <= numbers(version)[1] <= newest
            return "" if fits else f"1.{newest - self.behind}" + (f" to {kubernetes}" if self.behind else "")
        for least in [one for since, one in self.kubernetes.items() if reached(since, kubernetes)][-1:]:
            if not at_least(version, least):
                return f"{least} or newer"
        return ""

    def skipped(self, before: str, after: str) -> list[str]:
        """Releases between two versions, each of which has to be installed."""
        pairs = pairwise(self.releases)
        return [one for one, newer in pairs if not at_least(before, one) and at_least(after, newer)]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What objects must not have, from a version on; the file says what each attribute is."""

    rule: str
    text: str
    fix: str
    source: str
    kubernetes: str = ""
    software: str = ""
    since: str = ""
    kinds: Sequence[str] = ()
    paths: Sequence[str] = ()
    matches: str = "."
    unless: str = ""
    excepted: Sequence[str] = ()

    def found(self, value: Any) -> bool:
        """Whether an object, or the spec of a pod, has it."""
        return any(re.search(self.matches, str(one)) for path in self.paths for one in _values(value, path))


def at_least(version: str, other: str) -> bool:
    """Whether a version is another one, or newer."""
    return numbers(version) >= numbers(other)


def recognized(image: str) -> tuple[str, str] | None:
    """The software of an image, and its version; None if the file has none of that name, or the tag is no version."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    if version := _VERSION.match(tag):
        for key, row in SOFTWARE.items():
            if any(f"/{name}".endswith(f"/{end}") for end in row.images):
                return key, version[0].removeprefix("v")
    return None


def _values(value: Any, path: str) -> Iterator[Any]:
    """What is at a path, such as `subjects[].name`."""
    key, _, rest = path.partition(".")
    inner = value.get(key.removesuffix("[]")) if isinstance(value, Mapping) else None
    for one in (inner or ()) if key.endswith("[]") else (inner,):
        yield from _values(one, rest) if rest else () if one is None else (one,)


_DOCUMENT: Final = load("upgrades.yaml")
SOFTWARE: Final = MappingProxyType({name: Software(**row) for name, row in _DOCUMENT["software"].items()})
SHAPES: Final = tuple(Shape(**row) for row in _DOCUMENT["shapes"])
PAIRS: Final[Sequence[Mapping[str, str]]] = _DOCUMENT["pairs"]
RULES: Final[Mapping[str, Mapping[str, Any]]] = _DOCUMENT["rules"]
