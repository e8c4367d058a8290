"""ClusterServingRuntimes of the platform: each server for CPUs, and for each GPU pool that may serve models.

A runtime binds a server to a pool: `vllm-gpu-spot` requests one GPU of the pool `gpu-spot` and tolerates its taints;
`triton-a100-2g.20gb` requests one MIG instance. So a model selects its hardware by naming a runtime. Runtimes for CPUs
are auto-selected if a model names none: they cost least and never wait for a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from components.addons.kserve.servers import SERVERS, ServerImage
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

_CPU: Final = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "2Gi"}}
_GPU: Final = {"requests": {"cpu": "2", "memory": "12Gi"}, "limits": {"memory": "12Gi"}}
"""Fits beside the system pods on the smallest GPU instance type of the default pools, g6.xlarge (16 GiB)."""


def runtimes(pools: Mapping[str, PoolSpec], servers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Runtimes by name.

    Args:
        pools: Pools of the stack.
        servers: Names of the servers to offer.
    """
    manifests: dict[str, dict[str, Any]] = {}
    for name in servers:
        server = SERVERS[name]
        if server.cpu is not None:
            manifests[name] = _runtime(name, server, server.container(server.cpu, _CPU), automatic=True)
        for place, spec, resource in places(pools):
            key = f"{name}-{place}"
            container = server.container(server.gpu, _with(resource))
            manifests[key] = _runtime(key, server, container, automatic=False)
            manifests[key]["spec"] |= {
                "nodeSelector": {keys.POOL: spec.name},
                "tolerations": [toleration.manifest for toleration in spec.tolerations],
            }
    return manifests


def places(pools: Mapping[str, PoolSpec]) -> Iterator[tuple[str, PoolSpec, str]]:
    """Where a GPU server can run: name, pool, and the resource name of a GPU or MIG instance.

    Training pools are excluded: their nodes are for jobs that use them whole.
    """
    for name, spec in pools.items():
        if spec.gpu is None or spec.role in (Role.TRAINING, Role.SYSTEM):
            continue
        offered = [resource for resource in spec.resources if resource.startswith("nvidia.com/")]
        for resource in offered:
            profile = resource.partition("mig-")[2]
            yield (f"{name}-{profile}" if profile else name), spec, resource


def _runtime(name: str, server: ServerImage, container: dict[str, Any], *, automatic: bool) -> dict[str, Any]:
    port, path = server.metrics
    formats = [
        # The priority decides which runtime is selected if two can load a format.
        {"name": kind, "version": version, "autoSelect": automatic, **({"priority": 1} if automatic else {})}
        for kind, versions in server.formats.items()
        for version in versions
    ]
    volumes = [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}] if server.shared_memory else []
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": name},
        "spec": {
            "annotations": {"prometheus.kserve.io/port": str(port), "prometheus.kserve.io/path": path},
            "supportedModelFormats": formats,
            "protocolVersions": list(server.protocols),
            "containers": [container],
            **({"volumes": volumes} if volumes else {}),
        },
    }


def _with(resource: str) -> dict[str, Any]:
    return {kind: {**amounts, resource: "1"} for kind, amounts in _GPU.items()}
