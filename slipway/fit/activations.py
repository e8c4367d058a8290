"""Memory of activations: those that a training step keeps, and the temporary memory of serving.

The formula is that of Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
arXiv:2205.05198v1, 2022-05-10, section 4: every tensor that the backward pass needs, in bytes per token and layer. For
a GPT with dropout it gives their `sbh(34 + 5as/h)` (equation 1), and `34sbh` with the attention scores recomputed
(equation 6, without parallelism). For models with fewer key-value heads, a latent, a gate, experts, a recurrent state
or no dropout, the same tensors are counted with their own sizes (slipway/fit/layers.py).
"""

from __future__ import annotations

from typing import Final

from slipway.fit.architectures import Architecture
from slipway.fit.layers import Layer
from slipway.fit.workload import Workload

PREFILL_TOKENS: Final = 8192
"""Maximum tokens that vLLM processes at once during prefill: its server's `max_num_batched_tokens` on GPUs of 70 GiB or
more; 2048 on smaller ones (vllm/engine/arg_utils.py, 2025-11)."""
_STORED_LOGITS: Final = 4
"""Bytes per logit that a chunked loss keeps: 32 bits (Korthikanti, section 4.3: `4sbv`)."""
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
        layer: The layer.
        width: Bytes of an activation.
        dropout: Whether the masks of dropout are kept, after attention and after the feed-forward network.
    """
    return width * layer.tensors() + (2 * layer.hidden if dropout else 0)


def score_bytes(layer: Layer, width: float, seq: int, *, dropout: bool = False) -> float:
    """Bytes per token of one layer's attention scores: softmax, and with dropout its mask and result."""
    return layer.scored_heads * seq * (2 * width + 1 if dropout else width)


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
