"""Layers of a model by kind, each with the sizes that its memory depends on.

A layer mixes tokens (attention, or a recurrent state) and then works on each token (a feed-forward network, or experts
of which a router picks some). Each kind knows its matrices, what it keeps of each token, and the tensors of a step.
"""

from dataclasses import dataclass
from math import ceil
from typing import Final, TypeAlias

STATE_BYTES: Final = 4
"""Bytes per number of a recurrent state: 32 bits (`mamba_ssm_dtype: float32` in the config.json of Qwen3.5,
`mamba_ssm_cache_dtype: float32` in that of Nemotron 3, 2026)."""
CONVOLUTION_BYTES: Final = 2
"""Bytes per number of a short convolution's last inputs: they stay in the model's 16 bits, whatever the KV cache is."""
_INDEX_BLOCK: Final = 128
_INDEX_SCALE: Final = 4

Matrices: TypeAlias = tuple[tuple[int, int], ...]  # inputs and outputs of linear layers


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Attention: multi-head, grouped-query, multi-query or latent, over all tokens or a window of them."""

    hidden: int  # width of the residual stream
    heads: int  # query heads
    kv_heads: int  # key and value heads: `heads` for multi-head attention, fewer for grouped-query, 1 for multi-query
    head: int  # width of a query and of a key
    value: int  # width of a value
    window: int = 0  # tokens that a layer looks back (sliding window, or chunk); 0 for all
    latent: int = 0  # width of the compressed keys and values (MLA, `kv_lora_rank`); 0 without
    rope: int = 0  # with `latent`, width of the rotary part of a key, which all heads share (`qk_rope_head_dim`)
    query_rank: int = 0  # with `latent`, rank of the query's matrices (`q_lora_rank`); 0 for one whole matrix
    index: int = 0  # width of the key of a sparse attention's indexer (`index_head_dim`); 0 without
    index_heads: int = 0  # heads of that indexer
    gated: bool = False  # whether the queries' matrix also gives a gate of the output (`attn_output_gate`)
    keys_are_values: bool = False  # whether values come from the keys' matrix (`attention_k_eq_v`); both are cached

    @property
    def matrices(self) -> Matrices:
        """Queries, keys, values, output; with a latent their low-rank factors."""
        queries, output = self.heads * self.head, (self.heads * self.value, self.hidden)
        if self.latent:
            rank = self.query_rank
            query = ((self.hidden, rank), (rank, queries)) if rank else ((self.hidden, queries),)
            up = (self.latent, self.heads * (self.head - self.rope + self.value))
            index: Matrices = ()
            if self.index:
                index = ((rank, self.index_heads * self.index), (self.hidden, self.index + self.index_heads))
            return (*query, (self.hidden, self.latent + self.rope), up, output, *index)
        keys, values = self.kv_heads * self.head, self.kv_heads * self.value
        made = ((self.hidden, keys),) if self.keys_are_values else ((self.hidden, keys), (self.hidden, values))
        return ((self.hidden, queries * (2 if self.gated else 1)), *made, output)

    def tensors(self) -> float:
        """Numbers per token that the backward pass needs, without scores: the projections' input, queries, keys,
        values, and the input of the output projection; with a gate, its two factors; with a latent, the ranks."""
        queries, out = self.heads * self.head, self.heads * self.value
        kept = self.hidden + queries + out
        if self.latent:
            return kept + self.heads * (self.head + self.value) + self.query_rank + self.latent + self.rope
        return kept + self.kv_heads * (self.head + self.value) + (2 * out if self.gated else 0)

    def cache(self, tokens: int, width: float, shards: int) -> float:
        """Bytes of one layer's cache for one sequence on one GPU.

        Key-value heads are distributed over the GPUs of tensor parallelism and not divided; a latent has no heads, and
        each GPU keeps all of it. The indexer's key takes 8 bits per number and 32 for the scale of 128 of them
        (vllm/model_executor/models/deepseek_v2.py, `DeepseekV32IndexerCache`, 2026).
        """
        kept = min(tokens, self.window or tokens)
        if self.latent:
            index = self.index + self.index // _INDEX_BLOCK * _INDEX_SCALE
            return kept * ((self.latent + self.rope) * width + index)
        return kept * ceil(self.kv_heads / shards) * (self.head + self.value) * width


@dataclass(frozen=True, kw_only=True)
class Recurrent:
    """A state-space or linear-attention layer: one state per sequence, whatever its length."""

    hidden: int  # width of the residual stream
    projected: int  # outputs of the input projections
    convolved: int  # channels of the short convolution
    kernel: int  # width of that convolution
    value: int  # width of the output, before its projection
    state: int

    @property
    def matrices(self) -> Matrices:
        """The projections into and out of the layer."""
        return ((self.hidden, self.projected), (self.value, self.hidden))

    def tensors(self) -> float:
        """Numbers per token: input, projections, convolution, and the scan's result before and after its gate."""
        return self.hidden + self.projected + self.convolved + 2 * self.value

    def cache(self, tokens: int, width: float, shards: int) -> float:
        """Bytes of the state and of the convolution's last inputs: the number of tokens doesn't matter."""
        del tokens, width
        return (self.state * STATE_BYTES + self.convolved * (self.kernel - 1) * CONVOLUTION_BYTES) / shards


@dataclass(frozen=True, kw_only=True)
class FeedForward:
    """A feed-forward network, or experts of which a token uses some, with or without a part that all tokens use."""

    hidden: int  # width of the residual stream
    width: int  # width of the part that every token uses (the dense network, or shared experts together); 0 without
    gated: bool = False  # whether it is gated (SwiGLU: three matrices instead of two)
    experts: int = 0  # routed experts; 0 without
    active: int = 0  # routed experts per token
    expert: int = 0  # width of a routed expert

    @property
    def matrices(self) -> Matrices:
        """Those that every token uses: the dense network or shared experts, and the router."""
        shared = self._matrices(self.width) if self.width else ()
        return (*shared, (self.hidden, self.experts)) if self.experts else shared

    @property
    def routed(self) -> Matrices:
        """Those of one routed expert."""
        return self._matrices(self.expert) if self.experts else ()

    def tensors(self) -> float:
        """Numbers per token: input, the activation's input, the last matrix's input; with a gate, its two factors. For
        each active expert the same, and the token's copy that leaves it."""
        factor = 4 if self.gated else 2
        dense = factor * self.width if self.width else 0
        return self.hidden + dense + self.active * (2 * self.hidden + factor * self.expert)

    def _matrices(self, width: int) -> Matrices:
        return (*(((self.hidden, width),) * (2 if self.gated else 1)), (width, self.hidden))


@dataclass(frozen=True, kw_only=True)
class Layer:
    """`count` layers that are alike; `extra` is parameters beside the matrices (modulation of a diffusion block)."""

    count: int
    mixer: Attention | Recurrent | None
    feed: FeedForward | None
    extra: int = 0

    @property
    def matrices(self) -> Matrices:
        """Linear layers that every token uses."""
        return (*(self.mixer.matrices if self.mixer else ()), *(self.feed.matrices if self.feed else ()))

    @property
    def dense_params(self) -> int:
        """Parameters of one layer without its routed experts."""
        return sum(rows * columns for rows, columns in self.matrices) + self.extra

    @property
    def expert_params(self) -> int:
        """Parameters of all routed experts of one layer."""
        feed = self.feed
        return feed.experts * sum(rows * columns for rows, columns in feed.routed) if feed else 0

    @property
    def active_params(self) -> int:
        """Parameters of one layer that one token uses."""
        feed = self.feed
        return self.dense_params + (self.expert_params // feed.experts * feed.active if feed and feed.experts else 0)

    @property
    def hidden(self) -> int:
        """Width of the residual stream."""
        part = self.mixer or self.feed
        return part.hidden if part else 0

    @property
    def scored_heads(self) -> int:
        """Heads whose attention scores exist without FlashAttention."""
        return self.mixer.heads if isinstance(self.mixer, Attention) else 0

    def tensors(self) -> float:
        """Numbers per token that one layer keeps for the backward pass, each part with the input of its norm."""
        parts = [part for part in (self.mixer, self.feed) if part]
        return sum(part.hidden + part.tensors() for part in parts)
