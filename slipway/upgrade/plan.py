"""The plan of an upgrade: what is in the way, the steps in their order, and the way back."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from textwrap import wrap
from typing import Any, Final

from slipway.upgrade import checks, drains
from slipway.upgrade.world import World
from spec.catalog import addons, upgrades
from spec.errors import visible

_SHOWN: Final = 3  # subjects of a finding, and things that were not read, that the text names
_WIDTH: Final = 120


def plan(world: World) -> dict[str, Any]:
    """The plan as plain values; `blocked` if something has to be done that does not end by itself."""
    found = [asdict(one) for one in dict.fromkeys((*checks.findings(world), *drains.findings(world)))]
    pools = {name: drains.replaced(world, one) for name, one in world.pools.items() if one.settings.version is None}
    return {
        "from": world.version,
        "to": world.target,
        "blocked": not all(one["waits"] for one in found),
        "findings": found,
        "steps": [
            {"step": step, "text": text} for step, text in (_back(world) if world.back else _steps(world, pools))
        ],
        "pools": pools,
        "freeAddresses": world.free,
        "unread": list(dict.fromkeys(world.unread)),
    }


def _steps(world: World, pools: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    before, coming = world.running(), world.coming()
    rows = {name: upgrades.SOFTWARE[name] for name, old in before.items() if coming.get(name, old) != old}
    # What is never newer than the control plane follows it; all other controllers have to work with both versions.
    newer, following = (
        [f"{row.title} {before[name]} -> {coming[name]}" for name, row in rows.items()
         if row.charts and (row.behind is None) == first]
        for first in (True, False)
    )  # fmt: skip
    pins = {name: (row.version(world.version), row.version(world.target)) for name, row in addons.ADDONS.items()}
    moved = [
        f"{name} {old} -> {new or 'the default of EKS'}"
        for name, (old, new) in pins.items()
        if old and old != new and name in (world.addons or pins)
    ]
    prices = {name: one["usdPerHour"] for name, one in pools.items()}
    empty = ", ".join(name for name, one in pools.items() if not one["nodes"])
    nodes = [
        f"{name}: {one['nodes']} nodes, up to {one['surge']} more meanwhile ({one['addresses']} addresses, "
        f"{'no known price' if (price := prices[name]) is None else f'{price:.2f} USD/h'}); {one['how']}"
        for name, one in pools.items()
        if one["nodes"]
    ] + ([f"without nodes now: {empty}"] if empty else [])
    free = "" if world.free is None else f" of {sum(world.free.values())} that are free"
    yield "charts", ", ".join(newer) or "none is known to change"
    yield (
        "control plane",
        f"Kubernetes {world.target}, in several minutes, with up to {drains.CONTROL_PLANE} addresses{free}",
    )
    yield "add-ons", ", ".join((*moved, *following)) or "EKS's defaults for the version"
    yield "nodes", "\n".join(nodes) or "those of a stack are known alone"
    yield "way back", f"within seven days, before nodes are newer: `slipway upgrade plan --to {world.version}`"


def _back(world: World) -> Iterator[tuple[str, str]]:
    """EKS User Guide, rollback-cluster.html, Summary."""
    yield "objects", f"none is left of kinds that {world.target} does not serve"
    yield "nodes", f'managed pools get `version: "{world.target}"`, then `up`; newer nodes of Karpenter are deleted'
    yield "add-ons", f"those that don't support {world.target}; all others stay"
    yield "control plane", f'`cluster.version: "{world.target}"`, within seven days of the upgrade, then `up`'


def text(plan: Mapping[str, Any]) -> str:
    """A plan as text: findings that say the same together, then the steps."""
    count = sum(not one["waits"] for one in plan["findings"])
    lines = [f"Kubernetes {plan['from']} -> {plan['to']}: {count or 'nothing'} in the way"]
    same = ("waits", "rule", "text", "fix")
    for (_, rule, said, fix), group in itertools.groupby(
        sorted(plan["findings"], key=lambda one: [one[key] for key in same]), lambda one: [one[key] for key in same]
    ):
        subjects = [one["subject"] for one in group]
        more = f" and {len(subjects) - _SHOWN} more" if len(subjects) > _SHOWN else ""
        lines += _wrapped(f"  {rule}: {', '.join(subjects[:_SHOWN])}{more} {said}") + _wrapped(f"    next: {fix}")
    for number, one in enumerate(plan["steps"], 1):
        first, *rest = one["text"].splitlines()
        lines += [
            line
            for each in (f"{number}. {one['step']}: {first}", *(f"   {each}" for each in rest))
            for line in _wrapped(each)
        ]
    rest = [f"{len(plan['unread']) - _SHOWN} more, which --json names"] if plan["unread"][_SHOWN:] else []
    unread = [f"not read: {one}" for one in (*plan["unread"][:_SHOWN], *rest)]
    return "\n".join([*lines, *(line for one in unread for line in _wrapped(one))])


def _wrapped(line: str) -> list[str]:
    return wrap(visible(line), _WIDTH, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False)
