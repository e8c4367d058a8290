"""The Karpenter NodePool of an elastic pool, as a manifest (karpenter.sh/v1, Karpenter v1.14.1)."""

from __future__ import annotations

from typing import Any, Final

from components.base.kubernetes import ManifestKind
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.capacity import Budget, Market

KIND: Final = ManifestKind("karpenter.sh/v1", "NodePool")
NODE_CLASS_GROUP: Final = "karpenter.k8s.aws"
_CAPACITY_TYPES: Final = {Market.ON_DEMAND: "on-demand", Market.SPOT: "spot", Market.RESERVED: "reserved"}
_ARCHES: Final = {"x86_64": "amd64", "arm64": "arm64"}


def node_pool(spec: PoolSpec, weight: int | None = None) -> dict[str, Any]:
    """`spec` of the NodePool.

    It has no startup taints: Karpenter itself waits for the resources that the pending pod requests, and a taint that
    nothing removes would keep a paid node empty.
    """
    disruption = spec.settings.disruption
    return {
        "template": {
            "metadata": {"labels": dict(spec.labels)},
            "spec": {
                "nodeClassRef": {"group": NODE_CLASS_GROUP, "kind": "EC2NodeClass", "name": spec.name},
                "requirements": requirements(spec),
                **({"taints": [taint.manifest for taint in spec.taints]} if spec.taints else {}),
                "expireAfter": disruption.expire_after,
                "terminationGracePeriod": disruption.termination_grace_period,
            },
        },
        "limits": limits(spec),
        **({"weight": weight} if weight is not None else {}),
        "disruption": {
            "consolidationPolicy": disruption.consolidation_policy,
            "consolidateAfter": disruption.consolidate_after,
            **({"budgets": _budgets(disruption.budgets)} if disruption.budgets else {}),
        },
    }


def requirements(spec: PoolSpec) -> list[dict[str, Any]]:
    """Requirements for instances of the pool, sorted by key. Reserved pools use only their reservation."""
    allowed = {
        "karpenter.sh/capacity-type": [_CAPACITY_TYPES[spec.market]],
        "kubernetes.io/arch": [_ARCHES[spec.arch]],
        "kubernetes.io/os": ["linux"],
        "node.kubernetes.io/instance-type": sorted(kind.name for kind in spec.instance_types),
        "topology.kubernetes.io/zone": list(spec.zones),
    }
    return [{"key": key, "operator": "In", "values": values} for key, values in sorted(allowed.items())]


def limits(spec: PoolSpec) -> dict[str, str]:
    """Limits of the pool: `max` nodes, and the resources of `max` nodes of its largest instance type.

    The node count alone would limit the cost; the other limits are a second line (limits are eventually consistent, and
    dynamic pools count nodes since kubernetes-sigs/karpenter#2526, 2026). A pool at its limit gets no replacement for a
    drifted node before that node is gone.
    """
    maximum = spec.settings.max
    bounds = {
        "cpu": str(maximum * max(kind.vcpus for kind in spec.instance_types)),
        "memory": f"{maximum * max(kind.memory_mib for kind in spec.instance_types)}Mi",
        "nodes": str(maximum),
    }
    if spec.gpu is not None:
        # As Karpenter counts them: whole GPUs even if partitioned, and each GPU once per share.
        bounds[keys.GPU] = str(maximum * spec.resources.get(keys.GPU, spec.gpu_count))
    return bounds


def _budgets(budgets: dict[str, Budget]) -> list[dict[str, Any]]:
    """Disruption budgets in the order of their keys; the order is irrelevant, Karpenter applies the strictest."""
    manifests = []
    for _, budget in sorted(budgets.items()):
        manifest: dict[str, Any] = {"nodes": budget.nodes}
        if budget.schedule is not None and budget.duration is not None:
            manifest |= {"schedule": budget.schedule, "duration": budget.duration}
        if budget.reasons:
            manifest["reasons"] = list(budget.reasons)
        manifests.append(manifest)
    return manifests
