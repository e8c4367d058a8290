"""Pods of add-ons: where they may run, by the taints of the pools; requests and limits; what keeps them there."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spec.jobs import DO_NOT_DISRUPT
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

NOT_MOVED: Final[Mapping[str, str]] = {
    # Karpenter 1.14, "Disruption", pod-level controls; Cluster Autoscaler FAQ, "What types of pods can prevent CA from
    # removing a node?".
    DO_NOT_DISRUPT: "true",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
"""Annotations of a pod that nothing moves."""


def kept(pools: Iterable[PoolSpec]) -> dict[str, str]:
    """Annotations of a job's pods, which may run on some pools.

    On Spot they let Karpenter evict the pod: at an interruption notice its drain waits for pods with do-not-disrupt, so
    the first that they hear is the end of the instance, two minutes later (karpenter v1.14.1, pkg/utils/pod,
    IsEvictable; tests/sandbox/test_elastic_disruption.py). A job there writes checkpoints anyway.
    """
    on_spot = any(pool.may_be_spot for pool in pools)
    return {key: value for key, value in NOT_MOVED.items() if not (on_spot and key == DO_NOT_DISRUPT)}


def sized(cpu: str, memory: str) -> dict[str, Any]:
    """Resources of a container: the memory limit equals the request; CPU has no limit.

    Restarting a controller that exceeds its memory is better than evicting its neighbours on the node; using idle CPU
    lets it catch up faster without harm (kubernetes.io, "Resource Management for Pods and Containers").
    """
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}}


def uncapped(cpu: str, memory: str) -> dict[str, Any]:
    """`sized` for a chart whose default values have a CPU limit: Helm merges maps, so the limit stays unless it is null
    (helm.sh, "Values Files", "Deleting a default key")."""
    own = sized(cpu, memory)
    return {**own, "limits": {"cpu": None, **own["limits"]}}


def keeps_one(replicas: int) -> bool:
    """Whether a PodDisruptionBudget of `minAvailable: 1` makes sense: with a single replica it would block every
    drain."""
    return replicas > 1


CRITICAL: Final[Mapping[str, str]] = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""Tolerated by the pods of cluster add-ons by convention (kubernetes.io, "Guaranteed Scheduling For Critical Add-On
Pods"): a system pool can be tainted with it manually without evicting a controller."""


def system_placement(pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """`nodeSelector` and `tolerations` of a controller: the system pools and all their taints; the nodes that a cluster
    has, where the program makes no system pool."""
    systems = [pool for pool in pools.values() if pool.role is Role.SYSTEM]
    tolerations = [dict(CRITICAL), *(each for each in _tolerations(systems) if each["key"] != CRITICAL["key"])]
    return {"nodeSelector": selector(systems), "tolerations": tolerations}


def selector(systems: Sequence[object]) -> dict[str, str]:
    """`nodeSelector` of the system pools; empty if there is none."""
    return {keys.ROLE: str(Role.SYSTEM)} if systems else {}


def zone_spread(labels: Mapping[str, str]) -> dict[str, Any]:
    """`topologySpreadConstraints` of a controller: its replicas are in different zones if possible.

    Args:
        labels: Labels of its pods.
    """
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(labels)},
    }
    return {"topologySpreadConstraints": [constraint]}


def gpu_tolerations(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """Tolerations for the nodes of every GPU pool with a device plugin; empty if there is none. Nothing of the GPU
    Operator runs on those with claims of devices, where its plugin would give a GPU a second time."""
    return _tolerations(spec for spec in pools.values() if spec.gpu is not None and not spec.dra)


def pool_tolerations(pools: Mapping[str, PoolSpec], names: Iterable[str]) -> list[dict[str, str]]:
    """Tolerations for the nodes of each of the named pools.

    Raises:
        KeyError: For a name that isn't a pool.
    """
    return _tolerations(pools[name] for name in names)


def every_toleration(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """Tolerations for every node of the platform, for CSI drivers and node monitoring."""
    return [dict(CRITICAL), *(each for each in _tolerations(pools.values()) if each["key"] != CRITICAL["key"])]


def _tolerations(pools: Iterable[PoolSpec]) -> list[dict[str, str]]:
    """One for each distinct taint, sorted."""
    return [toleration.manifest for toleration in sorted({each for pool in pools for each in pool.tolerations})]
