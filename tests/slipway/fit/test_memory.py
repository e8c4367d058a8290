"""Memory by component, checked against the papers behind the formulas."""

from dataclasses import replace

import pytest

from slipway.fit import activations, architectures, memory
from slipway.fit.memory import COMMUNICATION_BYTES, CONTEXT_BYTES, GIB, kv_bytes, trained_params, weight_bytes
from tests.slipway.fit.samples import GPT, work

LLAMA = architectures()["llama-3.1-8b"]


def test_a_gpt_layer_takes_34_bytes_per_token_and_hidden_unit() -> None:
    assert activations.layer_bytes(GPT, 2) == 34 * GPT.hidden


def test_attention_scores_take_5as_bytes_per_token() -> None:
    assert activations.score_bytes(GPT, 2, 2048) == 5 * GPT.heads * 2048


def test_a_gate_adds_two_tensors_and_grouped_query_attention_takes_less() -> None:
    plain = replace(LLAMA, gated=False)
    assert activations.layer_bytes(LLAMA, 2) - activations.layer_bytes(plain, 2) == 4 * LLAMA.ffn
    whole = replace(LLAMA, kv_heads=LLAMA.heads)
    assert activations.layer_bytes(whole, 2) - activations.layer_bytes(LLAMA, 2) == 4 * (LLAMA.hidden - LLAMA.kv_width)


def test_full_checkpointing_keeps_the_input_of_every_layer_and_one_whole_layer() -> None:
    kept = 2 * GPT.layers * GPT.hidden * 2048
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
    assert found.of("weights") == pytest.approx(2 * GPT.params / 8 + 4 * GPT.layer_params)


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
    served = work(LLAMA, mode="serve", precision="int4")
    linear = LLAMA.params - LLAMA.embedding_params
    assert weight_bytes(served) == pytest.approx(linear * 4.127 / 8 + 2 * LLAMA.embedding_params)


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
