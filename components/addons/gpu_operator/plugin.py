"""Named configurations of NVIDIA's device plugin; a node label selects one.

Format: NVIDIA k8s-device-plugin v0.20.0, README, "Configuring the NVIDIA device plugin binary" and "Shared Access to
GPUs".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spec.pools import keys
from spec.pools.pool_spec import GpuSharing, PoolSpec

EXCLUSIVE: Final = "exclusive"
"""For nodes without the label: each GPU or MIG instance goes to one pod."""


def configurations(pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """Configurations by the name in the node label: `exclusive` and those that the pools use.

    The MIG strategy is here and not in the operator's setting, which applies to every node: the plugin refuses MPS with
    the strategy `mixed` even if no GPU is partitioned (cmd/nvidia-device-plugin/main.go, validateFlags).
    """
    shared: dict[str, tuple[GpuSharing, set[str]]] = {}
    for pool in pools:
        if pool.sharing is not None:
            _, names = shared.setdefault(pool.sharing.config, (pool.sharing, set()))
            names.update(name for name in pool.resources if name != keys.EFA)
    documents = {name: _document(sharing, sorted(names)) for name, (sharing, names) in sorted(shared.items())}
    return {EXCLUSIVE: _flags("mixed"), **documents}


def _document(sharing: GpuSharing, names: Iterable[str]) -> dict[str, Any]:
    """One configuration; a node ignores resources that it doesn't have, so pools with equal sharing use one document.
    Replicas keep the resource's name: pods that request `nvidia.com/gpu` run on a shared pool too, if they tolerate its
    taint."""
    settings: dict[str, Any] = {
        "renameByDefault": False,
        "resources": [{"name": name, "replicas": sharing.replicas} for name in names],
    }
    if sharing.mode == "mps":
        return {**_flags("none"), "sharing": {"mps": settings}}
    # Two replicas may be of the same GPU, so a request for two would not get twice as much: it is refused.
    return {**_flags("mixed"), "sharing": {"timeSlicing": {**settings, "failRequestsGreaterThanOne": True}}}


def _flags(strategy: str) -> Mapping[str, Any]:
    return {"version": "v1", "flags": {"migStrategy": strategy}}
