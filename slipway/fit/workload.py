"""What shall run, and whether that can be: every contradiction is found before a byte is counted."""

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
"""Tokens: the longest context of any published model (Llama 4 Scout, 10M; ai.meta.com, 2025-04-05)."""
BATCH_LIMIT: Final = 65_536
LORA_LIMIT: Final = 4096
PARAMS_RANGE: Final = (1e6, 1e13)
COUNT_TOLERANCE: Final = 0.2
"""How far the parameters may be from those that the shape has: norms, biases, odd heads are a few percent."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One training step or one serving process.

    Attributes:
        model: Shape and parameters.
        mode: Training or serving.
        precision: Key of `PRECISIONS`; with `lora`, that of the frozen weights.
        batch: Sequences that one GPU computes at once in training, or that are served at once by all GPUs together.
        seq: Tokens of a sequence; when serving, prompt and answer together.
        optimizer: Key of `OPTIMIZERS`.
        checkpointing: Which activations are kept: all, all but the attention scores (which FlashAttention never
            stores), or the input of every layer alone.
        zero: Stage of ZeRO: 1 shards the optimizer over the GPUs, 2 the gradients too, 3 the weights too (FSDP).
        lora: Rank of adapters on all linear layers; 0 trains all weights.
        loss: Whether the logits of all tokens are there at once, or by chunks (fused and chunked losses).
        classes: Outputs of a classifier, one set a sequence; 0 for a language model, which has its vocabulary a token.
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
        """How numbers are kept."""
        return PRECISIONS[self.precision]

    @property
    def states(self) -> Optimizer:
        """What the optimizer keeps."""
        return OPTIMIZERS[self.optimizer]

    @property
    def tokens(self) -> int:
        """Tokens of a batch."""
        return self.batch * self.seq

    @property
    def logits(self) -> int:
        """Outputs of a batch in training."""
        return self.batch * self.classes if self.classes else self.tokens * self.model.vocab


def problems(work: Workload) -> Iterator[Problem]:
    """What is wrong with a workload; paths are those of the command line."""
    yield from _numbers(work)
    yield from _names(work)
    yield from shape_problems(work.model)
    if work.precision in PRECISIONS:
        yield from _combinations(work)


def shape_problems(model: Architecture) -> Iterator[Problem]:
    """What can't be of a shape, or does not go with its number of parameters."""
    sizes = {"layers": model.layers, "hidden": model.hidden, "heads": model.heads, "kv-heads": model.kv_heads}
    sizes |= {"ffn": model.ffn, "vocab": model.vocab}
    wrong = {name: value for name, value in sizes.items() if value < 1}
    for name, value in wrong.items():
        yield Problem(f"--{name}", "is at least 1", value, "Give what the model's config.json has")
    minimum, maximum = PARAMS_RANGE
    if not minimum <= model.params <= maximum:
        yield Problem(
            "--params", f"lies between {minimum:g} and {maximum:g}", model.params, "Write 7e9 or 7B for 7 billion"
        )
        return
    if wrong:
        return
    if model.hidden % model.heads:
        yield Problem(
            "--heads", f"divides --hidden ({model.hidden})", model.heads, "Give the model's num_attention_heads"
        )
    if model.heads % model.kv_heads:
        fix = "Give the model's num_key_value_heads, or leave it out"
        yield Problem("--kv-heads", f"divides --heads ({model.heads})", model.kv_heads, fix)
    if abs(model.counted / model.params - 1) > COUNT_TOLERANCE:
        rule = f"is what the shape has, within {COUNT_TOLERANCE:.0%}: {model.counted:.3g} are counted"
        fix = "Mend --layers, --hidden, --ffn (with --gated for SwiGLU), --vocab or --tied"
        yield Problem("--params", rule, f"{model.params:.3g}", fix)


def _numbers(work: Workload) -> Iterator[Problem]:
    bounds = {
        "--batch": (work.batch, 1, BATCH_LIMIT, "Give the sequences of one step on one GPU"),
        "--seq": (
            work.seq,
            1,
            work.model.context or SEQ_LIMIT,
            "Give a shorter sequence, or a model of longer context",
        ),
        "--lora": (work.lora, 0, LORA_LIMIT, "Ranks are 4 to 256 as a rule; leave it out to train all weights"),
        "--classes": (work.classes, 0, work.model.vocab, "Leave it out for a language model"),
        "--zero": (work.zero, 0, 3, "0 shards nothing, 3 shards weights, gradients and optimizer"),
    }
    for path, (value, minimum, maximum, fix) in bounds.items():
        if not minimum <= value <= maximum:
            yield Problem(path, f"lies between {minimum} and {maximum}", value, fix)


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
            yield Problem(path, "is one that is known", value, f"Write one of {', '.join(known)}")


def _combinations(work: Workload) -> Iterator[Problem]:
    trains = "train" in work.numbers.modes
    if work.mode == "train" and not trains and not work.lora:
        fix = "Add --lora RANK to train adapters on frozen weights, or take bf16"
        yield Problem("--precision", "is one in which weights can be trained", work.precision, fix)
    if work.mode == "train" and work.lora and "serve" not in work.numbers.modes:
        yield Problem(
            "--precision", "keeps one copy of frozen weights", work.precision, "Take bf16, fp32, int8 or int4"
        )
    if work.mode == "serve" and "serve" not in work.numbers.modes:
        yield Problem(
            "--precision", "is one in which a model is served", work.precision, "Take bf16, fp16, fp8 or int4"
        )
    if work.mode == "serve":
        given = {
            "--lora": work.lora,
            "--zero": work.zero,
            "--checkpointing": work.checkpointing != "none" and work.checkpointing,
        }
        for path, value in given.items():
            if value:
                yield Problem(path, "is for --mode train", value, "Leave it out, or say --mode train")
