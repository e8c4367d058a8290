"""Options of the command line: how they are read, and which are refused with which fix."""

from pathlib import Path
from typing import Any

import pytest

from slipway.fit.request import Shape, amount, workload
from spec.settings.problems import ConfigurationError
from spec.strict_yaml import read

WORK: dict[str, Any] = {"mode": "train", "precision": "bf16", "batch": 1, "seq": 1024}

REFUSED = read(Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["what"]) for row in REFUSED])
def test_invalid_options_are_refused_with_path_rule_value_and_fix(row: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        workload(Shape(**row.get("shape", {})), **{**WORK, **row.get("options", {})})
    assert row["says"] in str(refused.value)
    assert all(problem.fix for problem in refused.value.problems)


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        workload(Shape(params="7B"), mode="dream", precision="bf17", batch=0, seq=0)
    assert {problem.path for problem in refused.value.problems} == {"--mode", "--precision", "--batch", "--seq"}


@pytest.mark.parametrize(
    ("text", "number"),
    [("7e9", 7e9), ("7B", 7e9), ("0.5b", 5e8), ("6_738_415_616", 6738415616), ("1T", 1e12), ("x", None), ("7 B", None)],
)
def test_common_notations_of_numbers_are_accepted(text: str, number: float | None) -> None:
    assert amount(text) == number


def test_a_number_of_parameters_uses_the_shape_of_the_nearest_model() -> None:
    model = workload(Shape(params="8B"), **WORK).model
    assert (model.name, model.depth, model.params) == ("a model like llama-3.1-8b", 32, 8e9)


@pytest.mark.parametrize("params", ["110e6", "66M", "1e6"])
def test_a_number_below_every_published_model_has_the_shape_of_the_smallest(params: str) -> None:
    model = workload(Shape(params=params), **{**WORK, "seq": 128}).model
    assert model.name in ("a model like bert-base", "at most a model like bert-base")
    assert model.params == pytest.approx(110e6, rel=0.03)


def test_frozen_weights_have_the_format_of_the_checkpoint_and_trained_ones_are_bf16() -> None:
    def chosen(**options: Any) -> str:
        given = {name: value for name, value in WORK.items() if name != "precision"}
        return workload(Shape(model="deepseek-v3"), **{**given, **options}).precision

    assert (chosen(mode="serve"), chosen(lora=8), chosen()) == ("checkpoint", "checkpoint", "bf16")
    assert chosen(mode="serve", precision="int4") == "int4"
