"""Memory of one GPU by component, among them activations: what a step keeps, and what serving needs.

The formula is that of Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
arXiv:2205.05198v1, 2022-05-10, section 4: every tensor that the backward pass needs, in bytes per token and layer. For
a GPT with dropout it gives their `34sbh` with the attention scores recomputed (equation 6, without parallelism), and
`sbh(34 + 7as/h)` with them: they have 5 (equation 1), for a softmax in 16 bits. For models with fewer key-value heads,
a latent, a gate, experts, a recurrent state or no dropout, the same tensors are counted with their own sizes
(slipway/fit/layers.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from slipway.fit.architectures import Architecture
from slipway.fit.layers import Layer
from slipway.fit.workload import Workload

# Memory of activations: those that a training step keeps, and the temporary memory of serving.


PREFILL_TOKENS: Final = 8192
"""Maximum tokens that vLLM processes at once during prefill: its server's `max_num_batched_tokens` on GPUs of 70 GiB or
more; 2048 on smaller ones (vllm/engine/arg_utils.py, 2025-11)."""
_SOFTMAX: Final = 4
_STORED_LOGITS: Final = 4  # bytes per logit that a chunked loss keeps: 32 bits (Korthikanti, section 4.3: `4sbv`)
_LOSS_WIDTH: Final = 4
_WHOLE_LOSS: Final = 3 * _LOSS_WIDTH
"""Bytes per logit during the backward pass of a 32-bit loss over all logits, as in PyTorch's cross_entropy: the logits,
their log-softmax and its gradient. If the model's own format is narrower, the logits in that format come on top."""
DECODER_MAPS: Final = 4
"""Widest feature maps of an image decoder that exist at once: a block's input, after its norm, after its activation,
and its result (`ResnetBlock2D` of diffusers)."""


def layer_bytes(layer: Layer, width: float, *, dropout: bool = False) -> float:
    """Bytes per token of one layer, without attention scores.

    Args:
        width: Bytes of an activation.
        dropout: Whether the masks of dropout are kept, after attention and after the feed-forward network.
    """
    return width * layer.tensors() + (2 * layer.hidden if dropout else 0)


def score_bytes(layer: Layer, width: float, seq: int, *, dropout: bool = False) -> float:
    """Bytes per token of one layer's attention scores: softmax, its 16-bit copy, and with dropout its mask and result.

    Softmax is in 32 bits, also where activations are in 16 (`eager_attention_forward` of Transformers 5.17; "CUDA Ops
    that can autocast to float32", PyTorch 2.11). The fused kernels of Megatron keep two bytes less than this.
    """
    softmax = max(width, _SOFTMAX)
    copy = width if dropout or softmax > width else 0
    return layer.scored_heads * seq * (softmax + copy + dropout)


def training(work: Workload) -> float:
    """Bytes of activations on one GPU at the peak of a training step.

    With full checkpointing, every layer keeps only its input, and one layer at a time is recomputed; that layer and the
    loss are never in memory at the same time. Tensor parallelism divides everything, because the parts that it can't
    split are split along the sequence (Korthikanti, equation 4). The first stage of a pipeline holds as many
    microbatches as there are stages, so it keeps as much as all layers of one (section 4.2.3).
    """
    model, width, dropout = work.model, work.numbers.activation, work.model.dropout
    loss = logit_bytes(work) * work.logits
    if work.checkpointing == "full":
        widest = max(layer_bytes(layer, width, dropout=dropout) for layer in model.layers) * work.tokens
        total = model.depth * width * model.hidden * work.tokens + max(widest, loss)
    else:
        kept = sum(layer.count * layer_bytes(layer, width, dropout=dropout) for layer in model.layers)
        if work.checkpointing == "none":
            kept += sum(layer.count * score_bytes(layer, width, work.seq, dropout=dropout) for layer in model.layers)
        total = kept * work.tokens + loss
    return total / work.tensor_parallel


def serving(work: Workload) -> float:
    """Temporary bytes on one GPU: one layer for the tokens of a prefill step, and the logits of one token per sequence.

    Tensor parallelism does not reduce it: vLLM measured 1.26 GiB with one GPU and with two (vllm-project/vllm#10511,
    2024-12-14).
    """
    width = work.numbers.activation
    if work.model.diffusion:
        return _image(work)
    step = min(work.tokens, PREFILL_TOKENS)
    text = _widest(work.model, width) * step + _STORED_LOGITS * work.model.vocab * work.batch
    vision = work.model.vision
    patches = vision.patches(*work.image) if vision and work.image else 0
    return text + (layer_bytes(vision.layer, width) * patches if vision else 0)


def _image(work: Workload) -> float:
    """One block of the transformer for all tokens of the image, or the decoder's widest maps: whichever is larger."""
    width, pixels = work.numbers.activation, work.image[0] * work.image[1] * work.batch
    diffusion = work.model.diffusion
    channels = diffusion.channels if diffusion else 0
    return max(_widest(work.model, width) * work.tokens, DECODER_MAPS * channels * pixels * width)


def _widest(model: Architecture, width: float) -> float:
    return max(layer_bytes(layer, width) for layer in model.layers)


def logit_bytes(work: Workload) -> float:
    """Bytes per logit of a training step."""
    if work.loss == "chunked":
        return _STORED_LOGITS
    width = work.numbers.activation
    return _WHOLE_LOSS + (width if width < _LOSS_WIDTH else 0)


# Memory of one GPU by component.


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
        "activations": training(work),
        "kv cache": 0,
    }


def _serving(work: Workload, gpus: int) -> dict[str, float]:
    return {
        "weights": weight_bytes(work) / gpus,
        "gradients": 0,
        "optimizer": 0,
        "activations": serving(work),
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
