"""Options of the command line: how they are read, and which are refused with which fix."""

from typing import Any

import pytest

from slipway.fit.layers import Attention
from slipway.fit.request import Shape, amount, workload
from spec.settings.problems import ConfigurationError

SHAPE: dict[str, Any] = {"layers": 32, "hidden": 4096, "heads": 32, "vocab": 32000}
WORK: dict[str, Any] = {"mode": "train", "precision": "bf16", "batch": 1, "seq": 1024}

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no model": ({}, {}, "--params: or --model or --config is required"),
    "not a number": ({"params": "seven"}, {}, "--params: must be a number (given: 'seven')"),
    "zero parameters": ({"params": "0"}, {}, "--params: must be above zero"),
    "negative parameters": ({"params": "-7e9"}, {}, "--params: must be above zero"),
    "no similar model": ({"params": "2e12"}, {}, "Give the shape"),
    "unknown model": ({"model": "lama-2-7b"}, {}, "Did you mean llama-2-7b or "),
    "a model far from any name": ({"model": "nosuch"}, {}, "--model: must be a model of the catalog (given: 'nosuch')"),
    "a model and a file": ({"model": "llama-2-7b", "config": "x"}, {}, "--config: can't be combined with --model"),
    "a file that doesn't exist": ({"config": "/nowhere"}, {}, "--config: must be an existing file (given: '/nowhere')"),
    "a layer count of a named model": (
        {"model": "llama-2-7b", "layers": 3},
        {},
        "--layers: can't be combined with --model",
    ),
    "a named model of another size": ({"model": "llama-2-7b", "params": "13e9"}, {}, "--params: must match the shape"),
    "an incomplete shape": ({"layers": 32}, {}, "--hidden: is required for a shape"),
    "a shape of another size": ({"params": "70B", **SHAPE}, {}, "--params: must match the shape within 20%"),
    "heads that do not divide the width": ({**SHAPE, "heads": 33}, {}, "--heads: must divide --hidden (4096)"),
    "key-value heads that do not divide the heads": (
        {**SHAPE, "kv_heads": 5},
        {},
        "--kv-heads: must divide --heads (32)",
    ),
    "no layers": ({**SHAPE, "layers": 0, "params": "7B"}, {}, "--layers: must be at least 1"),
    "a negative width": ({**SHAPE, "hidden": -1, "params": "7B"}, {}, "--hidden: must be at least 1"),
    "an empty batch": ({"params": "7B"}, {"batch": 0}, "--batch: must be between 1 and 65536 (given: 0)"),
    "a negative sequence length": ({"params": "7B"}, {"seq": -5}, "Use the tokens of a prompt and its answer"),
    "no sequence length": ({"params": "7B"}, {"seq": None}, "--seq: is required"),
    "more tokens than the model's context": (
        {"model": "llama-2-7b"},
        {"seq": 8192},
        "Use at most 4,096: the model's context",
    ),
    "more tokens than any model's context": (SHAPE, {"seq": 2**40}, "--seq: must be between 1 and 10485760"),
    "unknown precision": (
        {"params": "7B"},
        {"precision": "bf17"},
        "--precision: must be a known value (given: 'bf17')",
    ),
    "unknown mode": ({"params": "7B"}, {"mode": "dream"}, "Use one of train, serve"),
    "unknown optimizer": ({"params": "7B"}, {"optimizer": "adam"}, "Use one of adamw"),
    "unknown checkpointing": ({"params": "7B"}, {"checkpointing": "some"}, "Use one of none, selective, full"),
    "unknown loss": ({"params": "7B"}, {"loss": "half"}, "Use one of whole, chunked"),
    "an unknown ZeRO stage": ({"params": "7B"}, {"zero": 4}, "--zero: must be between 0 and 3"),
    "a negative LoRA rank": ({"params": "7B"}, {"lora": -1}, "--lora: must be between 0 and 4096"),
    "training 4-bit weights": ({"params": "7B"}, {"precision": "int4"}, "Add --lora RANK"),
    "LoRA with autocast": ({"params": "7B"}, {"precision": "amp-bf16", "lora": 8}, "must keep one copy"),
    "serving with autocast": (
        {"params": "7B"},
        {"mode": "serve", "precision": "amp-fp16"},
        "must be a format for serving",
    ),
    "serving with LoRA": ({"params": "7B"}, {"mode": "serve", "lora": 8}, "--lora: requires --mode train"),
    "an image for a language model": ({"params": "7B"}, {"image": "64x64"}, "--image: requires a model that takes or"),
    "an image without a height": ({"model": "qwen3-vl-8b"}, {"image": "640"}, "--image: must be width x height"),
    "a tiny image": ({"model": "qwen3-vl-8b"}, {"image": "8x8"}, "--image: must be 64 to 8192 pixels on each side"),
    "no image for a diffusion pipeline": ({"model": "flux.1-dev"}, {"mode": "serve"}, "--image: is required for a"),
    "training a diffusion pipeline": ({"model": "flux.1-dev"}, {"image": "512x512"}, "--mode: must be serve for a"),
    "experts that aren't there": (
        {"model": "llama-2-7b"},
        {"mode": "serve", "precision": "mxfp4"},
        "--precision: requires a model with experts",
    ),
    "an unknown cache format": ({"params": "7B"}, {"cache": "int3"}, "--kv-cache-dtype: must be a known value"),
    "GPUs that don't divide the heads": (
        {"model": "llama-2-7b"},
        {"tensor_parallel": 3},
        "--tensor-parallel: must divide the model's 32 heads",
    ),
    "more stages than layers": (
        {"model": "llama-2-7b"},
        {"pipeline_parallel": 33},
        "--pipeline-parallel: must be between 1 and 32",
    ),
    "serving with tensor parallelism": (
        {"model": "llama-2-7b"},
        {"mode": "serve", "tensor_parallel": 2},
        "--tensor-parallel: requires --mode train",
    ),
    "serving with ZeRO": ({"params": "7B"}, {"mode": "serve", "zero": 3}, "--zero: requires --mode train"),
}


@pytest.mark.parametrize(("shape", "options", "text"), REFUSED.values(), ids=list(REFUSED))
def test_invalid_options_are_refused_with_path_rule_value_and_fix(
    shape: dict[str, Any], options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        workload(Shape(**shape), **{**WORK, **options})
    assert text in str(refused.value)
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


def test_a_shape_needs_no_number_of_parameters_and_defaults_to_a_gpt() -> None:
    model = workload(Shape(**SHAPE), **WORK).model
    attention, feed = model.layers[0].mixer, model.layers[0].feed
    assert isinstance(attention, Attention)
    assert feed
    assert (attention.kv_heads, feed.width, model.params) == (32, 16384, float(model.counted))


def test_frozen_weights_have_the_format_of_the_checkpoint_and_trained_ones_are_bf16() -> None:
    def chosen(**options: Any) -> str:
        given = {name: value for name, value in WORK.items() if name != "precision"}
        return workload(Shape(model="deepseek-v3"), **{**given, **options}).precision

    assert (chosen(mode="serve"), chosen(lora=8), chosen()) == ("checkpoint", "checkpoint", "bf16")
    assert chosen(mode="serve", precision="int4") == "int4"
