"""Memory by part, against the papers that the formulas are from."""

from dataclasses import replace

import pytest

from slipway.fit import activations, architectures, memory
from slipway.fit.memory import COMMUNICATION_BYTES, CONTEXT_BYTES, GIB, kv_bytes, trained_params, weight_bytes
from tests.slipway.fit.samples import GPT, work

LLAMA = architectures()["llama-3.1-8b"]


def test_a_gpt_layer_takes_34_bytes_a_token_and_hidden_unit() -> None:
    assert activations.layer_bytes(GPT, 2) == 34 * GPT.hidden


def test_attention_scores_take_5as_bytes_a_token() -> None:
    assert activations.score_bytes(GPT, 2, 2048) == 5 * GPT.heads * 2048


def test_a_gate_adds_two_tensors_and_grouped_keys_take_less() -> None:
    plain = replace(LLAMA, gated=False)
    assert activations.layer_bytes(LLAMA, 2) - activations.layer_bytes(plain, 2) == 4 * LLAMA.ffn
    whole = replace(LLAMA, kv_heads=LLAMA.heads)
    assert activations.layer_bytes(whole, 2) - activations.layer_bytes(LLAMA, 2) == 4 * (LLAMA.hidden - LLAMA.kv_width)


def test_full_checkpointing_keeps_two_bytes_a_token_and_hidden_unit_of_each_layer_and_one_layer_whole() -> None:
    kept = 2 * GPT.layers * GPT.hidden * 2048
    assert activations.training(work(checkpointing="full")) == kept + 34 * GPT.hidden * 2048


def test_checkpointing_takes_less_the_more_it_does() -> None:
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
def test_states_take_the_bytes_a_parameter_that_are_published(precision: str, optimizer: str, bytes_each: int) -> None:
    found = memory(work(precision=precision, optimizer=optimizer))
    assert found.of("weights", "gradients", "optimizer") == pytest.approx(bytes_each * GPT.params)


@pytest.mark.parametrize(("zero", "bytes_each"), [(0, 16), (1, 4 + 12 / 8), (2, 2 + 14 / 8)])
def test_zero_shards_the_optimizer_first_and_gradients_next(zero: int, bytes_each: float) -> None:
    found = memory(work(zero=zero), gpus=8)
    assert found.of("weights", "gradients", "optimizer") == pytest.approx(bytes_each * GPT.params)


def test_zero_3_shards_weights_too_but_for_the_layer_it_works_on() -> None:
    found = memory(work(zero=3), gpus=8)
    assert found.of("weights") == pytest.approx(2 * GPT.params / 8 + 4 * GPT.layer_params)


def test_adafactor_keeps_less_than_a_thousandth_of_adam() -> None:
    adam, factored = (memory(work(precision="fp32", optimizer=name)).of("optimizer") for name in ("adamw", "adafactor"))
    assert 0 < factored < adam / 1000


def test_adapters_alone_have_gradients_and_states() -> None:
    tuned = work(LLAMA, lora=16)
    assert trained_params(tuned) == 41_943_040  # as PEFT prints for all linear layers of Llama 3.1 8B at rank 16
    found = memory(tuned)
    assert found.of("gradients") == 2 * 41_943_040
    assert found.of("weights") == 2 * (LLAMA.params + 41_943_040)


def test_four_bits_leave_the_embeddings_in_sixteen() -> None:
    served = work(LLAMA, mode="serve", precision="int4")
    linear = LLAMA.params - LLAMA.embedding_params
    assert weight_bytes(served) == pytest.approx(linear * 4.127 / 8 + 2 * LLAMA.embedding_params)


def test_keys_and_values_of_llama_take_128_kib_a_token() -> None:
    assert kv_bytes(work(LLAMA, mode="serve", seq=1)) == 128 * 1024


def test_gpus_share_key_heads_but_never_a_part_of_one() -> None:
    served = work(LLAMA, mode="serve")
    assert kv_bytes(served, 8) == kv_bytes(served) / 8
    assert kv_bytes(served, 16) == kv_bytes(served, 8)


def test_serving_has_neither_gradients_nor_states() -> None:
    assert memory(work(LLAMA, mode="serve")).of("gradients", "optimizer") == 0


def test_whole_logits_take_more_than_chunked_ones_and_a_classifier_has_almost_none() -> None:
    whole, chunked = (activations.training(work(LLAMA, loss=loss)) for loss in ("whole", "chunked"))
    assert whole - chunked == (12 + 2 - 4) * 2048 * LLAMA.vocab
    classifier = activations.training(work(LLAMA, classes=2))
    assert chunked - classifier == 4 * 2048 * LLAMA.vocab - (12 + 2) * 2


def test_logits_in_32_bits_need_no_copy() -> None:
    model = replace(GPT, vocab=50_000)
    logits = activations.training(work(model, precision="fp32")) - activations.training(work(GPT, precision="fp32"))
    assert logits == 12 * 2048 * 49_000


def test_every_process_has_a_context_and_several_talk_to_each_other() -> None:
    assert memory(work()).of("context") == CONTEXT_BYTES
    assert memory(work(zero=3), gpus=2).of("context") == CONTEXT_BYTES + COMMUNICATION_BYTES


def test_a_batch_of_training_is_each_gpus_own() -> None:
    assert memory(work(zero=3), gpus=8).of("activations") == memory(work()).of("activations")
    assert memory(work()).total > 0.9 * 12.6e9 * 16 / GIB
