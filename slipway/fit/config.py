"""Reads a model from a config.json in the format of Hugging Face Transformers.

The keys are those of the published files; families that name one size differently are read alike. Sources: the
config.json of each model in the catalog, and Transformers' configuration classes for what files leave out.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from slipway.fit.architectures import Architecture, Vision, with_count
from slipway.fit.formats import stored
from slipway.fit.layers import Attention, FeedForward, Layer, Recurrent
from spec.settings.problems import ConfigurationError, Problem

# The vision encoder of a model, from the `vision_config` of its config.json.


_CHANNELS: Final = 3


def vision(config: Mapping[str, Any], hidden: int) -> Vision | None:
    """The encoder, or None: of a file without its sizes too, as a text-only export is.

    Args:
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


Config = Mapping[str, Any]
SOURCE: Final = "slipway fit"
UNCOUNTED: Final = ("moe_latent_size", "routed_expert_hidden_size", "compress_ratios", "linear_attn_config")
"""Keys of layers that this module can't count: experts of another width than the model's (Nemotron 3 Super, Kimi K3),
compressed caches (DeepSeek V4), Kimi's linear attention."""


@dataclass(frozen=True)
class Family:
    """What a model type implies and its files leave out."""

    gated: bool = True  # whether the feed-forward layer has a gate
    tied: bool = False  # whether the output layer is the embedding, unless the file says otherwise
    dropout: bool = False  # whether it was trained with dropout
    slides: bool = False  # whether `sliding_window` is for every layer


_PLAIN: Final = Family()
_CLASSIC: Final = Family(gated=False, tied=True, dropout=True)
FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    dict.fromkeys(("bert", "gpt2", "opt"), _CLASSIC)
    | dict.fromkeys(("gpt_neox", "phi", "nemotron_h"), Family(gated=False))
    | dict.fromkeys(("falcon", "gpt_bigcode"), Family(gated=False, tied=True))
    | dict.fromkeys(("mistral", "mixtral", "phi3"), Family(slides=True))
    | dict.fromkeys(("gemma", "gemma2", "gemma3_text", "gemma4_text"), Family(tied=True))
    | dict.fromkeys(
        (
            *("llama", "llama4_text", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5_text"),
            *("qwen3_5_moe_text", "qwen3_vl_text", "qwen3_vl_moe_text", "deepseek_v2", "deepseek_v3", "deepseek_v32"),
            *("kimi_k2", "glm_moe_dsa", "gpt_oss", "minimax_m2", "mimo_v2_flash"),
        ),
        _PLAIN,
    )
)


def read(config: Config, *, name: str, params: float = 0, source: str = "") -> Architecture:
    """The model that a config.json describes.

    Args:
        config: The file's content.
        name: Name for readers.
        params: Number of parameters, as published or from the checkpoint; 0 to count them from the shape.
        source: Source of the file.

    Raises:
        ConfigurationError: A size is missing, a kind of layer isn't supported, or the model type is unknown and
            `params` isn't given to check the shape.
    """
    text = config.get("text_config") or config
    if uncounted := [key for key in UNCOUNTED if text.get(key)]:
        fix = "Layers of this kind are not covered; measure with torch.cuda.max_memory_allocated"
        raise ConfigurationError([Problem(key, "is not supported", text[key], fix) for key in uncounted], SOURCE)
    kind = str(text.get("model_type", config.get("model_type", "")))
    family = FAMILIES.get(kind)
    if family is None and not params:
        fix = f"Give --params, which the shape is compared with, or use one of {', '.join(sorted(FAMILIES))}"
        raise ConfigurationError([Problem("model_type", "must be a known type", kind or None, fix)], SOURCE)
    sizes = _Sizes(text, kind, family or _PLAIN)
    groups = Counter(sizes.layer(index) for index in range(sizes.depth))
    tied = text.get("tie_word_embeddings", config.get("tie_word_embeddings", sizes.family.tied))
    model = Architecture(
        name=name,
        params=params,
        layers=tuple(Layer(count=count, mixer=mixer, feed=feed) for (mixer, feed), count in groups.items()),
        hidden=sizes.hidden,
        vocab=sizes.size("vocab_size"),
        context=sizes.size("max_position_embeddings", "n_positions", default=0),
        tied=bool(tied),
        dropout=sizes.family.dropout,
        stored=stored(text.get("quantization_config") or config.get("quantization_config") or {}),
        vision=vision(config, sizes.hidden),
        source=source,
        caveat=""
        if family
        else f"model type {kind!r} is read as a transformer with the file's keys; its cache may differ",
    )
    return with_count(model)


@dataclass(frozen=True)
class _Sizes:
    """The sizes of a file's text model."""

    config: Config
    kind: str
    family: Family

    def size(self, *names: str, default: int | None = None) -> int:
        """The first of some keys that the file has."""
        for name in names:
            value = self.config.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        if default is None:
            fix = "Use the config.json of the model itself, not of an adapter or a tokenizer"
            raise ConfigurationError([Problem(" or ".join(names), "is required", None, fix)], SOURCE)
        return default

    @property
    def hidden(self) -> int:
        return self.size("hidden_size", "n_embd", "d_model")

    @property
    def pattern(self) -> str:
        """Nemotron-H: M is Mamba, * attention, - a feed-forward network, E experts."""
        return str(self.config.get("hybrid_override_pattern") or "")

    @property
    def depth(self) -> int:
        if self.kind == "nemotron_h" and not self.pattern:
            fix = "Use the config.json of a model whose layers the file lists by letter"
            raise ConfigurationError([Problem("hybrid_override_pattern", "is required", None, fix)], SOURCE)
        return len(self.pattern) or self.size("num_hidden_layers", "n_layer")

    def layer(self, index: int) -> tuple[Attention | Recurrent | None, FeedForward | None]:
        """Both parts of a layer."""
        if self.pattern:
            letter = self.pattern[index]
            mixer = self._mamba() if letter == "M" else self._attention(index) if letter == "*" else None
            return mixer, self._feed(letter == "E") if letter in "-E" else None
        return (self._delta() if self._linear(index) else self._attention(index)), self._feed(self._sparse(index))

    def _types(self, index: int) -> str:
        types = self.config.get("layer_types")
        return types[index] if types else ""

    def _linear(self, index: int) -> bool:
        every = self.size("full_attention_interval", default=0)
        return self._types(index) == "linear_attention" or bool(
            every and not self._types(index) and (index + 1) % every
        )

    def _window(self, index: int) -> int:
        """Tokens that a layer looks back; 0 for all of them."""
        window = self.size("sliding_window", default=0)
        chunk = self.size("attention_chunk_size", default=0)
        kind = self._types(index)
        if kind or self.config.get("use_sliding_window") is False:
            return {"sliding_attention": window, "chunked_attention": chunk}.get(kind, 0)
        if "hybrid_layer_pattern" in self.config:
            return window if self.config["hybrid_layer_pattern"][index] else 0
        if every := self.size("sliding_window_pattern", default=0):
            return window if (index + 1) % every else 0
        if self.kind == "llama4_text":
            # Llama4TextConfig: `no_rope_layer_interval` is 4, and layers with rotary positions are chunked.
            return chunk if (index + 1) % self.size("no_rope_layer_interval", default=4) else 0
        return window if self.family.slides else 0

    def _attention(self, index: int) -> Attention:
        heads = self.size("num_attention_heads", "n_head")
        window = self._window(index)
        if latent := self.size("kv_lora_rank", default=0):
            rope, value = self.size("qk_rope_head_dim"), self.size("v_head_dim")
            return Attention(
                hidden=self.hidden,
                heads=heads,
                kv_heads=heads,
                head=self.size("qk_nope_head_dim") + rope,
                value=value,
                latent=latent,
                rope=rope,
                query_rank=self.size("q_lora_rank", default=0),
                index=self.size("index_head_dim", default=0),
                index_heads=self.size("index_n_heads", default=0),
            )
        # Gemma 4 has other heads in its layers without a window, MiMo in those with one.
        prefix = "swa_" if window else "global_"
        kv_heads = 1 if self.config.get("multi_query") else heads
        width = self.size(f"{prefix}head_dim", "head_dim", "attention_head_dim", default=self.hidden // heads)
        keys = () if window else ("num_global_key_value_heads",)
        return Attention(
            hidden=self.hidden,
            heads=heads,
            kv_heads=self.size(*keys, f"{prefix}num_key_value_heads", "num_key_value_heads", default=kv_heads),
            head=width,
            value=self.size(f"{prefix}v_head_dim", "v_head_dim", default=width),
            window=window,
            gated=bool(self.config.get("attn_output_gate")) or self.kind == "qwen3_next",
            keys_are_values=bool(self.config.get("attention_k_eq_v")) and not window,
        )

    def _delta(self) -> Recurrent:
        """Gated DeltaNet of Qwen3-Next and Qwen3.5: a state of keys by values for each value head."""
        key = self.size("linear_num_key_heads") * self.size("linear_key_head_dim")
        heads = self.size("linear_num_value_heads")
        value = heads * self.size("linear_value_head_dim")
        return Recurrent(
            hidden=self.hidden,
            projected=2 * key + 2 * value + 2 * heads,
            convolved=2 * key + value,
            kernel=self.size("linear_conv_kernel_dim"),
            value=value,
            state=value * self.size("linear_key_head_dim"),
        )

    def _mamba(self) -> Recurrent:
        """Mamba 2 of Nemotron-H: a state of `ssm_state_size` for each channel."""
        heads, width = self.size("mamba_num_heads"), self.size("ssm_state_size")
        value = heads * self.size("mamba_head_dim")
        convolved = value + 2 * self.size("n_groups") * width
        return Recurrent(
            hidden=self.hidden,
            projected=value + convolved + heads,
            convolved=convolved,
            kernel=self.size("conv_kernel"),
            value=value,
            state=value * width,
        )

    @property
    def _experts(self) -> int:
        return self.size("num_experts", "num_local_experts", "n_routed_experts", default=0)

    def _sparse(self, index: int) -> bool:
        """Whether a layer has experts."""
        if not self._experts or index in (self.config.get("mlp_only_layers") or ()):
            return False
        every = self.config.get("moe_layer_freq", 1)
        if isinstance(every, list):
            return bool(every[index])
        step = self.size("decoder_sparse_step", "interleave_moe_layer_step", default=1)
        return index >= self.size("first_k_dense_replace", default=0) and (index + 1) % step == 0 and index % every == 0

    def _feed(self, sparse: bool) -> FeedForward:
        width = self.size("intermediate_size", "ffn_dim", "n_inner", default=4 * self.hidden)
        gated = self.family.gated
        if not sparse:
            width = self.size("intermediate_size_mlp", default=width)
            return FeedForward(hidden=self.hidden, width=width, gated=gated)
        expert = self.size("moe_intermediate_size", default=width)
        # Llama 4 has one shared expert as wide as a routed one; Gemma 4 has its dense network beside the experts.
        beside = width if self.kind in ("llama4_text", "gemma4_text") else 0
        shared = self.size(
            "shared_expert_intermediate_size",
            "moe_shared_expert_intermediate_size",
            default=self.size("n_shared_experts", default=0) * expert,
        )
        return FeedForward(
            hidden=self.hidden,
            width=shared or beside,
            gated=gated,
            experts=self._experts,
            active=self.size("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts"),
            expert=expert,
        )
