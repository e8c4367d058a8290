"""Memory of one GPU by component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Final

from slipway.fit import activations
from slipway.fit.workload import Workload

GIB: Final = 2**30
CONTEXT_BYTES: Final = 1343 * 2**20
"""Memory of a process before its first tensor: CUDA's context and kernels ("The kernels alone take up 1.3GB",
huggingface.co/docs/transformers/v4.40.0/model_memory_anatomy, 2024-04-18, on a V100)."""
COMMUNICATION_BYTES: Final = 1.79 * GIB
"""Additional memory of NCCL and its buffers when several GPUs work together: vLLM measured 1.79 GiB outside PyTorch on
one H100, and 3.58 GiB on each of two (vllm-project/vllm#10511, 2024-12-14)."""


@dataclass(frozen=True)
class Memory:
    """Memory of one GPU in bytes: `weights`, `gradients`, `optimizer`, `activations`, `kv cache`, `context`."""

    parts: Mapping[str, float]

    @property
    def total(self) -> float:
        """Total bytes."""
        return sum(self.parts.values())

    def of(self, *names: str) -> float:
        """Total bytes of some parts."""
        return sum(self.parts[name] for name in names)


def memory(work: Workload, gpus: int = 1) -> Memory:
    """Memory of each of the GPUs that share a workload.

    Training shards by ZeRO stage, and every GPU has its own batch; serving shards by tensor parallelism, and all GPUs
    share the batch.

    Args:
        work: A workload without `problems`.
        gpus: GPUs that work together.
    """
    overhead = CONTEXT_BYTES + (COMMUNICATION_BYTES if gpus > 1 else 0)
    parts = _training(work, gpus) if work.mode == "train" else _serving(work, gpus)
    return Memory(MappingProxyType({**parts, "context": overhead}))


def trained_params(work: Workload) -> float:
    """Parameters with gradients: all of them, or with LoRA r(m + n) for each matrix of m inputs and n outputs."""
    if work.lora:
        return work.lora * work.model.layers * _sides(work)
    return work.model.params


def weight_bytes(work: Workload) -> float:
    """Bytes of the model's weights, with the embeddings in their own format."""
    embedding = min(work.model.embedding_params, work.model.params)
    numbers = work.numbers
    return (work.model.params - embedding) * numbers.weight + embedding * numbers.embedding


def kv_bytes(work: Workload, gpus: int = 1) -> float:
    """Bytes of the KV cache on one GPU. Heads are not divided: more GPUs than key-value heads keep copies."""
    heads = ceil(work.model.kv_heads / gpus)
    return 2 * work.model.layers * heads * work.model.head_width * work.numbers.activation * work.tokens


def _training(work: Workload, gpus: int) -> dict[str, float]:
    numbers, trained = work.numbers, trained_params(work)
    weights = weight_bytes(work) + (trained * numbers.embedding if work.lora else 0)
    gradients = trained * numbers.gradient
    state = trained * (numbers.master + work.states.moments * numbers.moment + work.states.bytes)
    if work.states.factored:
        state += 4 * work.model.layers * _sides(work)
    shards = [gpus if work.zero >= stage else 1 for stage in (3, 2, 1)]
    return {
        "weights": weights / shards[0] + (_gathered(work) if shards[0] > 1 else 0),
        "gradients": gradients / shards[1],
        "optimizer": state / shards[2],
        "activations": activations.training(work),
        "kv cache": 0,
    }


def _serving(work: Workload, gpus: int) -> dict[str, float]:
    return {
        "weights": weight_bytes(work) / gpus,
        "gradients": 0,
        "optimizer": 0,
        "activations": activations.serving(work),
        "kv cache": kv_bytes(work, gpus),
    }


def _gathered(work: Workload) -> float:
    """The layer that ZeRO stage 3 has gathered, weights and gradients: `4 * largest_layer_params` of DeepSpeed
    (deepspeed.readthedocs.io, "Memory Requirements", 2026), with a transformer layer as the unit, as in FSDP."""
    gradient = 0 if work.lora else work.numbers.gradient
    return work.model.layer_params * (work.numbers.weight + gradient)


def _sides(work: Workload) -> int:
    """Inputs plus outputs of all matrices of a layer."""
    return sum(rows + columns for rows, columns in work.model.matrices)
