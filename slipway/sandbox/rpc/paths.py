"""Property paths as Pulumi writes them: `scalingConfig.desiredSize`, `tags["kubernetes.io/role/elb"]`, `rules[*].id`.

They arrive in ignoreChanges and leave in detailed diffs. Here a path is a tuple of map keys (str) and indexes (int).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_TOKEN = re.compile(r"""\.?([^.\[\]"]+)|\[(\d+|\*)\]|\["((?:[^"\\]|\\.)*)"\]""")
_PLAIN_KEY = re.compile(r"[^.\[\]\"]+")
WILDCARD = "*"


def parse(text: str) -> Path:
    """The path a text means. Raises ValueError for a text that is none."""
    path: list[str | int] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            msg = f"{text!r} is not a property path: cannot read on from {text[at:]!r}"
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
    """Whether the path is the pattern's or lies below it; `*` in the pattern stands for any one part."""
    if len(pattern) > len(path):
        return False
    return all(want in (WILDCARD, part) for want, part in zip(pattern, path, strict=False))


def without_indexes(path: Path) -> str:
    """`ingress[0].fromPort` -> `ingress.fromPort`: the name by which schemas and tables know a property."""
    return ".".join(part for part in path if isinstance(part, str))


def ignored(path: Path, ignore_changes: Iterable[str]) -> bool:
    """Whether ignoreChanges covers the path. Texts that are no paths cover nothing, as in the engine."""
    for text in ignore_changes:
        try:
            pattern = parse(text)
        except ValueError:
            continue
        if covers(pattern, path):
            return True
    return False
