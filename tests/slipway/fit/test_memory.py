"""Memory of a workload: by component, by formula, and against published figures."""

import re
from dataclasses import replace
from typing import Any

import pytest

from slipway.fit import Architecture, Workload, activations, architectures, memory
from slipway.fit.activations import COMMUNICATION_BYTES, CONTEXT_BYTES, GIB, kv_bytes, trained_params, weight_bytes
from slipway.fit.formulas import formulas
from slipway.fit.layers import Attention, Layer
from tests.slipway.fit.published import GPT, GUIDE, KINDS, Case, cases, dense, measured, table, work
from tests.support import generated

# Memory by component, checked against the papers behind the formulas.


LLAMA = architectures()["llama-3.1-8b"]
LAYER = GPT.layers[0]


def layer(**shape: object) -> Layer:
    """The layer of a model with the given shape."""
    return model(**shape).layers[0]


def model(**shape: object) -> Architecture:
    """Llama 3.1 8B, or another shape of it."""
    sizes = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "gated": True, "vocab": 128256}
    return dense(name="llama", **{**sizes, **shape})  # type: ignore[arg-type]


def test_a_gpt_layer_takes_34_bytes_per_token_and_hidden_unit() -> None:
    assert activations.layer_bytes(LAYER, 2, dropout=True) == 34 * GPT.hidden


@pytest.mark.parametrize(("width", "dropout", "each"), [(2, True, 7), (4, True, 9), (2, False, 6), (4, False, 4)])
def test_attention_scores_have_a_softmax_in_32_bits(width: int, dropout: bool, each: int) -> None:
    assert activations.score_bytes(LAYER, width, 2048, dropout=dropout) == each * GPT.heads * 2048


def test_a_gate_adds_two_tensors_and_grouped_query_attention_takes_less() -> None:
    gated, plain, whole = layer(), layer(gated=False), layer(kv_heads=32)
    assert activations.layer_bytes(gated, 2) - activations.layer_bytes(plain, 2) == 4 * 14336
    assert activations.layer_bytes(whole, 2) - activations.layer_bytes(gated, 2) == 4 * (4096 - 1024)


def test_full_checkpointing_keeps_the_input_of_every_layer_and_one_whole_layer() -> None:
    kept = 2 * GPT.depth * GPT.hidden * 2048
    assert activations.training(work(checkpointing="full")) == kept + 34 * GPT.hidden * 2048


def test_more_checkpointing_takes_less_memory() -> None:
    none, selective, full = (activations.training(work(checkpointing=how)) for how in ("none", "selective", "full"))
    assert none > selective > full


@pytest.mark.parametrize(
    ("precision", "optimizer", "bytes_each"),
    [
        ("bf16", "adamw", 16),
        ("fp32", "adamw", 16),
        ("amp-bf16", "adamw", 18),
        ("pure-bf16", "adamw", 8),
        ("bf16", "adamw8bit", 10),
        ("bf16", "sgd", 12),
    ],
)
def test_model_states_take_the_published_bytes_per_parameter(precision: str, optimizer: str, bytes_each: int) -> None:
    found = memory(work(precision=precision, optimizer=optimizer))
    assert found.of("weights", "gradients", "optimizer") == pytest.approx(bytes_each * GPT.params)


@pytest.mark.parametrize(("zero", "bytes_each"), [(0, 16), (1, 4 + 12 / 8), (2, 2 + 14 / 8)])
def test_zero_1_shards_the_optimizer_and_zero_2_gradients_as_well(zero: int, bytes_each: float) -> None:
    found = memory(work(zero=zero), gpus=8)
    assert found.of("weights", "gradients", "optimizer") == pytest.approx(bytes_each * GPT.params)


def test_zero_3_shards_weights_except_the_gathered_layer() -> None:
    found = memory(work(zero=3), gpus=8)
    assert found.of("weights") == pytest.approx(2 * GPT.params / 8 + 4 * LAYER.dense_params)


def test_adafactor_keeps_less_than_a_thousandth_of_adamw() -> None:
    adam, factored = (memory(work(precision="fp32", optimizer=name)).of("optimizer") for name in ("adamw", "adafactor"))
    assert 0 < factored < adam / 1000


def test_with_lora_only_adapters_have_gradients_and_states() -> None:
    tuned = work(LLAMA, lora=16)
    assert trained_params(tuned) == 41_943_040  # as PEFT prints for all linear layers of Llama 3.1 8B at rank 16
    found = memory(tuned)
    assert found.of("gradients") == 2 * 41_943_040
    assert found.of("weights") == 2 * (LLAMA.params + 41_943_040)


def test_4_bit_quantisation_leaves_embeddings_at_16_bits() -> None:
    served = work(LLAMA, mode="serve", precision="nf4")
    linear = LLAMA.params - LLAMA.embedding_params
    assert weight_bytes(served) == pytest.approx(linear * 4.127 / 8 + 2 * LLAMA.embedding_params, rel=1e-3)


def test_the_kv_cache_of_llama_takes_128_kib_per_token() -> None:
    assert kv_bytes(work(LLAMA, mode="serve", seq=1)) == 128 * 1024


def test_key_value_heads_are_distributed_but_not_divided() -> None:
    served = work(LLAMA, mode="serve")
    assert kv_bytes(served, 8) == kv_bytes(served) / 8
    assert kv_bytes(served, 16) == kv_bytes(served, 8)


def test_serving_has_no_gradients_and_no_optimizer_states() -> None:
    assert memory(work(LLAMA, mode="serve")).of("gradients", "optimizer") == 0


def test_a_chunked_loss_takes_less_and_a_classifier_has_almost_no_logits() -> None:
    whole, chunked = (activations.training(work(LLAMA, loss=loss)) for loss in ("whole", "chunked"))
    assert whole - chunked == (12 + 2 - 4) * 2048 * LLAMA.vocab
    classifier = activations.training(work(LLAMA, classes=2))
    assert chunked - classifier == 4 * 2048 * LLAMA.vocab - (12 + 2) * 2


def test_logits_in_32_bits_need_no_copy() -> None:
    model = replace(GPT, vocab=50_000)
    logits = activations.training(work(model, precision="fp32")) - activations.training(work(GPT, precision="fp32"))
    assert logits == 12 * 2048 * 49_000


def test_several_gpus_need_memory_for_communication_beside_the_context() -> None:
    assert memory(work()).of("context") == CONTEXT_BYTES
    assert memory(work(zero=3), gpus=2).of("context") == CONTEXT_BYTES + COMMUNICATION_BYTES


def test_every_gpu_has_its_own_batch_when_training() -> None:
    assert memory(work(zero=3), gpus=8).of("activations") == memory(work()).of("activations")
    assert memory(work()).total > 0.9 * 12.6e9 * 16 / GIB


def test_a_latent_is_cached_once_and_whole_on_every_gpu() -> None:
    served = work(architectures()["deepseek-v3"], mode="serve", seq=1)
    assert kv_bytes(served) == kv_bytes(served, 8) == 61 * (512 + 64) * 2


def test_an_indexer_caches_a_key_of_8_bits_and_its_scale() -> None:
    with_index, without = (
        work(architectures()[name], mode="serve", seq=1) for name in ("deepseek-v3.2", "deepseek-v3")
    )
    assert kv_bytes(with_index) - kv_bytes(without) == 61 * (128 + 4)


def test_a_window_bounds_the_cache_of_its_layers() -> None:
    short, long = (kv_bytes(work(architectures()["gpt-oss-20b"], mode="serve", seq=seq)) for seq in (128, 1128))
    assert long - short == 1000 * 12 * 8 * (64 + 64) * 2


def test_a_state_takes_the_same_for_every_length() -> None:
    one, two = (kv_bytes(work(architectures()["nemotron-3-nano-30b-a3b"], mode="serve", seq=seq)) for seq in (1, 1001))
    assert two - one == 1000 * 6 * 2 * (128 + 128) * 2
    assert one > 23 * 64 * 64 * 128 * 4


def test_the_cache_in_8_bits_takes_half() -> None:
    assert kv_bytes(work(LLAMA, mode="serve", cache="fp8")) * 2 == kv_bytes(work(LLAMA, mode="serve"))


def test_a_format_for_experts_leaves_the_rest_at_16_bits() -> None:
    oss = architectures()["gpt-oss-20b"]
    rest = oss.params - oss.expert_params
    assert weight_bytes(work(oss, mode="serve", precision="checkpoint")) == oss.expert_params * 4.25 / 8 + 2 * rest


def test_the_encoder_of_images_stays_at_16_bits() -> None:
    seeing = architectures()["qwen3-vl-8b"]
    assert seeing.vision
    whole, packed = (weight_bytes(work(seeing, mode="serve", precision=name)) for name in ("bf16", "int8"))
    assert whole - packed == pytest.approx(seeing.linear_params)


def test_all_experts_take_memory_and_only_active_ones_have_activations() -> None:
    mixtral, plain = architectures()["mixtral-8x7b"], architectures()["mistral-7b"]
    assert memory(work(mixtral)).of("optimizer") > 6 * memory(work(plain)).of("optimizer")
    ratio = activations.layer_bytes(mixtral.layers[0], 2) / activations.layer_bytes(plain.layers[0], 2)
    assert 1 < ratio < 2.2


def test_tensor_parallelism_divides_everything_and_a_pipeline_all_but_activations() -> None:
    parts = ("weights", "gradients", "optimizer")
    alone, tensor, pipeline = (
        memory(work(tensor_parallel=t, pipeline_parallel=p), gpus=t * p) for t, p in ((1, 1), (8, 1), (1, 8))
    )
    assert tensor.of(*parts) == pipeline.of(*parts) == alone.of(*parts) / 8
    assert tensor.of("activations") == alone.of("activations") / 8
    assert pipeline.of("activations") == alone.of("activations")


def test_zero_shards_what_tensor_parallelism_leaves() -> None:
    assert memory(work(zero=1, tensor_parallel=2), gpus=8).of("optimizer") == memory(work(), 1).of("optimizer") / 8
    assert memory(work(zero=1, tensor_parallel=2), gpus=8).of("weights") == memory(work(), 1).of("weights") / 2


def test_adapters_are_on_every_matrix_but_those_of_routed_experts() -> None:
    mixtral = architectures()["mixtral-8x7b"]
    attention = mixtral.layers[0].mixer
    assert isinstance(attention, Attention)
    sides = sum(rows + columns for rows, columns in attention.matrices) + 4096 + 8
    assert trained_params(work(mixtral, lora=8)) == 8 * 32 * sides


# Each part of an estimate is what its formula computes.


MODELS = architectures()
SCALE = {"MiB": 2**20, "GiB": 2**30}


def computed(formula: str) -> float:
    """The result of a formula: words are units, `x` multiplies."""
    for unit, factor in SCALE.items():
        formula = re.sub(rf"([0-9.]+) {unit}", rf"(\1 * {factor})", formula)
    formula = re.sub(r"\bx\b", "*", formula)
    return float(eval(re.sub(r"(?<![0-9.])\b[A-Za-z]+\b", "", formula)))  # noqa: S307 - our own formula


CASES: dict[str, tuple[Workload, int]] = {
    "served": (work(MODELS["llama-3.1-8b"], mode="serve", batch=4), 2),
    "fp8": (work(MODELS["deepseek-v3"], mode="serve", precision="checkpoint"), 8),
    "indexer": (work(MODELS["glm-5"], mode="serve"), 16),
    "experts in 4 bits": (work(MODELS["gpt-oss-120b"], mode="serve", precision="checkpoint", batch=2), 1),
    "states": (work(MODELS["nemotron-3-nano-30b-a3b"], mode="serve", cache="fp8"), 2),
    "image": (work(MODELS["qwen3-vl-8b"], mode="serve", image=(1024, 768)), 1),
    "diffusion": (work(MODELS["flux.1-dev"], mode="serve", precision="nf4", image=(1024, 1024)), 1),
    "small image": (work(MODELS["flux.1-dev"], mode="serve", image=(64, 64)), 1),
    "stages": (work(MODELS["kimi-k2"], mode="serve", precision="checkpoint", pipeline_parallel=2), 16),
    "trained": (work(GPT), 1),
    "trained with everything": (
        work(
            MODELS["llama-3.1-8b"], zero=3, checkpointing="full", tensor_parallel=2, pipeline_parallel=2, loss="chunked"
        ),
        16,
    ),
    "selective": (work(MODELS["mixtral-8x7b"], zero=1, checkpointing="selective", optimizer="adafactor"), 8),
    "adapters": (work(MODELS["qwen3-30b-a3b"], lora=16, precision="nf4", checkpointing="full", zero=3), 4),
}


@pytest.mark.parametrize(("workload", "gpus"), CASES.values(), ids=list(CASES))
def test_a_formula_gives_its_part(workload: Workload, gpus: int) -> None:
    texts = formulas(workload, gpus)
    parts: dict[str, Any] = {name: size for name, size in memory(workload, gpus).parts.items() if size}
    assert set(parts) <= set(texts)
    for name, size in parts.items():
        assert computed(texts[name]) == pytest.approx(size, rel=1e-3), (name, texts[name])


# The estimates match published figures, and the guide shows both.


MAX_ERROR = 0.15


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.what)
def test_an_estimate_is_within_the_documented_error(case: Case) -> None:
    assert abs(case.error) <= MAX_ERROR, f"{case.estimate:.2f} instead of {case.figure} {case.unit}: {case.error:+.1%}"


@pytest.mark.parametrize("case", cases("misses"), ids=lambda case: case.what)
def test_a_documented_miss_is_still_one_and_has_a_reason(case: Case) -> None:
    assert abs(case.error) > MAX_ERROR, "it is within the error now: list it under cases"
    assert case.why


def test_many_figures_are_measured_and_from_several_sources() -> None:
    measured = [case for case in cases() if case.kind == "measured"]
    assert len(measured) >= 8
    assert len({case.source for case in measured}) >= 3


@pytest.mark.parametrize("case", measured(), ids=lambda case: case.what)
def test_what_a_gpu_measured_is_within_the_documented_error_or_explained(case: Case) -> None:
    """Too little by more than the error has a reason; nothing is ever too much by more."""
    assert case.error <= MAX_ERROR
    assert bool(case.why) == (case.error < -MAX_ERROR), f"{case.error:+.1%}"


def test_two_gpus_have_measured_most_kinds_of_work() -> None:
    found = measured()
    assert {name for case in found for name in case.source.split(", ")} == {"H100", "H200"}
    assert {case.work.precision for case in found} == {"fp32", "amp-bf16", "bf16", "pure-bf16"}
    assert sum(abs(case.error) <= MAX_ERROR for case in found) >= 0.85 * len(found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_guide_shows_every_figure_with_its_error(kind: str) -> None:
    generated.check_part(GUIDE, kind, table(kind), generated.FIT)
