"""ClusterServingRuntimes of the platform: each server for CPUs, and for each GPU pool that may serve models.

A runtime binds a server to a pool: `vllm-gpu-spot` requests one GPU of the pool `gpu-spot` and tolerates its taints;
`vllm-a100-x4` requests four GPUs of a node; `triton-a100-2g.20gb` requests one MIG instance. So a model selects its
hardware by naming a runtime. Runtimes for CPUs are auto-selected if a model names none: they cost least and never wait
for a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.addons.kserve.servers import SERVERS, ServerImage
from spec.pools import keys
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, format_mebibytes, quantity
from spec.settings.pools import Role

METRICS_PORT: Final = "prometheus.kserve.io/port"
METRICS_PATH: Final = "prometheus.kserve.io/path"
"""Annotations of a runtime, which KServe copies to its pods; the PodMonitor `slipway-serving` reads them."""
_CPU: Final = {"requests": {CPU: "1", MEMORY: "2Gi"}, "limits": {MEMORY: "2Gi"}}
_MIG: Final = "nvidia.com/mig-"
_CPU_STEP: Final = 100
_MEMORY_STEP: Final = 256
"""Requests are multiples of 0.1 vCPU and 256 MiB."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a runtime's pods run.

    Attributes:
        suffix: Suffix of the runtime's name.
        spec: The pool.
        resource: Resource name of a GPU or MIG instance.
        count: How many of them a pod requests.
    """

    suffix: str
    spec: PoolSpec
    resource: str
    count: int = 1

    @property
    def mig(self) -> bool:
        """Whether it is a MIG instance."""
        return self.resource.startswith(_MIG)

    def resources(self) -> dict[str, Any]:
        """Requests and limits: the GPUs, and their part of the CPU and memory of the pool's smallest node, on which as
        many pods then fit as it has GPUs."""
        nodes = allocatable(self.spec)
        whole = sum(_weight(name) * count for name, count in _gpus(self.spec).items())
        part = _weight(self.resource) * self.count
        cpu = min(node.cpu_millis for node in nodes) * part // whole
        memory = min(node.memory_mib for node in nodes) * part // whole
        size = {MEMORY: format_mebibytes(_rounded(memory, _MEMORY_STEP)), self.resource: str(self.count)}
        # Without a CPU limit: tokenizers and pre-processing use what others on the node don't.
        return {"requests": {CPU: quantity(CPU, _rounded(cpu, _CPU_STEP)), **size}, "limits": size}


@dataclass(frozen=True, kw_only=True)
class NamedRuntime:
    """A runtime of the platform.

    Attributes:
        server: Its server.
        place: Where its pods run; None for CPUs.
    """

    server: ServerImage
    place: Place | None


def named(pools: Mapping[str, PoolSpec], servers: Sequence[str]) -> dict[str, NamedRuntime]:
    """Runtimes by name.

    Args:
        pools: Pools of the stack.
        servers: Names of the servers to offer.
    """
    found: dict[str, NamedRuntime] = {}
    for name in servers:
        server = SERVERS[name]
        if server.cpu is not None:
            found[name] = NamedRuntime(server=server, place=None)
        for place in places(pools):
            if place.count == 1 or server.parallel is not None:
                found[f"{name}-{place.suffix}"] = NamedRuntime(server=server, place=place)
    return found


def runtimes(pools: Mapping[str, PoolSpec], servers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Manifests of the runtimes by name; arguments as for `named`."""
    return {name: _manifest(name, runtime) for name, runtime in named(pools, servers).items()}


def places(pools: Mapping[str, PoolSpec]) -> Iterator[Place]:
    """Where a GPU server can run: one GPU or MIG instance, and 2, 4 and 8 GPUs of a node that has as many.

    Training pools are excluded: their nodes are for jobs that use them whole.
    """
    for name, spec in pools.items():
        if spec.gpu is None or spec.role in (Role.TRAINING, Role.SYSTEM):
            continue
        for resource, count in _gpus(spec).items():
            profile = resource.partition("mig-")[2]
            yield Place(suffix=f"{name}-{profile}" if profile else name, spec=spec, resource=resource)
            if resource == keys.GPU and spec.sharing is None:
                several = (2**power for power in range(1, count.bit_length()))
                yield from (Place(suffix=f"{name}-x{n}", spec=spec, resource=resource, count=n) for n in several)


def _gpus(spec: PoolSpec) -> dict[str, int]:
    """GPUs or MIG instances of a node."""
    return {name: count for name, count in spec.resources.items() if name.startswith("nvidia.com/")}


def _weight(resource: str) -> int:
    """Compute slices of a MIG instance (`nvidia.com/mig-2g.20gb`: 2); 1 for a GPU, which is never beside instances."""
    return int(resource.removeprefix(_MIG).partition("g")[0]) if resource.startswith(_MIG) else 1


def _rounded(amount: int, step: int) -> int:
    return max(step, amount // step * step)


def _manifest(name: str, runtime: NamedRuntime) -> dict[str, Any]:
    server, place = runtime.server, runtime.place
    if place is None:
        assert server.cpu is not None, "`named` leaves it out"  # noqa: S101
        return _runtime(name, server, server.container(server.cpu, _CPU), automatic=True)
    container = server.container(server.gpu, place.resources(), gpus=place.count)
    manifest = _runtime(name, server, container, automatic=False)
    manifest["spec"] |= {
        "nodeSelector": {keys.POOL: place.spec.name},
        "tolerations": [toleration.manifest for toleration in place.spec.tolerations],
    }
    return manifest


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
            "annotations": {METRICS_PORT: str(port), METRICS_PATH: path},
            "supportedModelFormats": formats,
            "protocolVersions": list(server.protocols),
            "containers": [container],
            **({"volumes": volumes} if volumes else {}),
        },
    }
