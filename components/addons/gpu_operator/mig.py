"""Layouts of MIG as mig-parted takes them: `all-disabled` and those that the pools use, no others.

Format: NVIDIA mig-parted v0.15.0, README. Our file replaces the whole of NVIDIA's: a node label that no pool set fails,
instead of cutting GPUs in a way that no queue knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from spec.catalog import mig
from spec.catalog.gpus import GpuModel
from spec.pools.pool_spec import PoolSpec

Profiles = tuple[tuple[str, int], ...]


def managed(pool: PoolSpec) -> bool:
    """Whether the MIG manager of the operator is the one that cuts the pool's GPUs, or would have to make them whole
    again; Bottlerocket has a manager of its own."""
    return pool.gpu is not None and pool.gpu.mig_capable and pool.settings.os != "bottlerocket"


def needs_reboot(pools: Iterable[PoolSpec]) -> bool:
    """Whether some GPU changes between cut and whole only by a reboot of its node: Ampere, whose reset an EC2 guest may
    not do (NVIDIA/gpu-operator#1606, 2025-08). The manager reboots only where such a change is pending."""
    return any(pool.gpu is not None and pool.gpu.mig == "reboot" for pool in pools if managed(pool))


def configuration(pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """The document: for each layout in use, how each model of GPU is cut."""
    uses: dict[str, dict[Profiles, set[GpuModel]]] = defaultdict(lambda: defaultdict(set))
    for pool in pools:
        if managed(pool) and pool.gpu is not None and pool.mig is not None and pool.mig.profiles:
            uses[pool.mig.config][tuple(sorted(pool.mig.profiles.items()))].add(pool.gpu)
    layouts = {name: _layout(cuts) for name, cuts in sorted(uses.items())}
    return {"version": "v1", "mig-configs": {mig.DISABLED: [{"devices": "all", "mig-enabled": False}], **layouts}}


def _layout(cuts: dict[Profiles, set[GpuModel]]) -> list[dict[str, Any]]:
    """One entry where the name means one thing, as `all-1g.5gb` does; where it means several, as `all-1g.10gb` and
    `all-balanced` do, each is for the cards that it names."""
    found = []
    for profiles, models in sorted(cuts.items()):
        entry: dict[str, Any] = {"devices": "all", "mig-enabled": True, "mig-devices": dict(profiles)}
        if len(cuts) > 1:
            entry["device-filter"] = sorted(card for model in models for card in model.pci_ids)
        found.append(entry)
    return found
