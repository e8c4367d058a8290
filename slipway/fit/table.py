"""An answer as text for a terminal, and as data for programs."""

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from slipway.columns import aligned
from slipway.fit.activations import GIB
from slipway.fit.formats import CHECKPOINT
from slipway.fit.formulas import formulas
from slipway.fit.layers import Attention, Recurrent
from slipway.fit.places import Answer, Choice
from slipway.fit.workload import Workload
from spec.catalog.prices import REGION, SPOT

CENTS = Decimal("0.01")
TENTHS = Decimal("0.001")


def text(work: Workload, answer: Answer, hints: Sequence[str] = ()) -> str:
    """The memory, the places that hold it, and why the others don't; ends with a newline."""
    lines = [describe(work)]
    if answer.choices:
        best = answer.choices[0]
        lines += ["", f"Memory per unit on {_units(best)} of {best.place.pool}:", *_parts(work, best)]
        lines += ["", *aligned([_HEAD, *map(_row, answer.choices)])]
        if any(choice.place.market == "spot" for choice in answer.choices):
            lines.append(
                f"spot is {SPOT.low:.0%} to {SPOT.high:.0%} below on-demand ({SPOT.source.day}), and AWS can reclaim it"
            )
        if any(choice.nodes > 1 and not choice.place.fabric for choice in answer.choices):
            lines.append("on several nodes without EFA, the network limits the training speed")
    else:
        lines += ["", "It fits nowhere."]
        lines += (
            [f"It would fit with {' or with '.join(hints)}."]
            if hints
            else ["No option that saves memory changes that."]
        )
    lines += _refusals(answer)
    lines.append(f"prices are for {REGION}; part of a node is priced pro rata")
    return "\n".join(lines) + "\n"


def data(work: Workload, answer: Answer, hints: Sequence[str] = ()) -> dict[str, Any]:
    """The same for programs: bytes as whole numbers, prices as text."""
    return {
        "workload": {
            "model": work.model.name,
            "params": work.model.params,
            "mode": work.mode,
            "precision": work.precision,
            "activeParams": work.model.active,
            "source": work.model.source,
            "batch": work.batch,
            "seq": work.seq,
        },
        "choices": [_choice(work, choice) for choice in answer.choices],
        "refusals": [{"pool": one.place.pool, "unit": one.place.unit, "why": one.why} for one in answer.refusals],
        "hints": list(hints),
    }


def describe(work: Workload) -> str:
    """The model, its layers, the workload, and what the shape doesn't cover: a line each."""
    model = work.model
    lines = [f"{model.name}: {_amount(model.params)} parameters{_active(work)}; {', '.join(_shape(work))}"]
    lines.append("; ".join([f"{work.mode} {_format(work)}", _size(work), *_options(work)]))
    return "\n".join([*lines, *([f"note: {model.caveat}"] if model.caveat else [])])


def _format(work: Workload) -> str:
    return f"as stored in {work.model.stored.name}" if work.precision == CHECKPOINT else f"in {work.precision}"


def _size(work: Workload) -> str:
    pixels = f"{work.image[0]} x {work.image[1]} pixels"
    if work.model.diffusion:
        return f"{work.batch} of {pixels}"
    image = work.tokens // work.batch - work.seq
    return f"{work.batch} x {work.seq} tokens" + (f", each with an image of {pixels}, {image} tokens" if image else "")


def _options(work: Workload) -> list[str]:
    options = [f"pipeline parallel {work.pipeline_parallel}"] if work.pipeline_parallel > 1 else []
    if work.mode == "serve":
        return [*options, *([f"KV cache in {work.cache}"] if work.cache != "auto" else [])]
    options += [f"tensor parallel {work.tensor_parallel}"] if work.tensor_parallel > 1 else []
    options += [f"ZeRO {work.zero}"] if work.zero else []
    options += [f"LoRA rank {work.lora}"] if work.lora else []
    return [*options, f"checkpointing {work.checkpointing}", work.optimizer]


def _active(work: Workload) -> str:
    return f" ({_amount(work.model.active)} active per token)" if work.model.expert_params else ""


def _amount(number: float) -> str:
    """Three digits, in billions."""
    digits = 0 if number >= 1e11 else 1 if number >= 1e10 else 2
    return f"{number / 1e9:,.{digits}f} billion"


def _shape(work: Workload) -> list[str]:
    """Layers by what each keeps of a token, and experts."""
    model = work.model
    kinds: Counter[str] = Counter()
    for layer in model.layers:
        if isinstance(layer.mixer, Recurrent):
            kinds["a recurrent state"] += layer.count
        elif layer.mixer and not model.diffusion:
            kinds[_attention(layer.mixer)] += layer.count
    several = len(kinds) > 1
    lines = [f"{model.depth} layers of width {model.hidden}"]
    lines += [f"{f'{count} with ' if several else ''}{kind}" for kind, count in kinds.items()]
    feeds = {(layer.feed.experts, layer.feed.active) for layer in model.layers if layer.feed and layer.feed.experts}
    return [*lines, *(f"{active} of {experts} experts per token" for experts, active in sorted(feeds))]


def _attention(mixer: Attention) -> str:
    if mixer.latent:
        return f"latent attention (MLA, {mixer.latent} + {mixer.rope} numbers per token)"
    kind = "multi-head" if mixer.kv_heads == mixer.heads else "multi-query" if mixer.kv_heads == 1 else "grouped-query"
    window = f" over {mixer.window} tokens" if mixer.window else ""
    return f"{kind} attention{window} ({mixer.heads} heads, {mixer.kv_heads} key-value heads)"


_HEAD = ("pool", "units", "unit", "GiB used / usable", "market", "USD/h", "nodes", "node USD/h")


def _row(choice: Choice) -> tuple[str, ...]:
    place = choice.place
    filled = f"{choice.memory.total / GIB:.1f} / {place.usable_bytes / GIB:.1f}"
    node = None if place.low is None or place.high is None else (place.low, place.high)
    return (
        place.pool,
        str(choice.units),
        place.unit,
        filled,
        place.market,
        _range(choice.price),
        str(choice.nodes),
        _range(node),
    )


def _refusals(answer: Answer) -> list[str]:
    """One line per reason, with all pools or instance types it applies to."""
    pools: dict[tuple[str, str], list[str]] = {}
    for one in answer.refusals:
        pools.setdefault((one.place.unit, one.why), []).append(one.place.pool)
    return [f"does not fit on {unit} of {', '.join(names)}: {why}" for (unit, why), names in pools.items()]


def _parts(work: Workload, choice: Choice) -> list[str]:
    """Each part with its formula."""
    texts = formulas(work, choice.units)
    parts = [(name, f"{size / GIB:.2f} GiB", f"= {texts[name]}") for name, size in choice.memory.parts.items() if size]
    return ["  " + line for line in aligned([*parts, ("total", f"{choice.memory.total / GIB:.2f} GiB", "")], right={1})]


def _units(choice: Choice) -> str:
    return f"{choice.units} x {choice.place.unit}"


def _range(price: tuple[Decimal, Decimal] | None) -> str:
    if price is None:
        return "no dated price"
    low, high = map(_money, price)
    return low if low == high else f"{low} to {high}"


def _money(amount: Decimal) -> str:
    """Cents, and tenths of a cent below a dollar."""
    return str(amount.quantize(CENTS if amount >= 1 else TENTHS, ROUND_HALF_UP))


def _choice(work: Workload, choice: Choice) -> dict[str, Any]:
    place, price = choice.place, choice.price
    return {
        "pool": place.pool,
        "unit": place.unit,
        "resource": place.resource,
        "units": choice.units,
        "nodes": choice.nodes,
        "market": place.market,
        "usdPerHour": None if price is None else {"low": _money(price[0]), "high": _money(price[1])},
        "usableBytes": place.usable_bytes,
        "bytes": {name: round(size) for name, size in choice.memory.parts.items()}
        | {"total": round(choice.memory.total)},
        "formulas": dict(formulas(work, choice.units)),
    }
