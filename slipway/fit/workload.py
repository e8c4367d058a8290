"""A workload and its checks: contradictions are reported before any memory is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from slipway.fit.architectures import Architecture
from slipway.fit.formats import OPTIMIZERS, PRECISIONS, Mode, Optimizer, Precision
from spec.settings.problems import Problem

Checkpointing = Literal["none", "selective", "full"]
Loss = Literal["whole", "chunked"]
CHECKPOINTING: Final[tuple[Checkpointing, ...]] = ("none", "selective", "full")
LOSS: Final[tuple[Loss, ...]] = ("whole", "chunked")
SEQ_LIMIT: Final = 10_485_760
"""Maximum tokens per sequence: the longest published context (Llama 4 Scout, 10M; ai.meta.com, 2025-04-05)."""
BATCH_LIMIT: Final = 65_536
LORA_LIMIT: Final = 4096
PARAMS_RANGE: Final = (1e6, 1e13)
COUNT_TOLERANCE: Final = 0.2
"""Allowed deviation of the parameters from those of the shape: norms, biases and odd heads are a few %."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One training step or one serving process.

    Attributes:
        model: Shape and parameters.
        mode: Training or serving.
        precision: Key of `PRECISIONS`; with `lora`, that of the frozen weights.
        batch: Sequences per GPU and step when training; sequences served at once by all GPUs when serving.
        seq: Tokens per sequence; when serving, prompt and answer together.
        optimizer: Key of `OPTIMIZERS`.
        checkpointing: Which activations are kept: all, all but the attention scores (which FlashAttention never
            stores), or only the input of every layer.
        zero: ZeRO stage: 1 shards the optimizer over the GPUs, 2 the gradients too, 3 the weights too (FSDP).
        lora: Rank of adapters on all linear layers; 0 trains all weights.
        loss: Whether the logits of all tokens are in memory at once, or in chunks (fused and chunked losses).
        classes: Outputs per sequence of a classifier; 0 for a language model, which outputs its vocabulary per token.
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

    @property
    def numbers(self) -> Precision:
        """The number format."""
        return PRECISIONS[self.precision]

    @property
    def states(self) -> Optimizer:
        """The optimizer's state."""
        return OPTIMIZERS[self.optimizer]

    @property
    def tokens(self) -> int:
        """Tokens per batch."""
        return self.batch * self.seq

    @property
    def logits(self) -> int:
        """Logits per batch when training."""
        return self.batch * self.classes if self.classes else self.tokens * self.model.vocab


def problems(work: Workload) -> Iterator[Problem]:
    """The problems of a workload; paths are command-line options."""
    yield from _numbers(work)
    yield from _names(work)
    yield from shape_problems(work.model)
    if work.precision in PRECISIONS:
        yield from _combinations(work)


def shape_problems(model: Architecture) -> Iterator[Problem]:
    """The problems of a shape, by itself and with its number of parameters."""
    sizes = {"layers": model.layers, "hidden": model.hidden, "heads": model.heads, "kv-heads": model.kv_heads}
    sizes |= {"ffn": model.ffn, "vocab": model.vocab}
    invalid = {name: value for name, value in sizes.items() if value < 1}
    for name, value in invalid.items():
        yield Problem(f"--{name}", "must be at least 1", value, "Use the value in the model's config.json")
    minimum, maximum = PARAMS_RANGE
    if not minimum <= model.params <= maximum:
        yield Problem(
            "--params", f"must be between {minimum:g} and {maximum:g}", model.params, "Use 7e9 or 7B for 7 billion"
        )
        return
    if invalid:
        return
    if model.hidden % model.heads:
        yield Problem(
            "--heads", f"must divide --hidden ({model.hidden})", model.heads, "Use the model's num_attention_heads"
        )
    if model.heads % model.kv_heads:
        fix = "Use the model's num_key_value_heads, or omit it"
        yield Problem("--kv-heads", f"must divide --heads ({model.heads})", model.kv_heads, fix)
    if abs(model.counted / model.params - 1) > COUNT_TOLERANCE:
        rule = f"must match the shape within {COUNT_TOLERANCE:.0%}; the shape has {model.counted:.3g} parameters"
        fix = "Correct --layers, --hidden, --ffn (with --gated for SwiGLU), --vocab or --tied"
        yield Problem("--params", rule, f"{model.params:.3g}", fix)


def _numbers(work: Workload) -> Iterator[Problem]:
    bounds = {
        "--batch": (
            work.batch,
            1,
            BATCH_LIMIT,
            "Use the number of sequences per step on one GPU (train) or served at once (serve)",
        ),
        "--seq": (
            work.seq,
            1,
            work.model.context or SEQ_LIMIT,
            "Use a value in this range; longer sequences need a model with a longer context",
        ),
        "--lora": (work.lora, 0, LORA_LIMIT, "Use a rank, typically 4 to 256, or omit it to train all weights"),
        "--classes": (work.classes, 0, work.model.vocab, "Omit it for a language model"),
        "--zero": (work.zero, 0, 3, "Use 0 to shard nothing, up to 3 to shard weights, gradients and optimizer"),
    }
    for path, (value, minimum, maximum, fix) in bounds.items():
        if not minimum <= value <= maximum:
            yield Problem(path, f"must be between {minimum} and {maximum}", value, fix)


def _names(work: Workload) -> Iterator[Problem]:
    names = {
        "--mode": (work.mode, ("train", "serve")),
        "--precision": (work.precision, tuple(PRECISIONS)),
        "--optimizer": (work.optimizer, tuple(OPTIMIZERS)),
        "--checkpointing": (work.checkpointing, CHECKPOINTING),
        "--loss": (work.loss, LOSS),
    }
    for path, (value, known) in names.items():
        if value not in known:
            yield Problem(path, "must be a known value", value, f"Use one of {', '.join(known)}")


def _combinations(work: Workload) -> Iterator[Problem]:
    trains = "train" in work.numbers.modes
    if work.mode == "train" and not trains and not work.lora:
        fix = "Add --lora RANK to train adapters on frozen weights, or use bf16"
        yield Problem("--precision", "must be a format that can be trained", work.precision, fix)
    if work.mode == "train" and work.lora and "serve" not in work.numbers.modes:
        yield Problem(
            "--precision", "must keep one copy of the frozen weights", work.precision, "Use bf16, fp32, int8 or int4"
        )
    if work.mode == "serve" and "serve" not in work.numbers.modes:
        yield Problem("--precision", "must be a format for serving", work.precision, "Use bf16, fp16, fp8 or int4")
    if work.mode == "serve":
        training_only = {
            "--lora": work.lora,
            "--zero": work.zero,
            "--checkpointing": work.checkpointing != "none" and work.checkpointing,
        }
        for path, value in training_only.items():
            if value:
                yield Problem(path, "requires --mode train", value, "Omit it, or use --mode train")
