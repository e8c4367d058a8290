"""Property paths as Pulumi writes them: `scalingConfig.desiredSize`, `tags["kubernetes.io/role/elb"]`, `rules[*].id`.

The engine sends them in ignoreChanges and receives them in detailed diffs. Here a path is a tuple of map keys (str) and
indexes (int).
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
    """The path of a text. Raises ValueError if the text is not a property path."""
    path: list[str | int] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            msg = f"{text!r} is not a property path: it can't be read from {text[at:]!r} on"
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
    """Whether the path matches the pattern or is below it; `*` in the pattern matches any one part."""
    if len(pattern) > len(path):
        return False
    return all(want in (WILDCARD, part) for want, part in zip(pattern, path, strict=False))


def without_indexes(path: Path) -> str:
    """`ingress[0].fromPort` -> `ingress.fromPort`: a property's name in schemas and tables."""
    return ".".join(part for part in path if isinstance(part, str))


def ignored(path: Path, ignore_changes: Iterable[str]) -> bool:
    """Whether ignoreChanges covers the path. Texts that aren't paths are ignored, as in the engine."""
    for text in ignore_changes:
        try:
            pattern = parse(text)
        except ValueError:
            continue
        if covers(pattern, path):
            return True
    return False
