from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.sandbox.rpc import paths

TEXTS = [
    ("scalingConfig.desiredSize", ("scalingConfig", "desiredSize")),
    ('tags["kubernetes.io/role/elb"]', ("tags", "kubernetes.io/role/elb")),
    ("rules[0].id", ("rules", 0, "id")),
    ('a["x\\"y"]', ("a", 'x"y')),
]


@pytest.mark.parametrize(("text", "path"), TEXTS)
def test_a_path_is_read_and_written_as_pulumi_does(text: str, path: paths.Path) -> None:
    assert paths.parse(text) == path
    assert paths.write(path) == text


@given(st.lists(st.one_of(st.text(min_size=1), st.integers(0, 99)), min_size=1).filter(lambda p: isinstance(p[0], str)))
def test_any_path_is_unchanged_after_writing_and_parsing(parts: list[str | int]) -> None:
    assert paths.parse(paths.write(tuple(parts))) == tuple(parts)


@pytest.mark.parametrize(
    ("pattern", "path", "is_ignored"),
    [
        ("scalingConfig.desiredSize", ("scalingConfig", "desiredSize"), True),
        ("scalingConfig", ("scalingConfig", "desiredSize"), True),
        ("scalingConfig.desiredSize", ("scalingConfig",), False),
        ("scalingConfig.desiredSize", ("scalingConfig", "maxSize"), False),
        ("rules[*].id", ("rules", 3, "id"), True),
        ("*", ("anything",), True),
        ("[broken", ("broken",), False),
    ],
)
def test_ignore_changes_covers_everything_below_a_path(pattern: str, path: paths.Path, is_ignored: bool) -> None:
    assert paths.ignored(path, [pattern]) is is_ignored


def test_a_text_that_is_not_a_path_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be read from '\\[x\\]' on"):
        paths.parse("a[x]")


def test_a_path_can_be_written_without_indexes() -> None:
    assert paths.without_indexes(("ingress", 0, "fromPort")) == "ingress.fromPort"
