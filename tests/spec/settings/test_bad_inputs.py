"""Every bad input is refused with path, rule and fix, and with no other problem."""

from __future__ import annotations

import pytest

from tests.spec.settings.bad import NOT_GIVEN, ROWS
from tests.spec.settings.stack import BASE, STACK, changed, loaded, problems

SECTIONS = sorted({row.path.partition(".")[0] for row in ROWS})


def test_the_base_stack_is_valid_and_has_no_warnings() -> None:
    assert problems(BASE) == ()
    assert loaded({}).warnings == ()


def test_every_number_is_tested_or_explained() -> None:
    tested = {row.number for row in ROWS}
    assert tested.isdisjoint(NOT_GIVEN)
    assert tested | set(NOT_GIVEN) == set(range(1, 65))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_bad_input_is_refused_with_path_rule_and_fix(section: str) -> None:
    for row in ROWS:
        if row.path.partition(".")[0] != section:
            continue
        reported = problems(changed(row.changes), stack=str(row.changes.get("environment.name", STACK)))
        report = "\n".join([str(row), *map(str, reported)])
        assert [problem.path for problem in reported] == [row.path], report
        assert row.rule in reported[0].rule, report
        assert row.fix in reported[0].fix, report
        assert "See stacks/schema.json" not in reported[0].fix, report
