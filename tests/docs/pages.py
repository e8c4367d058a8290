"""The Markdown pages of the repository: their links, headings and code."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_LANGUAGE: Final = re.compile(r"^\s*(```|~~~)\w")
_LINK: Final = re.compile(r"\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)")
_SPAN: Final = re.compile(r"`([^`]+)`")


@cache
def pages() -> tuple[Path, ...]:
    """Every Markdown page that git tracks or doesn't ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(sorted(ROOT / name for name in names if (ROOT / name).is_file()))


def links(text: str) -> Iterator[str]:
    """Targets of a page's links, outside of code."""
    for paragraph in prose(text).split("\n\n"):
        yield from _LINK.findall(_SPAN.sub("", paragraph.replace("\n", " ")))


def prose(text: str) -> str:
    """The page without its fenced and indented blocks of code."""
    return "\n".join(line for line, is_code in lines(text) if not is_code)


def code(text: str) -> Iterator[str]:
    """Lines of code blocks, and spans of code in the prose."""
    for line, is_code in lines(text):
        if is_code:
            yield line.strip()
    # A span may be wrapped at a space.
    for paragraph in prose(text).split("\n\n"):
        yield from (" ".join(span.split()) for span in _SPAN.findall(paragraph.replace("\n", " ")))


def unlabelled(text: str) -> Iterator[str]:
    """First lines of the blocks of code that name no language; GitHub and the website colour a block by it."""
    fenced = False
    before = ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            if fenced and not _LANGUAGE.match(line):
                yield line
        elif not fenced and line.startswith("    ") and not before.strip():
            yield line
        before = line


def anchors(text: str) -> frozenset[str]:
    """Anchors of the headings, as GitHub generates them."""
    slugs: set[str] = set()
    for line in prose(text).splitlines():
        if match := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = 0
            unique = slug
            while unique in slugs:
                count += 1
                unique = f"{slug}-{count}"
            slugs.add(unique)
    return frozenset(slugs)


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines of a page, and whether they are code."""
    fenced = indented = False
    before = ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            yield "", True
        elif fenced:
            yield line, True
        else:
            # Four spaces are code after an empty line, but may continue a list.
            indented = line.startswith("    ") and (indented or not before.strip())
            yield line, indented
        before = line
