"""Pages as GitHub renders them, rewritten for Python-Markdown, which MkDocs uses.

What differs: Python-Markdown wants everything below an item of a list indented by four characters, and shows the
backslash of a `\\|` in a table's code.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_ITEM: Final = re.compile(r"^(\s*)([-*]|\d+\.)(\s+)(?=\S)")
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*([^)\s]+)\s*\)")
_SPAN: Final = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_INDENT: Final = 4


def rewrite(page: str, link: Callable[[str], str | None]) -> str:
    """A page with the links that `link` gives for its own; of one without a target only the text remains."""
    return "\n".join(_indented(_linked(page, link).splitlines())) + "\n"


def title(page: str) -> str:
    """The first heading, without marks of code."""
    found = re.search(r"^# (.+)$", page, re.M)
    return found[1].replace("`", "") if found else ""


def _linked(page: str, link: Callable[[str], str | None]) -> str:
    """Links outside of code; a link may be wrapped over lines, never over paragraphs."""
    parts = re.split(r"(\n{2,})", page)
    fenced = False
    for index, paragraph in enumerate(parts):
        fences = len(re.findall(r"^\s*(?:```|~~~)", paragraph, re.M))
        if not fenced and not fences and not _is_code(paragraph):
            parts[index] = _outside_code(paragraph, lambda text: _LINK.sub(lambda one: _replaced(one, link), text))
        fenced ^= bool(fences % 2)
    return "".join(parts)


def _is_code(paragraph: str) -> bool:
    return all(line.startswith("    ") for line in paragraph.splitlines() if line.strip())


def _outside_code(paragraph: str, change: Callable[[str], str]) -> str:
    """Change a text, with its spans of code left as they are, even inside the text of a link."""
    spans: list[str] = []

    def hide(span: re.Match[str]) -> str:
        spans.append(span[0])
        return f"\x00{len(spans) - 1}\x00"

    changed = change(_SPAN.sub(hide, paragraph))
    return re.sub(r"\x00(\d+)\x00", lambda mark: _cell(spans[int(mark[1])]), changed)


def _cell(span: str) -> str:
    return span.replace(r"\|", "|")


def _replaced(found: re.Match[str], link: Callable[[str], str | None]) -> str:
    mark, text, target = found.groups()
    new = link(target)
    return text if new is None else f"{mark}[{text}]({new})"


def _indented(lines: list[str]) -> Iterator[str]:
    """Lines with the contents of lists indented by multiples of four."""
    stack: list[tuple[int, int]] = []  # columns at which the contents of the open items begin: here, and on the site
    fenced = False
    for line in lines:
        if not line.strip():
            yield line
            continue
        column = len(line) - len(line.lstrip())
        while stack and column < stack[-1][0] and not fenced:
            stack.pop()
        here, there = stack[-1] if stack else (0, 0)
        yield " " * max(0, there + column - here) + line.lstrip()
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (item := _ITEM.match(line)) and column - here < _INDENT:
            stack.append((item.end(), there + column - here + _INDENT))
