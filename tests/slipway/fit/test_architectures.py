"""The catalog: each model has the published number of parameters, and its layers are those of its file."""

import re

import pytest

from slipway.fit import architectures
from slipway.fit.architectures import Architecture
from slipway.fit.checkpoint import FILE, nearest
from slipway.fit.layers import Attention, FeedForward, Layer, Recurrent
from spec.catalog.document import load

ENTRIES = load(FILE)["architectures"]
UNITS = {"M": 1e6, "B": 1e9, "T": 1e12}
ROUNDED = {name: entry["published"] for name, entry in ENTRIES.items() if "published" in entry}


@pytest.mark.parametrize("model", architectures().values(), ids=list(architectures()))
def test_a_shape_has_the_published_number_of_parameters(model: Architecture) -> None:
    assert model.counted == pytest.approx(model.params, rel=0.01)


@pytest.mark.parametrize(("name", "published"), ROUNDED.items(), ids=list(ROUNDED))
def test_a_counted_number_is_the_one_in_the_publishers_name(name: str, published: str) -> None:
    """Within 3 %, and the rounding: Qwen3-30B has 30.5 billion, Kimi K2 1.03 trillion."""
    match = re.fullmatch(r"([0-9.]+)([MBT])", published)
    assert match
    number, unit = float(match[1]), UNITS[match[2]]
    last = unit / (10 if "." in match[1] else 1)
    assert abs(architectures()[name].counted - number * unit) <= 0.03 * number * unit + last


@pytest.mark.parametrize(
    ("name", "active"),
    [("qwen3-30b-a3b", 3.3), ("qwen3-235b-a22b", 22), ("qwen3.5-397b-a17b", 17), ("deepseek-v3", 37), ("kimi-k2", 32)],
)
def test_the_active_parameters_are_the_published_ones(name: str, active: float) -> None:
    assert architectures()[name].active / 1e9 == pytest.approx(active, rel=0.05)


@pytest.mark.parametrize("model", architectures().values(), ids=list(architectures()))
def test_key_value_heads_divide_the_heads(model: Architecture) -> None:
    assert all(attention.heads % attention.kv_heads == 0 for _, attention in model.attentions)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_every_entry_has_source_and_date(entry: dict[str, object]) -> None:
    assert entry["at"]
    assert entry["as_of"]


def test_the_nearest_model_is_chosen_by_ratio_among_dense_language_models() -> None:
    assert nearest(8e9).name in ("llama-3.1-8b", "qwen3-8b")
    assert nearest(500e9).name == "llama-3.1-405b"


def windows(name: str) -> dict[int, int]:
    """Layers by their window."""
    found: dict[int, int] = {}
    for count, attention in architectures()[name].attentions:
        found[attention.window] = found.get(attention.window, 0) + count
    return found


def test_layers_with_a_window_are_those_that_the_file_lists() -> None:
    assert windows("gpt-oss-120b") == {128: 18, 0: 18}
    assert windows("gemma-4-26b-a4b") == {1024: 25, 0: 5}
    assert windows("mimo-v2-flash") == {128: 39, 0: 9}
    assert windows("llama-4-scout") == {8192: 36, 0: 12}
    assert windows("qwen3-8b") == {0: 36}


def test_recurrent_layers_are_those_that_the_file_lists() -> None:
    def states(name: str) -> int:
        return sum(layer.count for layer in architectures()[name].layers if isinstance(layer.mixer, Recurrent))

    assert (states("qwen3.5-35b-a3b"), states("nemotron-3-nano-30b-a3b")) == (30, 23)


def test_the_first_layers_of_deepseek_have_no_experts() -> None:
    first, rest = architectures()["deepseek-v3"].layers
    assert (first.count, first.expert_params) == (3, 0)
    assert rest.feed
    assert (rest.count, rest.feed.experts, rest.feed.active) == (58, 256, 8)


def test_gemma_has_other_heads_in_its_full_layers() -> None:
    kinds = {attention.window: attention for _, attention in architectures()["gemma-4-26b-a4b"].attentions}
    assert (kinds[0].head, kinds[0].kv_heads, kinds[0].keys_are_values) == (512, 2, True)
    assert (kinds[1024].head, kinds[1024].kv_heads, kinds[1024].keys_are_values) == (256, 8, False)


def test_an_image_takes_the_tokens_of_its_merged_patches() -> None:
    vision = architectures()["qwen3-vl-8b"].vision
    assert vision
    assert (vision.patches(1024, 768), vision.image_tokens(1024, 768)) == (64 * 48, 32 * 24)
    gemma = architectures()["gemma-4-26b-a4b"].vision
    assert gemma
    assert gemma.image_tokens(1024, 768) == 280


def test_the_components_of_a_pipeline_have_the_published_sizes() -> None:
    """huggingface.co/blog/diffusers-quantization, 2025-05-21: T5 9.52 GB, CLIP 246 MB, VAE 168 MB, the rest 23.8 GB."""
    flux = architectures()["flux.1-dev"]
    assert flux.diffusion
    sizes = {name: 2 * params / 1e9 for name, params in flux.diffusion.parts.items()}
    assert sizes["text_encoder_2"] == pytest.approx(9.52, rel=0.01)
    assert sizes["text_encoder"] == pytest.approx(0.246, rel=0.01)
    assert sizes["vae"] == pytest.approx(0.168, rel=0.01)
    assert 2 * flux.params / 1e9 == pytest.approx(23.8, rel=0.01)


def test_a_multi_query_model_has_one_key_value_head() -> None:
    attention = Attention(hidden=4544, heads=71, kv_heads=1, head=64, value=64)
    assert attention.cache(1, 2, 8) == 2 * 64 * 2


def test_a_layer_of_one_part_has_the_width_of_that_part() -> None:
    """As Nemotron-H's, which are attention, recurrent or feed-forward."""
    attention = Attention(hidden=4096, heads=32, kv_heads=8, head=128, value=128)
    feed = FeedForward(hidden=4096, width=14336)
    layers = [Layer(count=1, mixer=attention, feed=None), Layer(count=1, mixer=None, feed=feed)]
    assert [layer.hidden for layer in layers] == [4096, 4096]
