from __future__ import annotations

import pytest

from slipway.sandbox.nodes.requirements import matches, values

LABELS = {"family": "p5", "cpu": "192"}


@pytest.mark.parametrize(
    ("operator", "allowed", "expected"),
    [
        ("In", ["p4d", "p5"], True),
        ("In", ["p4d"], False),
        ("NotIn", ["p4d"], True),
        ("NotIn", ["p5"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_operators_on_a_label(operator: str, allowed: list[str], expected: bool) -> None:
    requirement = [{"key": "family", "operator": operator, "values": allowed}]
    assert matches(LABELS, requirement) is expected


@pytest.mark.parametrize(
    ("operator", "bound", "expected"),
    [
        ("Gt", "191", True), ("Gt", "192", False), ("Gte", "192", True), ("Lt", "193", True), ("Lt", "192", False),
        ("Lte", "192", True), ("Gt", "many", False), ("Near", "192", False),
    ],
)  # fmt: skip
def test_operators_on_a_number(operator: str, bound: str, expected: bool) -> None:
    assert matches(LABELS, [{"key": "cpu", "operator": operator, "values": [bound]}]) is expected


def test_a_missing_key_meets_only_negative_operators() -> None:
    assert not matches(LABELS, [{"key": "team", "operator": "In", "values": ["research"]}])
    assert matches(LABELS, [{"key": "team", "operator": "NotIn", "values": ["research"]}])
    assert matches(LABELS, [{"key": "team", "operator": "DoesNotExist"}])


def test_values_come_from_in_requirements_in_their_order() -> None:
    requirements = [
        {"key": "zone", "operator": "In", "values": ["b", "a"]},
        {"key": "zone", "operator": "NotIn", "values": ["c"]},
    ]
    assert values(requirements, "zone") == ("b", "a")
    assert values(requirements, "other") == ()
