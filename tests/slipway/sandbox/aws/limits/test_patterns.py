from __future__ import annotations

import pytest

from slipway.sandbox.aws.limits import patterns

JAVA_TEXT = "[\\u0009\\u000A\\u000D\\u0020-\\uD7FF\\\x75E000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF]*"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc d", False),
        ("^[0-9A-Za-z][A-Za-z0-9\\-_]*", "main cluster", False),
        ("([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)", "größe: 1", True),
        ("([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)", "a*b", False),
        (JAVA_TEXT, "a😀\n", True),
        (JAVA_TEXT, "a\x00", False),
    ],
)
def test_a_pattern_is_compared_with_the_whole_text(pattern: str, text: str, expected: bool) -> None:
    assert patterns.matches(pattern, text) is expected
