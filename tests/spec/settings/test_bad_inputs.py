"""Every bad input is refused with where, what and how to mend it, and with nothing else."""

from __future__ import annotations

import pytest

from tests.spec.settings.bad import NOT_GIVEN, ROWS
from tests.spec.settings.stack import BASE, STACK, changed, loaded, problems

SECTIONS = sorted({row.path.partition(".")[0] for row in ROWS})


def test_the_base_stack_is_valid_and_warns_of_nothing() -> None:
    assert problems(BASE) == ()
    assert loaded({}).warnings == ()


def test_every_number_is_tested_or_explained() -> None:
    tested = {row.number for row in ROWS}
    assert tested.isdisjoint(NOT_GIVEN)
    assert tested | set(NOT_GIVEN) == set(range(1, 65))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_bad_input_is_refused_by_path_rule_and_mend(section: str) -> None:
    for row in ROWS:
        if row.path.partition(".")[0] != section:
            continue
        found = problems(changed(row.changes), stack=str(row.changes.get("environment.name", STACK)))
        said = "\n".join([str(row), *map(str, found)])
        assert [problem.path for problem in found] == [row.path], said
        assert row.rule in found[0].rule, said
        assert row.fix in found[0].fix, said
        assert "Give a value that the rule allows" not in found[0].fix, said
