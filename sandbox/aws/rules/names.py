"""Rules for names and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox.aws.rules.rule import TABLES, Case, Rule, rule
from sandbox.aws.shapes import normal, pair_names
from spec.catalog import names


def _limit(on: str, code: str, at: str, kind: str) -> Rule:
    def name_limit(case: Case) -> str | None:
        """Length and characters of the name."""
        name = case.given.get(at)
        # The names of FIFO queues and topics end in .fifo, which the limit does not know.
        return None if not name else names.problem(kind, str(name).removesuffix(".fifo"))

    return rule(on, code, at, names.limit(kind).origin)(name_limit)


LIMITS = tuple(_limit(*one) for one in TABLES["names"])


# Tags, the resource's own together with the provider's default tags, as they are sent (Tag Editor User Guide,
# tagging.html, "Tag naming limits and requirements", read 2026-11).

MAXIMUM, KEY_LENGTH, VALUE_LENGTH = 50, 128, 256
RESERVED = "aws:"
_TAGS: Final = ("tag", "tagset", "taglist")


def wrong_tags(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the tags of a request: what codes.yaml calls it, and AWS's message."""
    for tags in _tags(parameters):
        if len(tags) > MAXIMUM:
            yield "tags", f"The maximum number of tags is {MAXIMUM}, got {len(tags)}"
        for key, value in tags.items():
            if key.lower().startswith(RESERVED):
                yield "tag", f"Tag keys starting with 'aws:' are reserved for internal use: {key}"
            if not 1 <= len(key) <= KEY_LENGTH:
                yield "tag", f"Tag key exceeds the maximum length of {KEY_LENGTH} characters: {key[:40]}..."
            if len(value) > VALUE_LENGTH:
                yield "tag", f"Tag value exceeds the maximum length of {VALUE_LENGTH} characters: that of {key}"


def _tags(value: Any) -> Iterator[dict[str, str]]:
    """The tags of each object of a request: a map, or a list of keys and values, at any depth."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        given = inner if normal(name) in _TAGS else None
        if isinstance(given, list) and given and isinstance(given[0], Mapping) and (pair := pair_names(given[0])):
            yield {str(one[pair[0]]): str(one.get(pair[1]) or "") for one in given}
        elif isinstance(given, Mapping) and all(isinstance(one, str) for one in given.values()):
            yield dict(given)
        else:
            yield from _tags(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _tags(inner)
