"""For any input, loading returns settings or a report, and never a traceback."""

import math
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec.settings import ConfigurationError, Loaded, load, read_stack, schema
from spec.settings.load import plain_map
from spec.settings.platform import Platform
from spec.settings.presets import PRESETS
from tests.spec.settings.stack import BASE, changed
from tests.support.day import TODAY


def paths(value: Any, above: str = "") -> list[str]:
    if not isinstance(value, dict):
        return []
    here = {key: f"{above}.{key}" if above else key for key in value}
    return [*here.values(), *(path for key, inner in value.items() for path in paths(inner, here[key]))]


def spellings(model: Any) -> set[str]:
    keys_of_models: set[str] = set()
    for definition in model.model_json_schema()["$defs"].values():
        keys_of_models |= set(definition.get("properties", ()))
    return keys_of_models


VALIDATOR = jsonschema.Draft202012Validator(schema.generate())
KEYS = sorted(spellings(Platform) | set(Platform.model_json_schema()["properties"]) | set(PRESETS))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        ["0.0.0.0/0", "10.0.0.0/16", "us-east-1a", "1.35", "m7i.large", "g6.xlarge", "all-balanced", "spot", "CHANGEME"]
    ),
    st.dates(),
    st.binary(max_size=4),
)
keys = st.one_of(st.sampled_from(KEYS), st.text(max_size=8), st.integers(-3, 3), st.none(), st.booleans(), st.dates())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=20,
)


def outcome(data: object) -> Loaded | ConfigurationError:
    try:
        return load(data, stack="test", today=TODAY)
    except ConfigurationError as caught:
        error = caught
    assert error.problems
    assert all(problem.path and problem.rule and problem.fix for problem in error.problems)
    str(error).encode("utf-8")
    return error


@given(values)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_value_gives_settings_or_a_report(data: object) -> None:
    outcome(data)


@given(st.dictionaries(st.sampled_from(paths(BASE)), values, min_size=1, max_size=3))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_valid_stack_with_any_values_in_it_gives_settings_or_a_report(changes: dict[str, Any]) -> None:
    try:
        data = changed(changes)
    except (TypeError, KeyError, AttributeError):
        return  # one change removed the parent of another
    if isinstance(outcome(data), Loaded):
        document = {"config": {"slipway:platform": plain_map(data)}}
        assert [error.message for error in VALIDATOR.iter_errors(document)] == [], (
            "an editor would reject a file that loads"
        )


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_in_a_file_gives_settings_or_a_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text(f"config:\n  slipway:platform:\n    {text}", encoding="utf-8")
    try:
        data = read_stack("test", tmp_path)
    except ConfigurationError as error:
        str(error).encode("utf-8")
    else:
        outcome(data)


@pytest.mark.parametrize(
    "path", ["environment.owner", "pools.cpu.max", "network.cidr", "pools.cpu", "pools", "network.zones"]
)
def test_odd_values_anywhere_are_reported(path: str) -> None:
    for value in (math.nan, math.inf, date(2026, 1, 1), b"x", (), {1}, object(), "\ud800", 10**30):
        assert isinstance(outcome(changed({path: value})), ConfigurationError) or isinstance(value, date), repr(value)


def test_excessive_nesting_is_reported() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(outcome({**BASE, "network": deep}), ConfigurationError)
