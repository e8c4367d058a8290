"""The formula of each part of an estimate, with its numbers; a test computes each text and compares the result."""

from collections import Counter
from collections.abc import Mapping

from slipway.fit import activations
from slipway.fit.activations import COMMUNICATION_BYTES, CONTEXT_BYTES, GIB, sides, trained_params
from slipway.fit.layers import CONVOLUTION_BYTES, STATE_BYTES, Attention, Recurrent
from slipway.fit.workload import Workload

_MIB = 2**20


def formulas(work: Workload, gpus: int) -> Mapping[str, str]:
    """The formula of each part on one of `gpus` GPUs, by part; `B` is bytes, and `x` multiplies."""
    parts = _training(work, gpus) if work.mode == "train" else _serving(work, gpus)
    more = f" + {COMMUNICATION_BYTES / GIB:.2f} GiB for communication" if gpus > 1 else ""
    return {**parts, "context": f"{CONTEXT_BYTES // _MIB} MiB for CUDA{more}"}


def _serving(work: Workload, gpus: int) -> dict[str, str]:
    stages = work.pipeline_parallel
    return {
        "weights": _weights(work) + _over(gpus, "GPUs"),
        "activations": _temporary(work),
        "kv cache": _cache(work, max(1, gpus // stages)) + _over(stages, "stages"),
    }


def _training(work: Workload, gpus: int) -> dict[str, str]:
    numbers, trained = work.numbers, trained_params(work)
    split = work.model_parallel
    groups = max(1, gpus // split)
    weights, gradients, state = (split * (groups if work.zero >= stage else 1) for stage in (3, 2, 1))
    adapters = f" + {_billions(trained)} x {numbers.embedding:g} B" if work.lora else ""
    gathered = ""
    if work.zero == 3 and groups > 1:
        largest = max(layer.dense_params + layer.expert_params for layer in work.model.layers)
        gradient = 0 if work.lora else numbers.gradient
        whole = f"{_billions(largest)} x ({numbers.weight:.4g} + {gradient}) B"
        gathered = f" + {whole}{_over(work.tensor_parallel, 'GPUs')} gathered"
    states = f"({numbers.master} + {work.states.moments} x {numbers.moment} + {work.states.bytes}) B"
    factored = f" + 4 B x {sides(work)}" if work.states.factored else ""
    return {
        "weights": _divided(_weights(work) + adapters, weights) + gathered,
        "gradients": f"{_billions(trained)} x {numbers.gradient} B{_over(gradients, 'GPUs')}",
        "optimizer": _divided(f"{_billions(trained)} x {states}{factored}", state),
        "activations": _kept(work),
    }


def _weights(work: Workload) -> str:
    """Parameters by format."""
    model, numbers = work.model, work.numbers
    quantised = min(model.expert_params if numbers.experts_only else model.linear_params, model.params)
    sizes = {numbers.weight: quantised} if quantised else {}
    sizes[numbers.embedding] = sizes.get(numbers.embedding, 0) + model.params - quantised
    for name, params in model.diffusion.parts.items() if model.diffusion else ():
        width = numbers.weight if model.diffusion and name in model.diffusion.quantised else numbers.embedding
        sizes[width] = sizes.get(width, 0) + params
    terms = [f"{_billions(params)} x {width:.4g} B" for width, params in sizes.items() if params]
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _cache(work: Workload, shards: int) -> str:
    tokens, width = work.tokens // work.batch, work.cache_width
    if work.model.diffusion:
        return "0"
    kinds: Counter[Attention | Recurrent] = Counter()
    for layer in work.model.layers:
        if layer.mixer:
            kinds[layer.mixer] += layer.count
    terms = [_layer_cache(mixer, count, tokens, width, shards) for mixer, count in kinds.items()]
    return f"{work.batch} x ({' + '.join(terms)})"


def _layer_cache(mixer: Attention | Recurrent, count: int, tokens: int, width: float, shards: int) -> str:
    if isinstance(mixer, Recurrent):
        state = f"({mixer.state} x {STATE_BYTES} B + {mixer.convolved * (mixer.kernel - 1)} x {CONVOLUTION_BYTES} B)"
        return f"{count} layers x {state}{_over(shards, 'GPUs')}"
    kept = min(tokens, mixer.window or tokens)
    if mixer.latent:
        index = round(mixer.cache(1, 0, 1))
        numbers = f"(({mixer.latent} + {mixer.rope}) x {width:g} B{f' + {index} B' if index else ''})"
        return f"{count} layers x {numbers} x {kept} tokens"
    heads = -(-mixer.kv_heads // shards)
    return f"{count} layers x {heads} heads x ({mixer.head} + {mixer.value}) x {width:g} B x {kept} tokens"


def _temporary(work: Workload) -> str:
    width, model = work.numbers.activation, work.model
    layer = max(activations.layer_bytes(one, width) for one in model.layers)
    if model.diffusion:
        pixels = f"{work.image[0]} x {work.image[1]} x {work.batch} pixels"
        maps = f"{activations.DECODER_MAPS} x {model.diffusion.channels} x {width:g} B x {pixels}"
        block = f"{layer:.0f} B x {work.tokens} tokens"
        return maps if activations.serving(work) > layer * work.tokens else block
    step = min(work.tokens, activations.PREFILL_TOKENS)
    text = f"{layer:.0f} B x {step} tokens + 4 B x {model.vocab} x {work.batch} logits"
    if model.vision and any(work.image):
        vision = activations.layer_bytes(model.vision.layer, width)
        text += f" + {vision:.0f} B x {model.vision.patches(*work.image)} patches"
    return text


def _kept(work: Workload) -> str:
    width, model = work.numbers.activation, work.model
    logits = f"{activations.logit_bytes(work):g} B x {work.logits} logits"
    sizes = [activations.layer_bytes(layer, width, dropout=model.dropout) for layer in model.layers]
    if work.checkpointing == "full":
        layer, loss = max(sizes) * work.tokens, activations.logit_bytes(work) * work.logits
        larger = f"{max(sizes):.0f} B x {work.tokens} tokens" if layer > loss else logits
        text = f"{model.depth} layers x {width} B x {model.hidden} x {work.tokens} tokens + {larger}"
    else:
        scores = [activations.score_bytes(one, width, work.seq, dropout=model.dropout) for one in model.layers]
        each = [
            size + (score if work.checkpointing == "none" else 0) for size, score in zip(sizes, scores, strict=True)
        ]
        layers = " + ".join(f"{one.count} x {size:.0f}" for one, size in zip(model.layers, each, strict=True))
        text = f"({layers}) B x {work.tokens} tokens + {logits}"
    return _divided(text, work.tensor_parallel)


def _over(count: int, what: str) -> str:
    return f" / {count} {what}" if count > 1 else ""


def _divided(text: str, count: int) -> str:
    return f"({text}) / {count} GPUs" if count > 1 else text


def _billions(number: float) -> str:
    """Five digits."""
    return f"{number / 1e9:.5g}e9"
