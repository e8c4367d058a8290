"""MIG layouts in mig-parted's format: `all-disabled` and those that the pools use, no others.

Format: NVIDIA mig-parted v0.15.0, README. The file replaces NVIDIA's default file: a node label that no pool sets
fails, instead of partitioning GPUs in a way that no queue has quota for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from spec.catalog import mig
from spec.catalog.gpus import GpuModel
from spec.pools.pool_spec import PoolSpec

Profiles = tuple[tuple[str, int], ...]


def partitioned_by_mig_manager(pool: PoolSpec) -> bool:
    """Whether the operator's MIG manager partitions the pool's GPUs, or would have to reset them; Bottlerocket has its
    own MIG manager."""
    return pool.gpu is not None and pool.gpu.mig_capable and pool.settings.os != "bottlerocket"


def needs_reboot(pools: Iterable[PoolSpec]) -> bool:
    """Whether enabling or disabling MIG needs a reboot of the node: on Ampere, an EC2 guest may not reset the GPU
    (NVIDIA/gpu-operator#1606, 2025-08). The MIG manager reboots only if such a change is pending."""
    return any(pool.gpu is not None and pool.gpu.mig == "reboot" for pool in pools if partitioned_by_mig_manager(pool))


def configuration(pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """The mig-parted document: for each layout in use, the partitions of each GPU model."""
    uses: dict[str, dict[Profiles, set[GpuModel]]] = defaultdict(lambda: defaultdict(set))
    for pool in pools:
        if partitioned_by_mig_manager(pool) and pool.gpu is not None and pool.mig is not None and pool.mig.profiles:
            uses[pool.mig.config][tuple(sorted(pool.mig.profiles.items()))].add(pool.gpu)
    layouts = {name: _layout(partitions) for name, partitions in sorted(uses.items())}
    return {"version": "v1", "mig-configs": {mig.DISABLED: [{"devices": "all", "mig-enabled": False}], **layouts}}


def _layout(partitions: dict[Profiles, set[GpuModel]]) -> list[dict[str, Any]]:
    """One entry if the layout is the same for all models (`all-1g.5gb`); otherwise (`all-1g.10gb`, `all-balanced`) one
    entry per set of profiles, filtered by the PCI IDs of its models."""
    entries = []
    for profiles, models in sorted(partitions.items()):
        entry: dict[str, Any] = {"devices": "all", "mig-enabled": True, "mig-devices": dict(profiles)}
        if len(partitions) > 1:
            entry["device-filter"] = sorted(card for model in models for card in model.pci_ids)
        entries.append(entry)
    return entries
