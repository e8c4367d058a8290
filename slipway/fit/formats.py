"""Bytes per parameter, gradient and optimizer state: number formats and optimizers, each with its source.

ZeRO: Rajbhandari et al., arXiv:1910.02054v3, 2020-05-13, section 3.1. Transformers: "Model training anatomy",
huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy, 2024-04-18. QLoRA: Dettmers et al., arXiv:2305.14314,
2023-05-23, section 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from slipway.fit.architectures import Stored

# How a checkpoint keeps its weights, from the `quantization_config` of its config.json.


_SCALE: Final = 16  # bits of a group's scale in AWQ, GPTQ and integer formats of compressed-tensors
MX_BITS: Final = 4 + 8 / 32
"""MXFP4: blocks of 32 numbers of 4 bits share a scale of 8 bits (OCP Microscaling Formats 1.0, 2023-09, section 5)."""
NVFP4_BITS: Final = 4 + 8 / 16
"""NVFP4: blocks of 16 numbers of 4 bits share a scale of 8 bits (NVIDIA, "Introducing NVFP4", 2025-06-24)."""
NF4_BITS: Final = 4 + 32 / 64
"""NF4: blocks of 64 numbers of 4 bits share a scale of 32 bits (QLoRA, arXiv:2305.14314, section 2)."""
NF4_DOUBLE_BITS: Final = 4.127
"""NF4 whose scales are quantised too (QLoRA, section 3: 0.127 bits of constants per parameter)."""
UNKNOWN_BITS: Final = 0
"""Bits of a method that this module doesn't know: `--precision` has to say what the weights take."""
_MODELOPT: Final = {"NVFP4": NVFP4_BITS, "FP8": 8}
GROUP_SIZE: Final = 128  # group of AWQ and GPTQ unless the file names another


def grouped(bits: float, group: int = GROUP_SIZE) -> float:
    """Bits per weight with the scale and zero point of each group (AutoGPTQ and AutoAWQ: 16 bits, and `bits`)."""
    return bits + (_SCALE + bits) / group


def stored(quantization: Mapping[str, Any]) -> Stored:
    """The format of a checkpoint: bf16 without a `quantization_config`, `UNKNOWN_BITS` if its method is unknown."""
    method = str(quantization.get("quant_method", ""))
    if not quantization:
        return Stored()
    packed = grouped(quantization.get("bits", 4), quantization.get("group_size", GROUP_SIZE))
    four = NF4_DOUBLE_BITS if quantization.get("bnb_4bit_use_double_quant") else NF4_BITS
    known = {
        "fp8": Stored("fp8", 8),
        "fbgemm_fp8": Stored("fp8", 8),
        # gpt-oss quantises its experts alone: `modules_to_not_convert` lists attention, router and embeddings.
        "mxfp4": Stored("mxfp4", MX_BITS, experts_only=True),
        "awq": Stored("awq", packed),
        "gptq": Stored("gptq", packed),
        "bitsandbytes": Stored("nf4", four) if quantization.get("load_in_4bit") else Stored("int8", 8),
        "modelopt": Stored("modelopt", _MODELOPT.get(str(quantization.get("quant_algo")), UNKNOWN_BITS)),
        "compressed-tensors": _compressed(quantization),
    }
    return known.get(method, Stored(method or "unknown", UNKNOWN_BITS))


def _compressed(quantization: Mapping[str, Any]) -> Stored:
    group: Mapping[str, Any] = next(iter((quantization.get("config_groups") or {}).values()), {})
    weights = group.get("weights") or {}
    bits, size = weights.get("num_bits", 8), weights.get("group_size")
    scale = 8 if weights.get("type") == "float" else _SCALE
    experts_only = any("self_attn" in str(name) for name in quantization.get("ignore") or ())
    name = ("fp" if weights.get("type") == "float" else "int") + str(bits)
    return Stored(name, bits + (scale / size if size else 0), experts_only)


Mode = Literal["train", "serve"]
CACHE_BYTES: Final[Mapping[str, float]] = MappingProxyType({"auto": 0, "bf16": 2, "fp16": 2, "fp8": 1})
"""Bytes per number of the KV cache by `--kv-cache-dtype`, vLLM's name for it; `auto` is the format of activations."""


@dataclass(frozen=True, kw_only=True)
class Precision:
    """A number format of a model."""

    weight: float  # bytes per weight of the linear layers
    embedding: float  # bytes per weight of the embedding and the output layer: quantisation leaves these at 16 bits
    gradient: int  # bytes per gradient
    master: int  # bytes per weight of the 32-bit copy that the optimizer updates
    moment: int  # bytes per number of the optimizer's state, for optimizers that don't quantise it
    activation: int  # bytes per number of an activation, a key or a value
    experts_only: bool = False  # whether `weight` is for routed experts alone, and other linear layers take `embedding`
    modes: tuple[Mode, ...] = ("train", "serve")  # modes it supports; frozen base weights (LoRA) count as `serve`
    needs: frozenset[str] = frozenset()  # GPU architectures that support it; empty for all
    what: str  # description for readers


_BF16_FROM: Final = frozenset({"ampere", "ada", "hopper", "blackwell"})
"""bfloat16 needs compute capability 8.0 or higher (CUDA C Programming Guide 12.9, "Compute Capabilities", 2025-05)."""
_FP8_FROM: Final = frozenset({"ada", "hopper", "blackwell"})
"""8-bit floating point needs compute capability 8.9 or higher (same table)."""
_FP4_FROM: Final = frozenset({"blackwell"})
"""4-bit floating point in hardware (CUDA C Programming Guide 12.9, the same table); older GPUs unpack it to 16 bits."""
FULL_BITS: Final = 16
CHECKPOINT: Final = "checkpoint"  # the format that the model's files have


def _mixed(what: str, needs: frozenset[str] = frozenset()) -> Precision:
    """ZeRO, section 3.1: 2 bytes for the weight, 2 for the gradient, 12 for the optimizer (4 master, 8 Adam)."""
    return Precision(weight=2, embedding=2, gradient=2, master=4, moment=4, activation=2, needs=needs, what=what)


def _autocast(what: str, needs: frozenset[str] = frozenset()) -> Precision:
    """Transformers: 6 bytes for the weight (a 32-bit and a 16-bit copy), 4 for the gradient, 8 for AdamW."""
    return Precision(
        weight=6, embedding=6, gradient=4, master=0, moment=4, activation=2, modes=("train",), needs=needs, what=what
    )


def quantised(bits: float, what: str, *, needs: frozenset[str] = frozenset(), experts_only: bool = False) -> Precision:
    """Frozen quantised weights; adapters trained on them are kept as in `_mixed`.

    Args:
        bits: Bits per weight, scales included.
        what: Description for readers.
        needs: GPU architectures that support it; empty for all.
        experts_only: Whether only the routed experts of a model are quantised.
    """
    return Precision(
        weight=bits / 8,
        embedding=2,
        gradient=2,
        master=4,
        moment=4,
        activation=2,
        experts_only=experts_only,
        modes=("serve",),
        needs=needs,
        what=what,
    )


PRECISIONS: Final[Mapping[str, Precision]] = MappingProxyType(
    {
        "fp32": Precision(weight=4, embedding=4, gradient=4, master=0, moment=4, activation=4, what="32 bits"),
        "bf16": _mixed("bfloat16 with a 32-bit master copy", _BF16_FROM),
        "fp16": _mixed("float16 with a 32-bit master copy"),
        "amp-bf16": _autocast("32-bit weights, bfloat16 by autocast", _BF16_FROM),
        "amp-fp16": _autocast("32-bit weights, float16 by autocast"),
        "pure-bf16": Precision(
            weight=2,
            embedding=2,
            gradient=2,
            master=0,
            moment=2,
            activation=2,
            needs=_BF16_FROM,
            what="bfloat16 alone, the optimizer's state too",
        ),
        "fp8": quantised(8, "8-bit floating point weights", needs=_FP8_FROM),
        "int8": quantised(8, "8-bit integer weights"),
        "int4": quantised(grouped(4), "4-bit integer weights in groups of 128 (AWQ, GPTQ)"),
        "nf4": quantised(NF4_DOUBLE_BITS, "4-bit NormalFloat, double quantisation (bitsandbytes)"),
        "mxfp4": quantised(MX_BITS, "4-bit floating point experts, 16 bits elsewhere", experts_only=True),
        "nvfp4": quantised(NVFP4_BITS, "4-bit floating point weights", needs=_FP4_FROM),
    }
)


@dataclass(frozen=True)
class Optimizer:
    """State of an optimizer per trained parameter: `moments` numbers of the precision's size, plus `bytes` bytes."""

    moments: int
    bytes: int
    factored: bool = False


OPTIMIZERS: Final[Mapping[str, Optimizer]] = MappingProxyType(
    {
        # Two moments of 4 bytes; with 8-bit states 2 bytes in total; SGD with momentum one of 4 bytes (Transformers).
        "adamw": Optimizer(2, 0),
        "adamw8bit": Optimizer(0, 2),
        # Row and column sums in 32 bits instead of the second moment, no first one (Shazeer and Stern,
        # arXiv:1804.04235, 2018-04-11, section 3).
        "adafactor": Optimizer(0, 0, factored=True),
        "sgd": Optimizer(1, 0),
    }
)


def precision(name: str, checkpoint: Stored) -> Precision:
    """A number format by name; that of the model's files if the name is `checkpoint`."""
    if name != CHECKPOINT:
        return PRECISIONS[name]
    if checkpoint.bits == FULL_BITS:
        return PRECISIONS["bf16"]
    return quantised(checkpoint.bits, f"as stored: {checkpoint.name}", experts_only=checkpoint.experts_only)
