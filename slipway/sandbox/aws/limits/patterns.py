"""The regular expressions of AWS's models: Java's dialect, matched against the whole text.

The models leave anchors out or write only the first (`EKS ClusterName`: `^[0-9A-Za-z][A-Za-z0-9\\-_]*`), and their
services match the whole value nevertheless (java.util.regex `Matcher.matches`). The package `regex` knows the Unicode
classes that Python's `re` lacks (`\\p{L}`).
"""

from __future__ import annotations

import functools

import regex

_ASTRAL = r"\uD800\uDC00-\uDBFF\uDFFF"
"""Java writes the characters beyond U+FFFF as a range of surrogate pairs, which Python does not have."""


_TIMEOUT_SECONDS = 0.2
"""Some patterns repeat a repetition (`(.*[\\n\\r]?)*` of budgets), and could take for ever."""


@functools.cache
def compiled(pattern: str) -> regex.Pattern[str]:
    """The expression in Python's dialect. Raises regex.error if it is none."""
    return regex.compile(pattern.replace(_ASTRAL, r"\U00010000-\U0010FFFF"))


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text matches; a pattern that takes too long to say no is counted as a match."""
    try:
        return compiled(pattern).fullmatch(text, timeout=_TIMEOUT_SECONDS) is not None
    except TimeoutError:
        return True
