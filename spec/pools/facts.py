"""Facts that a pool's component outputs: plain values that are known before anything is created.

Policies over several pools (total GPUs, maximum price, quotas that fit) read these and never an unknown output, which
would disable them in the first preview.
"""

from __future__ import annotations

from typing import Any

from spec.pools.pool_spec import PoolSpec


def facts(spec: PoolSpec) -> dict[str, Any]:
    """A pool in plain values, keys in camel case like all outputs of components."""
    settings = spec.settings
    return {
        "name": spec.pool,
        "fallback": spec.name if spec.name != spec.pool else None,
        "role": str(spec.role),
        "provisioner": str(settings.provisioner),
        "market": str(spec.market),
        "instanceTypes": [kind.name for kind in spec.instance_types],
        "zones": list(spec.zones),
        "min": settings.min,
        "max": settings.max,
        "maxPods": settings.max_pods,
        "gpu": spec.gpu.name if spec.gpu else None,
        "gpuCount": spec.gpu_count,
        "mig": dict(spec.mig.profiles) if spec.mig else {},
        "sharing": {"mode": spec.sharing.mode, "replicas": spec.sharing.replicas} if spec.sharing else None,
        "efaCount": spec.efa_count,
        "labels": dict(spec.labels),
        "taints": [taint.manifest for taint in spec.taints],
        "resources": dict(spec.resources),
    }
