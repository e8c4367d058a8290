from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.helm.values import merged, schema_problems
from sandbox.kubernetes.validation import PLACEHOLDER
from tests.sandbox.kubernetes.helm.charts import chart_at, write_chart

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["replicas"],
    "additionalProperties": False,
    "properties": {
        "replicas": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["fast", "safe"]},
        "nested": {"type": "object", "additionalProperties": False, "properties": {"depth": {"type": "integer"}}},
    },
}
VALUES = "replicas: 1\nnested: {depth: 1}\n"


@pytest.mark.parametrize(
    ("values", "start"),
    [
        ({"replicas": 0}, "values.replicas: chart widget 1.2.3 refuses it: 0 is less than the minimum"),
        ({"mode": "slow"}, "values.mode: chart widget 1.2.3 refuses it: 'slow' is not one of"),
        ({"replicas": None}, "values: chart widget 1.2.3 refuses it: 'replicas' is a required property"),
        ({"nested": {"deepth": 2}}, "values.nested: chart widget 1.2.3 refuses it: Additional properties"),
    ],
)
def test_a_violation_of_the_schema_is_reported_by_path(tmp_path: Path, values: dict[str, Any], start: str) -> None:
    (found,) = schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), values)
    assert found.startswith(start)


def test_a_key_that_is_not_allowed_is_reported_with_a_suggestion(tmp_path: Path) -> None:
    (found,) = schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), {"nested": {"deepth": 2}})
    assert found.endswith('did you mean "depth"?')


@pytest.mark.parametrize("values", [{}, {"mode": "safe"}, {"mode": PLACEHOLDER}, {"replicas": PLACEHOLDER}])
def test_valid_and_unknown_values_are_accepted(tmp_path: Path, values: dict[str, Any]) -> None:
    assert schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), values) == []


def test_a_chart_without_a_schema_refuses_nothing(tmp_path: Path) -> None:
    assert schema_problems(chart_at(write_chart(tmp_path)), {"anything": 1}) == []


@pytest.mark.parametrize(
    ("defaults", "values", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"x": 1, "y": 3}}),
        ({"a": [1]}, {"a": []}, {"a": []}),
        ({"a": 1}, {"a": None}, {}),
        ({"a": None}, {}, {"a": None}),
        ({"a": {"x": 1}}, {"a": 2}, {"a": 2}),
    ],
)
def test_values_are_merged_like_helm(
    defaults: dict[str, Any], values: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert merged(defaults, values) == expected
