"""Words of a command line: what they mean, and what is refused with which mend."""

from typing import Any

import pytest

from slipway.fit.request import Shape, amount, workload
from spec.settings.problems import ConfigurationError

SHAPE: dict[str, Any] = {"layers": 32, "hidden": 4096, "heads": 32, "vocab": 32000}
WORK: dict[str, Any] = {"mode": "train", "precision": "bf16", "batch": 1, "seq": 1024}

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "nothing said": ({}, {}, "--params: or --model says what runs"),
    "no number": ({"params": "seven"}, {}, "--params: is a number (given: 'seven')"),
    "zero parameters": ({"params": "0"}, {}, "--params: is above zero"),
    "negative parameters": ({"params": "-7e9"}, {}, "--params: is above zero"),
    "no model near": ({"params": "2e12"}, {}, "Give the shape"),
    "unknown model": ({"model": "lama-2-7b"}, {}, "Did you mean llama-2-7b?"),
    "a size of a named model": ({"model": "llama-2-7b", "layers": 3}, {}, "--layers: is said by --model"),
    "a named model of other size": ({"model": "llama-2-7b", "params": "13e9"}, {}, "--params: is what the shape has"),
    "half a shape": ({"layers": 32}, {}, "--hidden: is given where the shape is"),
    "a shape of other size": ({"params": "70B", **SHAPE}, {}, "--params: is what the shape has, within 20%"),
    "heads that divide nothing": ({**SHAPE, "heads": 33}, {}, "--heads: divides --hidden (4096)"),
    "key heads that divide nothing": ({**SHAPE, "kv_heads": 5}, {}, "--kv-heads: divides --heads (32)"),
    "no layer": ({**SHAPE, "layers": 0, "params": "7B"}, {}, "--layers: is at least 1"),
    "a negative width": ({**SHAPE, "hidden": -1, "params": "7B"}, {}, "--hidden: is at least 1"),
    "no batch": ({"params": "7B"}, {"batch": 0}, "--batch: lies between 1 and 65536 (given: 0)"),
    "no token": ({"params": "7B"}, {"seq": -5}, "--seq: lies between 1 and"),
    "more tokens than the model's": ({"model": "llama-2-7b"}, {"seq": 8192}, "--seq: lies between 1 and 4096"),
    "more tokens than any model's": (SHAPE, {"seq": 2**40}, "--seq: lies between 1 and 10485760"),
    "unknown precision": ({"params": "7B"}, {"precision": "bf17"}, "--precision: is one that is known (given: 'bf17')"),
    "unknown mode": ({"params": "7B"}, {"mode": "dream"}, "Write one of train, serve"),
    "unknown optimizer": ({"params": "7B"}, {"optimizer": "adam"}, "Write one of adamw"),
    "unknown checkpointing": ({"params": "7B"}, {"checkpointing": "some"}, "Write one of none, selective, full"),
    "unknown loss": ({"params": "7B"}, {"loss": "half"}, "Write one of whole, chunked"),
    "a fourth stage": ({"params": "7B"}, {"zero": 4}, "--zero: lies between 0 and 3"),
    "a negative rank": ({"params": "7B"}, {"lora": -1}, "--lora: lies between 0 and 4096"),
    "training of 4-bit weights": ({"params": "7B"}, {"precision": "int4"}, "Add --lora RANK"),
    "adapters on two copies": ({"params": "7B"}, {"precision": "amp-bf16", "lora": 8}, "keeps one copy"),
    "served under autocast": ({"params": "7B"}, {"mode": "serve", "precision": "amp-fp16"}, "a model is served"),
    "served adapters": ({"params": "7B"}, {"mode": "serve", "lora": 8}, "--lora: is for --mode train"),
    "served shards": ({"params": "7B"}, {"mode": "serve", "zero": 3}, "--zero: is for --mode train"),
}


@pytest.mark.parametrize(("shape", "options", "text"), REFUSED.values(), ids=list(REFUSED))
def test_what_can_not_be_is_refused_with_path_rule_value_and_mend(
    shape: dict[str, Any], options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        workload(Shape(**shape), **{**WORK, **options})
    assert text in str(refused.value)
    assert all(problem.fix for problem in refused.value.problems)


def test_everything_wrong_is_in_one_report() -> None:
    with pytest.raises(ConfigurationError) as refused:
        workload(Shape(params="7B"), mode="dream", precision="bf17", batch=0, seq=0)
    assert {problem.path for problem in refused.value.problems} == {"--mode", "--precision", "--batch", "--seq"}


@pytest.mark.parametrize(
    ("text", "number"),
    [("7e9", 7e9), ("7B", 7e9), ("0.5b", 5e8), ("6_738_415_616", 6738415616), ("1T", 1e12), ("x", None), ("7 B", None)],
)
def test_amounts_are_read_as_people_write_them(text: str, number: float | None) -> None:
    assert amount(text) == number


def test_parameters_alone_take_the_shape_of_the_nearest_model_and_say_so() -> None:
    model = workload(Shape(params="8B"), **WORK).model
    assert (model.name, model.layers, model.params) == ("a model like llama-3.1-8b", 32, 8e9)


def test_a_shape_needs_no_parameters_and_fills_in_a_gpts_sizes() -> None:
    model = workload(Shape(**SHAPE), **WORK).model
    assert (model.kv_heads, model.ffn, model.params) == (32, 16384, float(model.counted))
