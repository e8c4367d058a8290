"""The vision encoder of a model, from the `vision_config` of its config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slipway.fit.architectures import Vision
from slipway.fit.layers import Attention, FeedForward, Layer

_CHANNELS: Final = 3


def vision(config: Mapping[str, Any], hidden: int) -> Vision | None:
    """The encoder, or None: of a file without its sizes too, as a text-only export is.

    Args:
        config: The file's content.
        hidden: Width of the language model, into which the projector leads.
    """
    sizes = config.get("vision_config") or {}
    depth = _first(sizes, "depth", "num_hidden_layers", "vt_num_hidden_layers")
    width = _first(sizes, "hidden_size", "vt_hidden_size")
    patch = _first(sizes, "patch_size")
    if not (depth and width and patch):
        return None
    heads = _first(sizes, "num_heads", "num_attention_heads", "vt_num_attention_heads") or 1
    inner = _first(sizes, "intermediate_size", "vt_intermediate_size") or 4 * width
    merge = _first(sizes, "spatial_merge_size", "pooling_kernel_size") or (sizes.get("merge_kernel_size") or [1])[0]
    mixer = Attention(hidden=width, heads=heads, kv_heads=heads, head=width // heads, value=width // heads)
    layer = Layer(count=depth, mixer=mixer, feed=FeedForward(hidden=width, width=inner))
    embedding = width * _CHANNELS * (_first(sizes, "temporal_patch_size") or 1) * patch**2
    positions = (_first(sizes, "num_position_embeddings", "position_embedding_size") or 0) * width
    return Vision(
        layer=layer,
        patch=patch,
        merge=merge,
        tokens=_first(config, "vision_soft_tokens_per_image", "mm_tokens_per_image") or 0,
        extra=embedding + positions + _projector(sizes, width, merge, hidden),
    )


def _projector(sizes: Mapping[str, Any], width: int, merge: int, hidden: int) -> int:
    """Two matrices over the merged patches (Qwen's and Kimi's patch merger, one more for each `deepstack` layer), or
    one from the encoder to the model (Gemma)."""
    if "spatial_merge_size" not in sizes and "merge_kernel_size" not in sizes:
        return width * hidden
    merged = merge**2 * width
    return (1 + len(sizes.get("deepstack_visual_indexes") or ())) * merged * (merged + hidden)


def _first(sizes: Mapping[str, Any], *names: str) -> int:
    return next((value for name in names if isinstance(value := sizes.get(name), int)), 0)
