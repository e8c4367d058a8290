"""A workload: one training step, or one serving process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slipway.fit.architectures import Architecture
from slipway.fit.formats import (
    CACHE_BYTES,
    OPTIMIZERS,
    Mode,
    Optimizer,
    Precision,
    precision,
)

Checkpointing = Literal["none", "selective", "full"]
Loss = Literal["whole", "chunked"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One training step or one serving process.

    Attributes:
        model: Shape and parameters.
        mode: Training or serving.
        precision: Key of `PRECISIONS`, or `checkpoint`; with `lora`, that of the frozen weights.
        batch: Sequences per GPU and step when training; sequences served at once by all GPUs when serving.
        seq: Tokens per sequence; when serving, prompt and answer together.
        optimizer: Key of `OPTIMIZERS`.
        checkpointing: Which activations are kept: all, all but the attention scores (which FlashAttention never
            stores), or only the input of every layer.
        zero: ZeRO stage: 1 shards the optimizer over the GPUs, 2 the gradients too, 3 the weights too (FSDP).
        lora: Rank of adapters on all linear layers; 0 trains all weights.
        loss: Whether the logits of all tokens are in memory at once, or in chunks (fused and chunked losses).
        classes: Outputs per sequence of a classifier; 0 for a language model, which outputs its vocabulary per token.
        cache: Key of `CACHE_BYTES`.
        tensor_parallel: GPUs over which training divides every matrix.
        pipeline_parallel: Stages of layers, each on its own GPUs, when training.
        image: Width and height in pixels of the image per sequence; (0, 0) without one.
    """

    model: Architecture
    mode: Mode
    precision: str
    batch: int
    seq: int
    optimizer: str = "adamw"
    checkpointing: Checkpointing = "none"
    zero: int = 0
    lora: int = 0
    loss: Loss = "whole"
    classes: int = 0
    cache: str = "auto"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    image: tuple[int, int] = (0, 0)

    @property
    def numbers(self) -> Precision:
        """The number format."""
        return precision(self.precision, self.model.stored)

    @property
    def cache_width(self) -> float:
        """Bytes per number of the KV cache."""
        return CACHE_BYTES[self.cache] or self.numbers.activation

    @property
    def model_parallel(self) -> int:
        """GPUs that hold one copy of the model when training."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def states(self) -> Optimizer:
        """The optimizer's state."""
        return OPTIMIZERS[self.optimizer]

    @property
    def tokens(self) -> int:
        """Tokens per batch, those of the images included."""
        model, image = self.model, self.image if all(self.image) else None
        if model.diffusion:
            return self.batch * (model.diffusion.tokens(*image) if image else 0)
        return self.batch * (self.seq + (model.vision.image_tokens(*image) if model.vision and image else 0))

    @property
    def logits(self) -> int:
        """Logits per batch when training."""
        return self.batch * self.classes if self.classes else self.tokens * self.model.vocab
