"""A workload: one training step, or one serving process; contradictions are reported before memory is computed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from slipway.fit.architectures import Architecture
from slipway.fit.formats import (
    CACHE_BYTES,
    CHECKPOINT,
    OPTIMIZERS,
    PRECISIONS,
    UNKNOWN_BITS,
    Mode,
    Optimizer,
    Precision,
    precision,
)
from spec.settings.problems import Problem

# A workload: one training step, or one serving process.


Checkpointing = Literal["none", "selective", "full"]
Loss = Literal["whole", "chunked"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One training step or one serving process."""

    model: Architecture  # shape and parameters
    mode: Mode  # training or serving
    precision: str  # key of `PRECISIONS`, or `checkpoint`; with `lora`, that of the frozen weights
    batch: int  # sequences per GPU and step when training; sequences served at once by all GPUs when serving
    seq: int  # tokens per sequence; when serving, prompt and answer together
    optimizer: str = "adamw"  # key of `OPTIMIZERS`
    checkpointing: Checkpointing = "none"
    """Which activations are kept: all, all but the attention scores (which FlashAttention never stores), or only the
    input of every layer."""
    zero: int = 0  # ZeRO stage: 1 shards the optimizer over the GPUs, 2 the gradients too, 3 the weights too (FSDP)
    lora: int = 0  # rank of adapters on all linear layers; 0 trains all weights
    loss: Loss = "whole"
    """Whether the logits of all tokens are in memory at once, or in chunks (fused and chunked losses)."""
    classes: int = 0
    """Outputs per sequence of a classifier; 0 for a language model, which outputs its vocabulary per token."""
    cache: str = "auto"  # key of `CACHE_BYTES`
    tensor_parallel: int = 1  # GPUs over which training divides every matrix
    pipeline_parallel: int = 1  # stages of layers, each on its own GPUs, when training
    image: tuple[int, int] = (0, 0)  # width and height in pixels of the image per sequence; (0, 0) without one

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


# Checks of a workload: contradictions are reported before any memory is computed.


CHECKPOINTING: Final[tuple[Checkpointing, ...]] = ("none", "selective", "full")
LOSS: Final[tuple[Loss, ...]] = ("whole", "chunked")
SEQ_LIMIT: Final = 10_485_760
"""Maximum tokens per sequence: the longest published context (Llama 4 Scout, 10M; ai.meta.com, 2025-04-05)."""
BATCH_LIMIT: Final = 65_536
LORA_LIMIT: Final = 4096
PARALLEL_LIMIT: Final = 1024
PIXELS: Final = (64, 8192)
PARAMS_RANGE: Final = (1e6, 1e13)
COUNT_TOLERANCE: Final = 0.2
"""Allowed deviation of the parameters from those of the shape: norms, biases and odd heads are a few %."""


def problems(work: Workload) -> Iterator[Problem]:
    """The problems of a workload; paths are command-line options."""
    yield from _numbers(work)
    yield from _names(work)
    yield from shape_problems(work.model)
    if work.precision == CHECKPOINT and work.model.stored.bits == UNKNOWN_BITS:
        rule = f"is required: quantization_config has the unknown method {work.model.stored.name!r}"
        yield Problem("--precision", rule, None, f"Use one of {', '.join(PRECISIONS)}")
    elif work.precision in PRECISIONS or work.precision == CHECKPOINT:
        yield from _formats(work)
    yield from _modes(work)


def shape_problems(model: Architecture) -> Iterator[Problem]:
    """The problems of a shape, by itself and with its number of parameters."""
    minimum, maximum = PARAMS_RANGE
    if not minimum <= model.params <= maximum:
        fix = "Use 7e9 or 7B for 7 billion"
        yield Problem("--params", f"must be between {minimum:g} and {maximum:g}", model.params, fix)
        return
    for kv_heads in sorted({one.kv_heads for _, one in model.attentions if one.heads % one.kv_heads}):
        rule = f"num_key_value_heads must divide num_attention_heads ({model.heads})"
        yield Problem("--config", rule, kv_heads, "Correct it in config.json, or remove it")
    if abs(model.counted / model.params - 1) > COUNT_TOLERANCE:
        rule = f"must match the shape within {COUNT_TOLERANCE:.0%}; the shape has {model.counted:.3g} parameters"
        fix = "Correct it, or the sizes in config.json"
        yield Problem("--params", rule, f"{model.params:.3g}", fix)


def _numbers(work: Workload) -> Iterator[Problem]:
    batch = "Use the number of sequences per step on one GPU (train) or served at once (serve)"
    zero = "Use 0 to shard nothing, up to 3 to shard weights, gradients and optimizer"
    seq = "Use the tokens of a prompt and its answer"
    longer = f"Use at most {work.model.context:,}: the model's context, max_position_embeddings of its config.json"
    bounds = {
        "--batch": (work.batch, 1, BATCH_LIMIT, batch),
        "--seq": (work.seq, 1, work.model.context or SEQ_LIMIT, longer if work.seq > work.model.context > 0 else seq),
        "--lora": (work.lora, 0, LORA_LIMIT, "Use a rank, typically 4 to 256, or omit it to train all weights"),
        "--classes": (work.classes, 0, work.model.vocab, "Omit it for a language model"),
        "--zero": (work.zero, 0, 3, zero),
        "--tensor-parallel": (work.tensor_parallel, 1, PARALLEL_LIMIT, "Use a divisor of the GPUs of a node: 2, 4, 8"),
        "--pipeline-parallel": (work.pipeline_parallel, 1, work.model.depth, "Use at most one stage per layer"),
    }
    if work.model.diffusion:
        del bounds["--seq"]
    for path, (value, minimum, maximum, fix) in bounds.items():
        if not minimum <= value <= maximum:
            yield Problem(path, f"must be between {minimum} and {maximum}", value, fix)
    minimum, maximum = PIXELS
    if any(work.image) and not all(minimum <= side <= maximum for side in work.image):
        fix = "Use width x height in pixels: 1024x1024"
        yield Problem("--image", f"must be {minimum} to {maximum} pixels on each side", work.image, fix)


def _names(work: Workload) -> Iterator[Problem]:
    names = {
        "--mode": (work.mode, ("train", "serve")),
        "--precision": (work.precision, (CHECKPOINT, *PRECISIONS)),
        "--optimizer": (work.optimizer, tuple(OPTIMIZERS)),
        "--checkpointing": (work.checkpointing, CHECKPOINTING),
        "--loss": (work.loss, LOSS),
        "--kv-cache-dtype": (work.cache, tuple(CACHE_BYTES)),
    }
    for path, (value, known) in names.items():
        if value not in known:
            yield Problem(path, "must be a known value", value, f"Use one of {', '.join(known)}")


def _formats(work: Workload) -> Iterator[Problem]:
    numbers = work.numbers
    if work.mode == "train" and "train" not in numbers.modes and not work.lora:
        fix = "Add --lora RANK to train adapters on frozen weights, or use bf16"
        yield Problem("--precision", "must be a format that can be trained", work.precision, fix)
    if work.mode == "train" and work.lora and "serve" not in numbers.modes:
        fix = "Use bf16, fp32, int8 or nf4"
        yield Problem("--precision", "must keep one copy of the frozen weights", work.precision, fix)
    if work.mode == "serve" and "serve" not in numbers.modes:
        yield Problem("--precision", "must be a format for serving", work.precision, "Use bf16, fp16, fp8 or int4")
    if numbers.experts_only and not work.model.expert_params:
        fix = "Use int4, nf4 or nvfp4, which quantise all linear layers"
        yield Problem("--precision", "requires a model with experts", work.precision, fix)


def _modes(work: Workload) -> Iterator[Problem]:
    model = work.model
    if work.mode == "train" and model.diffusion:
        yield Problem("--mode", "must be serve for a diffusion pipeline", work.mode, "Training one is not covered")
    if model.diffusion and not any(work.image):
        yield Problem("--image", "is required for a diffusion pipeline", None, "Give width x height: 1024x1024")
    if any(work.image) and not (model.diffusion or model.vision):
        fix = "Omit it, or use a model with a vision_config"
        yield Problem("--image", "requires a model that takes or makes images", work.image, fix)
    if work.tensor_parallel > 0 and model.heads % work.tensor_parallel:
        fix = "Use a divisor of the heads"
        yield Problem("--tensor-parallel", f"must divide the model's {model.heads} heads", work.tensor_parallel, fix)
    if work.mode != "serve":
        return
    training_only = {
        "--lora": work.lora,
        "--zero": work.zero,
        "--checkpointing": work.checkpointing != "none" and work.checkpointing,
        "--tensor-parallel": work.tensor_parallel > 1 and work.tensor_parallel,
    }
    for path, value in training_only.items():
        if value:
            fix = "Omit it: serving tries every number of GPUs" if "tensor" in path else "Omit it, or use --mode train"
            yield Problem(path, "requires --mode train", value, fix)
