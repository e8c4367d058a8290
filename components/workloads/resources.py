"""Resources of a container, with consistent requests and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.catalog import mig
from spec.pools import keys
from spec.pools.allocatable import EFA_HUGEPAGES_MIB, HUGEPAGES


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resources of one container. Requests equal limits unless `cpu_limit` is set, so that the pod has QoS class
    Guaranteed and is evicted last.

    Attributes:
        cpu: vCPUs: `"8"`, `"500m"`.
        memory: Memory: `"64Gi"`.
        gpus: Whole GPUs; on a pool with shared GPUs, one share.
        mig: MIG instances by profile: `{"1g.10gb": 1}`.
        efa: Elastic Fabric Adapters; huge pages are added for them.
        cpu_limit: vCPU limit above the request, to use idle vCPUs of the node.
        scratch: Ephemeral storage for logs and files outside volumes: `"50Gi"`.
    """

    cpu: str
    memory: str
    gpus: int = 0
    mig: Mapping[str, int] = field(default_factory=dict)
    efa: int = 0
    cpu_limit: str | None = None
    scratch: str | None = None

    def manifest(self) -> dict[str, Any]:
        """`resources` of a container."""
        both: dict[str, str] = {"memory": self.memory}
        if self.gpus:
            both[keys.GPU] = str(self.gpus)
        both |= {mig.resource_name(profile): str(count) for profile, count in sorted(self.mig.items())}
        if self.efa:
            both |= {keys.EFA: str(self.efa), HUGEPAGES: f"{EFA_HUGEPAGES_MIB}Mi"}
        if self.scratch:
            both[keys.EPHEMERAL_STORAGE] = self.scratch
        return {"requests": {"cpu": self.cpu, **both}, "limits": {"cpu": self.cpu_limit or self.cpu, **both}}
