"""How a checkpoint keeps its weights, from the `quantization_config` of its config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slipway.fit.architectures import Stored

_SCALE: Final = 16
"""Bits of a group's scale in AWQ, GPTQ and integer formats of compressed-tensors."""
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
GROUP_SIZE: Final = 128
"""Group of AWQ and GPTQ unless the file names another."""


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
