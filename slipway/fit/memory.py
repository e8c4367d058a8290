"""Memory of one GPU by component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    Training splits the model by tensor and pipeline parallelism, and shards what is left by ZeRO stage over the groups
    that each have a batch of their own. Serving splits it by tensor parallelism over the GPUs of each stage of a
    pipeline, and all GPUs share the batch.

    Args:
        work: A workload without `problems`.
        gpus: GPUs that work together: a multiple of `work.model_parallel`.
    """
    overhead = CONTEXT_BYTES + (COMMUNICATION_BYTES if gpus > 1 else 0)
    parts = _training(work, gpus) if work.mode == "train" else _serving(work, gpus)
    return Memory(MappingProxyType({**parts, "context": overhead}))


def trained_params(work: Workload) -> float:
    """Parameters with gradients: all of them, or with LoRA r(m + n) for each matrix of m inputs and n outputs.

    Adapters are on every linear layer except routed experts, which get none.
    """
    if work.lora:
        return work.lora * sides(work)
    return work.model.params


def weight_bytes(work: Workload) -> float:
    """Bytes of the model's weights: quantised layers in their format, embeddings, norms and encoders in 16 bits."""
    model, numbers = work.model, work.numbers
    quantised = min(model.expert_params if numbers.experts_only else model.linear_params, model.params)
    total = quantised * numbers.weight + (model.params - quantised) * numbers.embedding
    if model.diffusion:
        for name, params in model.diffusion.parts.items():
            total += params * (numbers.weight if name in model.diffusion.quantised else numbers.embedding)
    return total


def kv_bytes(work: Workload, gpus: int = 1) -> float:
    """Bytes of the cache on one GPU: keys and values, or a latent, of every token or of a window, and states."""
    layers = (layer for layer in work.model.layers if layer.mixer)
    width = work.cache_width
    caches = (
        layer.count * layer.mixer.cache(work.tokens // work.batch, width, gpus) for layer in layers if layer.mixer
    )
    return 0 if work.model.diffusion else work.batch * sum(caches)


def _training(work: Workload, gpus: int) -> dict[str, float]:
    numbers, trained = work.numbers, trained_params(work)
    weights = weight_bytes(work) + (trained * numbers.embedding if work.lora else 0)
    gradients = trained * numbers.gradient
    state = trained * (numbers.master + work.states.moments * numbers.moment + work.states.bytes)
    if work.states.factored:
        state += 4 * sides(work)
    split = work.model_parallel
    groups = max(1, gpus // split)
    shards = [split * (groups if work.zero >= stage else 1) for stage in (3, 2, 1)]
    return {
        "weights": weights / shards[0] + (_gathered(work) if work.zero == 3 and groups > 1 else 0),
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
        "kv cache": kv_bytes(work, max(1, gpus // work.pipeline_parallel)) / work.pipeline_parallel,
    }


def _gathered(work: Workload) -> float:
    """The layer that ZeRO stage 3 has gathered, weights and gradients: `4 * largest_layer_params` of DeepSpeed
    (deepspeed.readthedocs.io, "Memory Requirements", 2026), with a transformer layer as the unit, as in FSDP."""
    gradient = 0 if work.lora else work.numbers.gradient
    largest = max(layer.dense_params + layer.expert_params for layer in work.model.layers)
    return largest * (work.numbers.weight + gradient) / work.tensor_parallel


def sides(work: Workload) -> int:
    """Inputs plus outputs of all matrices that every token uses."""
    return sum(layer.count * (rows + columns) for layer in work.model.layers for rows, columns in layer.matrices)
