"""An answer as text for a terminal, and as data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from slipway.fit.choose import Answer, Choice
from slipway.fit.memory import GIB, Memory
from slipway.fit.workload import Workload
from spec.catalog.prices import REGION, SPOT

CENTS = Decimal("0.01")
TENTHS = Decimal("0.001")


def text(work: Workload, answer: Answer, hints: Sequence[str] = ()) -> str:
    """The memory, the places that hold it, and why the others don't; ends with a newline."""
    lines = [describe(work)]
    if answer.choices:
        best = answer.choices[0]
        lines += ["", f"Memory per unit on {_units(best)} of {best.place.pool}:", *_parts(best.memory)]
        lines += ["", *_aligned([_HEAD, *map(_row, answer.choices)])]
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
            "batch": work.batch,
            "seq": work.seq,
        },
        "choices": [_choice(choice) for choice in answer.choices],
        "refusals": [{"pool": one.place.pool, "unit": one.place.unit, "why": one.why} for one in answer.refusals],
        "hints": list(hints),
    }


def describe(work: Workload) -> str:
    """The workload in a line."""
    model = work.model
    shape = f"{model.layers} layers of width {model.hidden}, {model.heads} heads"
    grouped = f" with {model.kv_heads} key-value heads" if model.kv_heads != model.heads else ""
    head = f"{model.name}: {model.params / 1e9:.3g} billion parameters, {shape}{grouped}"
    how = f"{work.mode} in {work.precision}, {work.batch} x {work.seq} tokens"
    if work.mode == "serve":
        return f"{head}; {how}"
    options = [f"checkpointing {work.checkpointing}", work.optimizer]
    options += [f"LoRA rank {work.lora}"] if work.lora else []
    options += [f"ZeRO {work.zero}"] if work.zero else []
    return f"{head}; {how}, {', '.join(options)}"


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


def _parts(memory: Memory) -> list[str]:
    parts = [(name, f"{size / GIB:.2f} GiB") for name, size in memory.parts.items() if size]
    return ["  " + line for line in _aligned([*parts, ("total", f"{memory.total / GIB:.2f} GiB")], right={1})]


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


def _choice(choice: Choice) -> dict[str, Any]:
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
    }


def _aligned(rows: Sequence[Sequence[str]], right: frozenset[int] | set[int] = frozenset()) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
