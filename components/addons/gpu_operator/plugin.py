"""Named configurations of NVIDIA's device plugin, of which a node chooses one by its label.

Format: NVIDIA k8s-device-plugin v0.20.0, README, "Configuring the NVIDIA device plugin binary" and "Shared Access to
GPUs".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spec.pools import keys
from spec.pools.pool_spec import GpuSharing, PoolSpec

EXCLUSIVE: Final = "exclusive"
"""For nodes without the label: each GPU, or each MIG instance, to one pod."""


def configurations(pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """Documents by the name that nodes' labels choose them by: `exclusive` and those that the pools use.

    The MIG strategy is here and not in the operator's own setting, which would go to every node: the plugin refuses
    MPS under the strategy `mixed` even where nothing is cut (cmd/nvidia-device-plugin/main.go, validateFlags).
    """
    shared: dict[str, tuple[GpuSharing, set[str]]] = {}
    for pool in pools:
        if pool.sharing is not None:
            _, names = shared.setdefault(pool.sharing.config, (pool.sharing, set()))
            names.update(name for name in pool.resources if name != keys.EFA)
    documents = {name: _document(sharing, sorted(names)) for name, (sharing, names) in sorted(shared.items())}
    return {EXCLUSIVE: _flags("mixed"), **documents}


def _document(sharing: GpuSharing, names: Iterable[str]) -> dict[str, Any]:
    """A node takes of the resources those that it has, so pools that share alike share the document. The replicas keep
    the resource's name: what asks for `nvidia.com/gpu` runs on a shared pool as on others, once it tolerates it."""
    settings: dict[str, Any] = {
        "renameByDefault": False,
        "resources": [{"name": name, "replicas": sharing.replicas} for name in names],
    }
    if sharing.mode == "mps":
        return {**_flags("none"), "sharing": {"mps": settings}}
    # Two replicas may be of one GPU, so whoever asks for two would not get twice as much: better refused.
    return {**_flags("mixed"), "sharing": {"timeSlicing": {**settings, "failRequestsGreaterThanOne": True}}}


def _flags(strategy: str) -> Mapping[str, Any]:
    return {"version": "v1", "flags": {"migStrategy": strategy}}
