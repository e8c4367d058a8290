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
    oldest: Mapping[str, str] = field(default_factory=dict)
    behind: int | None = None
    releases: Sequence[str] = ()

    def unsupported(self, version: str, kubernetes: str) -> str:
        """What a version of Kubernetes needs of it; empty if this version has that."""
        if self.behind is not None:
            skew = numbers(kubernetes)[1] - numbers(version)[1]
            low = numbers(kubernetes)[1] - self.behind
            return "" if 0 <= skew <= self.behind else f"1.{low}{f' to {kubernetes}' if self.behind else ''}"
        least = [one for since, one in self.kubernetes.items() if reached(since, kubernetes)]
        if least and numbers(version) < numbers(least[-1]):
            return f"{least[-1]} or newer"
        newest = [one for since, one in self.oldest.items() if at_least(version, since)]
        return "" if not newest or reached(newest[-1], kubernetes) else f"older than {next(iter(self.oldest))}"

    def skipped(self, before: str, after: str) -> list[str]:
        """Releases between two versions that an upgrade may not skip."""
        return [] if not self.releases else [
            one for one, newer in pairwise(self.releases)
            if numbers(before) < numbers(one) and at_least(after, newer) and not at_least(before, one)
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Software that needs a version of another."""

    of: str
    since: str
    needs: str
    least: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What objects must not have, from a version on."""

    rule: str
    text: str
    fix: str
    source: str
    kubernetes: str = ""
    software: str = ""
    since: str = ""
    kinds: Sequence[str] = ()
    paths: Sequence[str] = ()
    matches: str = ""
    unless: str = ""
    excepted: Sequence[str] = ()

    def found(self, value: Any) -> bool:
        """Whether an object, or the spec of a pod, has it."""
        found = (one for path in self.paths for one in _values(value, path))
        return any(re.search(self.matches, str(one)) if self.matches else one not in (None, "") for one in found)


def at_least(version: str, other: str) -> bool:
    """Whether a version is another one, or newer."""
    return numbers(version) >= numbers(other)


def recognized(image: str) -> tuple[str, str] | None:
    """The software of an image, and its version; None if the file has none of that name, or the tag is no version."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    version = _VERSION.match(tag)
    for key, row in SOFTWARE.items():
        if version and any(name == end or name.endswith(f"/{end}") for end in row.images):
            return key, version[0].removeprefix("v")
    return None


def _values(value: Any, path: str) -> Iterator[Any]:
    """What is at a path, such as `subjects[].name`."""
    key, _, rest = path.partition(".")
    inner = value.get(key.removesuffix("[]")) if isinstance(value, Mapping) else None
    for one in (inner or ()) if key.endswith("[]") else (inner,):
        if rest:
            yield from _values(one, rest)
        elif one is not None:
            yield one


_DOCUMENT: Final = load("upgrades.yaml")
SOFTWARE: Final[Mapping[str, Software]] = MappingProxyType(
    {name: Software(**row) for name, row in _DOCUMENT["software"].items()}
)
PAIRS: Final = tuple(Pair(**row) for row in _DOCUMENT["pairs"])
SHAPES: Final = tuple(
    Shape(**{{"except": "excepted"}.get(key, key): value for key, value in row.items()}) for row in _DOCUMENT["shapes"]
)
