"""Shapes of transformer models: the sizes that determine how much memory a model takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from spec.catalog.document import load

FILE: Final = "architectures.yaml"


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The shape of a decoder or encoder whose layers are all alike.

    Attributes:
        name: Name in the catalog, or a description for a shape from the command line.
        params: Number of parameters, as published.
        layers: Transformer layers.
        hidden: Width of the residual stream.
        heads: Query heads.
        kv_heads: Key and value heads: fewer than `heads` with grouped-query attention.
        ffn: Width of the feed-forward layer.
        gated: Whether the feed-forward layer is gated (SwiGLU: three matrices instead of two).
        vocab: Size of the vocabulary, including padding.
        context: Maximum sequence length in tokens; 0 if unknown.
        tied: Whether the output layer shares the embedding's weights.
        dropout: Whether it is trained with dropout, whose masks are kept in memory.
        source: Source of the shape.
    """

    name: str
    params: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    gated: bool = False
    vocab: int
    context: int = 0
    tied: bool = False
    dropout: bool = False
    source: str = ""

    @property
    def head_width(self) -> int:
        """Width of one head."""
        return self.hidden // self.heads

    @property
    def kv_width(self) -> int:
        """Width of all keys, or of all values, of one token in one layer."""
        return self.kv_heads * self.head_width

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        """Inputs and outputs of the linear layers of one transformer layer: Q, K, V, output, feed-forward."""
        attention = ((self.hidden, self.hidden), *((self.hidden, self.kv_width),) * 2, (self.hidden, self.hidden))
        inward = ((self.hidden, self.ffn),) * (2 if self.gated else 1)
        return (*attention, *inward, (self.ffn, self.hidden))

    @property
    def layer_params(self) -> int:
        """Parameters of the matrices of one layer; norms and biases are less than 0.1 %."""
        return sum(rows * columns for rows, columns in self.matrices)

    @property
    def embedding_params(self) -> int:
        """Parameters of the embedding and the output layer, which quantisation does not change."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    @property
    def counted(self) -> int:
        """Parameters counted from the shape, without norms and biases."""
        return self.layers * self.layer_params + self.embedding_params


@cache
def architectures() -> Mapping[str, Architecture]:
    """The published models of the catalog by name."""
    entries = load(FILE)["architectures"]
    return MappingProxyType({name: _architecture(name, entry) for name, entry in sorted(entries.items())})


def nearest(params: float) -> Architecture:
    """The published model with the nearest number of parameters, by ratio."""
    return min(architectures().values(), key=lambda one: (max(one.params / params, params / one.params), one.name))


def _architecture(name: str, entry: Mapping[str, Any]) -> Architecture:
    return Architecture(
        name=name,
        # YAML 1.1 reads `7e9` as text: its floats need a point and a sign.
        params=float(entry["params"]),
        layers=entry["layers"],
        hidden=entry["hidden"],
        heads=entry["heads"],
        kv_heads=entry.get("kv", entry["heads"]),
        ffn=entry["ffn"],
        gated=entry.get("gated", False),
        vocab=entry["vocab"],
        context=entry["context"],
        tied=entry.get("tied", False),
        dropout=entry.get("dropout", False),
        source=f"{entry['at']}, {entry['released']}",
    )
