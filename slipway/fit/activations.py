"""Memory of activations: those that a training step keeps, and the temporary memory of serving.

The formula is that of Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
arXiv:2205.05198v1, 2022-05-10, section 4: every tensor that the backward pass needs, in bytes per token and layer. For
a GPT with dropout it gives their `sbh(34 + 5as/h)` (equation 1), and `34sbh` with the attention scores recomputed
(equation 6, without parallelism). For models with fewer key-value heads, a gate, or no dropout, the same tensors are
counted with their own sizes.
"""

from __future__ import annotations

from typing import Final

from slipway.fit.architectures import Architecture
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


def layer_bytes(model: Architecture, width: int) -> int:
    """Bytes per token of one layer, without attention scores.

    Args:
        model: The shape.
        width: Bytes of an activation.
    """
    norms = 2 * model.hidden
    # Input of the three projections, queries, keys and values, input of the output projection.
    attention = model.hidden + model.hidden + 2 * model.kv_width + model.hidden
    # Its input, the input of the activation function, the input of the last matrix; with a gate, its two factors.
    feed_forward = model.hidden + (4 if model.gated else 2) * model.ffn
    masks = 2 * model.hidden if model.dropout else 0
    return width * (norms + attention + feed_forward) + masks


def score_bytes(model: Architecture, width: int, seq: int) -> int:
    """Bytes per token of one layer's attention scores: softmax, and with dropout its mask and result."""
    return model.heads * seq * (2 * width + 1 if model.dropout else width)


def training(work: Workload) -> float:
    """Bytes of activations on one GPU at the peak of a training step.

    With full checkpointing, every layer keeps only its input, and one layer at a time is recomputed; that layer and the
    loss are never in memory at the same time.
    """
    model, width = work.model, work.numbers.activation
    layer = layer_bytes(model, width) * work.tokens
    loss = _loss(work)
    if work.checkpointing == "full":
        return model.layers * width * model.hidden * work.tokens + max(layer, loss)
    if work.checkpointing == "none":
        layer += score_bytes(model, width, work.seq) * work.tokens
    return model.layers * layer + loss


def serving(work: Workload) -> float:
    """Temporary bytes on one GPU: one layer for the tokens of a prefill step, and the logits of one token per sequence.

    Tensor parallelism does not reduce it: vLLM measured 1.26 GiB with one GPU and with two (vllm-project/vllm#10511,
    2024-12-14).
    """
    tokens = min(work.tokens, PREFILL_TOKENS)
    return layer_bytes(work.model, work.numbers.activation) * tokens + _STORED_LOGITS * work.model.vocab * work.batch


def _loss(work: Workload) -> float:
    if work.loss == "chunked":
        return _STORED_LOGITS * work.logits
    width = work.numbers.activation
    return (_WHOLE_LOSS + (width if width < _LOSS_WIDTH else 0)) * work.logits
