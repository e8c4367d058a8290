"""Shapes of transformer models: what of a model decides how much memory it takes."""

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
        name: Name of the catalog, or `given` for a shape of the command line.
        params: Parameters, as published.
        layers: Transformer layers.
        hidden: Width of the residual stream.
        heads: Query heads.
        kv_heads: Key and value heads: fewer than `heads` with grouped-query attention.
        ffn: Width of the feed-forward layer.
        gated: Whether the feed-forward layer has a gate beside it (SwiGLU: three matrices instead of two).
        vocab: Size of the vocabulary, with its padding.
        context: Longest sequence in tokens; 0 where nothing is known of it.
        tied: Whether the output layer is the embedding.
        dropout: Whether it is trained with dropout, whose masks are kept.
        source: Where the shape is from.
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
        """Parameters of the matrices of one layer; norms and biases are below one in a thousand."""
        return sum(rows * columns for rows, columns in self.matrices)

    @property
    def embedding_params(self) -> int:
        """Parameters of the embedding and of the output layer, which quantisation leaves as they are."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    @property
    def counted(self) -> int:
        """Parameters counted from the shape, without norms and biases."""
        return self.layers * self.layer_params + self.embedding_params


@cache
def architectures() -> Mapping[str, Architecture]:
    """The published models of the catalog by name."""
    rows = load(FILE)["architectures"]
    return MappingProxyType({name: _architecture(name, row) for name, row in sorted(rows.items())})


def nearest(params: float) -> Architecture:
    """The published model whose number of parameters is nearest, by ratio."""
    return min(architectures().values(), key=lambda one: (max(one.params / params, params / one.params), one.name))


def _architecture(name: str, row: Mapping[str, Any]) -> Architecture:
    return Architecture(
        name=name,
        # YAML 1.1 reads `7e9` as text: its floats need a point and a sign.
        params=float(row["params"]),
        layers=row["layers"],
        hidden=row["hidden"],
        heads=row["heads"],
        kv_heads=row.get("kv", row["heads"]),
        ffn=row["ffn"],
        gated=row.get("gated", False),
        vocab=row["vocab"],
        context=row["context"],
        tied=row.get("tied", False),
        dropout=row.get("dropout", False),
        source=f"{row['at']}, {row['released']}",
    )
