"""Diffusion pipelines: parameters of their components, from the config.json of each.

Sources: diffusers' transformer_flux.py (`FluxTransformer2DModel`) and autoencoder_kl.py, Transformers' T5 and CLIP.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from slipway.fit.architectures import Architecture, Diffusion, with_count
from slipway.fit.layers import Attention, FeedForward, Layer
from spec.settings.problems import ConfigurationError, Problem

Config = Mapping[str, Any]
TRANSFORMER: Final = "transformer"
DECODER: Final = "vae"
_LATENT_PIXELS: Final = 8
"""Pixels on a side of a latent of AutoencoderKL with four levels; the transformer sees 2 x 2 of them as one token."""
_PACKED: Final = 2
_PROMPT: Final = 512  # `max_sequence_length` of FluxPipeline (diffusers 0.35)
_CONVOLUTION: Final = 9


def pipeline(components: Mapping[str, Config], *, name: str, source: str = "") -> Architecture:
    """A pipeline.

    Args:
        components: Content of each component's config.json, by the component's folder.
        name: Name for readers.
        source: Source of the files.

    Raises:
        ConfigurationError: A component is of a class that this module doesn't know.
    """
    kind = str(components.get(TRANSFORMER, {}).get("_class_name"))
    if kind != "FluxTransformer2DModel":
        fix = "Only pipelines of FluxTransformer2DModel are known; measure others with torch.cuda.max_memory_allocated"
        raise ConfigurationError(
            [Problem("transformer._class_name", "must be a known class", kind, fix)], "slipway fit"
        )
    flux = components[TRANSFORMER]
    parts = {part: float(_params(part, made)) for part, made in components.items() if part != TRANSFORMER}
    channels = components.get(DECODER, {}).get("block_out_channels") or [0, 0]
    around = Diffusion(
        parts=MappingProxyType(parts),
        # The blog of Diffusers on quantisation leaves CLIP and the decoder at 16 bits: they are small.
        quantised=frozenset(part for part, made in components.items() if _class(made) == "T5EncoderModel"),
        patch=_LATENT_PIXELS * _PACKED,
        prompt=_PROMPT,
        # The last level starts with the channels of the one before it.
        channels=channels[1],
    )
    hidden = flux["num_attention_heads"] * flux["attention_head_dim"]
    model = Architecture(
        name=name, params=0, layers=_blocks(flux, hidden), hidden=hidden, vocab=0, diffusion=around, source=source
    )
    return with_count(model)


def _blocks(flux: Config, hidden: int) -> tuple[Layer, ...]:
    """Double blocks have all matrices twice, for image and prompt; single ones share them. Both have a modulation."""
    heads, head = flux["num_attention_heads"], flux["attention_head_dim"]
    mixer = Attention(hidden=hidden, heads=heads, kv_heads=heads, head=head, value=head)
    feed = FeedForward(hidden=hidden, width=4 * hidden)
    twin = sum(rows * columns for rows, columns in (*mixer.matrices, *feed.matrices))
    return (
        Layer(count=flux["num_layers"], mixer=mixer, feed=feed, extra=twin + 12 * hidden**2),
        Layer(count=flux["num_single_layers"], mixer=mixer, feed=feed, extra=3 * hidden**2),
    )


def _class(config: Config) -> str:
    return str(config.get("_class_name") or next(iter(config.get("architectures") or ()), ""))


def _params(part: str, config: Config) -> int:
    known: dict[str, Callable[[Config], int]] = {
        "T5EncoderModel": _t5,
        "CLIPTextModel": _clip,
        "AutoencoderKL": _autoencoder,
    }
    if (kind := _class(config)) in known:
        return known[kind](config)
    rule, fix = "must be a known class", f"Known are {', '.join(known)}"
    raise ConfigurationError([Problem(part, rule, kind or None, fix)], "slipway fit")


def _t5(config: Config) -> int:
    hidden, inner = config["d_model"], config["num_heads"] * config["d_kv"]
    layer = 4 * hidden * inner + (3 if config.get("is_gated_act", True) else 2) * hidden * config["d_ff"]
    return int(config["num_layers"] * layer + config["vocab_size"] * hidden)


def _clip(config: Config) -> int:
    hidden = config["hidden_size"]
    layer = 4 * hidden**2 + 2 * hidden * config["intermediate_size"]
    return int(
        config["num_hidden_layers"] * layer + (config["vocab_size"] + config["max_position_embeddings"]) * hidden
    )


def _autoencoder(config: Config) -> int:
    """Residual blocks of two convolutions at each level, one more per level in the decoder."""
    levels, blocks, latent = config["block_out_channels"], config["layers_per_block"], config["latent_channels"]
    last = levels[-1]
    middle = 2 * _residual(last, last) + 4 * last**2
    down = [(levels[0], levels[0]), *pairwise(levels)]
    up = [(last, last), *pairwise(reversed(levels))]
    encoder = sum(_residual(a, b) + (blocks - 1) * _residual(b, b) for a, b in down)
    decoder = sum(_residual(a, b) + blocks * _residual(b, b) for a, b in up)
    resampling = _CONVOLUTION * (sum(b**2 for _, b in down[:-1]) + sum(b**2 for _, b in up[:-1]))
    ends = _CONVOLUTION * (2 * config["in_channels"] * levels[0] + 3 * latent * last)
    return int(encoder + decoder + 2 * middle + resampling + ends)


def _residual(inputs: int, outputs: int) -> int:
    shortcut = inputs * outputs if inputs != outputs else 0
    return _CONVOLUTION * (inputs + outputs) * outputs + shortcut
