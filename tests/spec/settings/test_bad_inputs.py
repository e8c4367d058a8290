"""Every bad input is refused with path, rule and fix, and with no other problem."""

from typing import Any, Final

import pytest

from tests.spec.settings.bad import NOT_GIVEN, ROWS, Bad
from tests.spec.settings.stack import BASE, STACK, changed, loaded, problems

SECTIONS = sorted({row.path.partition(".")[0] for row in ROWS})
OTHER_VALUES: Final = {
    "access key": "(not shown)",
    "model hub token": "(not shown)",
    # What decides is no value of the file.
    "too few addresses for all nodes": "507 addresses",
    "EFA on a type without": ["g6.xlarge"],
    "images unpacked in parallel on a slow disk": 125,
}
"""Values that are reported although the file has others at that place."""


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


def value_at(data: Any, path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    for part in path.split("."):
        if isinstance(data, list):
            data = data[int(part)]
        elif isinstance(data, dict) and part in data:
            data = data[part]
        else:
            return None
    return data


def reported(row: Bad) -> Any:
    return problems(changed(row.changes), stack=str(row.changes.get("environment.name", STACK)))[0].value


def test_what_is_reported_is_the_value_of_the_file_or_the_key_that_is_wrong() -> None:
    named = {row.what for row in ROWS}
    assert OTHER_VALUES.keys() <= named
    for row in ROWS:
        given = value_at(changed(row.changes), row.path)
        if row.what in OTHER_VALUES:
            assert reported(row) == OTHER_VALUES[row.what], row
        elif given is not None and not isinstance(given, dict | list):
            value = reported(row)
            # A network is reported as a value of its type.
            assert value == given or str(value) in (str(given), row.path.rpartition(".")[2]), row
