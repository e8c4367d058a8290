"""Tags of an Auto Scaling group by which Cluster Autoscaler discovers it and predicts its nodes.

EKS copies neither labels nor taints of a node group to its Auto Scaling group (kubernetes/autoscaler#4998). Without
these tags, an empty group looks like it has nodes without labels, taints and devices, and pods that need them would
never scale it up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

ENABLED: Final = "k8s.io/cluster-autoscaler/enabled"
ONLY_EMPTY: Final = "0.01"
_PREFIX: Final = "k8s.io/cluster-autoscaler/"
_TEMPLATE: Final = f"{_PREFIX}node-template/"


@dataclass(frozen=True, kw_only=True, order=True)
class GroupTag:
    """One tag of an Auto Scaling group.

    Attributes:
        role: Its purpose, without the cluster's name: `label/accelerator`.
        key: Its key in AWS.
        value: Its value.
    """

    role: str
    key: str
    value: str


def discovery_tag(cluster: str) -> str:
    """Key of the tag that assigns a group to the autoscaler of a cluster; its value is `owned`."""
    return f"{_PREFIX}{cluster}"


def group_tags(spec: PoolSpec, cluster: str) -> tuple[GroupTag, ...]:
    """Tags of the Auto Scaling group of a managed pool, sorted by role; empty for a group that never scales.

    Keys and formats: kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md, "Auto-Discovery Setup".
    """
    if not spec.scales:
        return ()
    node = {f"label/{key}": value for key, value in spec.labels.items()}
    node |= {f"taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in spec.taints}
    node |= {f"resources/{name}": quantity for name, quantity in _resources(spec).items()}
    node |= {f"autoscaling-options/{name}": value for name, value in _options(spec).items()}
    tags = [GroupTag(role=role, key=f"{_TEMPLATE}{role}", value=value) for role, value in node.items()]
    tags.append(GroupTag(role="cluster", key=discovery_tag(cluster), value="owned"))
    tags.append(GroupTag(role="enabled", key=ENABLED, value="true"))
    return tuple(sorted(tags))


def _options(spec: PoolSpec) -> dict[str, str]:
    """GPU nodes are removed only if no pods but those of DaemonSets run on them, like Karpenter's `WhenEmpty`: by
    default a training job on half of a node's GPUs would be evicted. A threshold of 0 would keep empty nodes, because
    utilization must be *below* it (kubernetes/autoscaler 1.35, core/scaledown/eligibility; keys:
    cloudprovider/aws/aws_manager.go).

    Two thresholds, because the autoscaler doesn't count nodes with partitioned GPUs as GPU nodes.
    """
    if spec.gpu is None:
        return {}
    return {
        "ignoredaemonsetsutilization": "true",
        "scaledowngpuutilizationthreshold": ONLY_EMPTY,
        "scaledownutilizationthreshold": ONLY_EMPTY,
    }


def _resources(spec: PoolSpec) -> dict[str, str]:
    """Resources that the autoscaler can't derive from the instance type. It knows the number of GPUs, unless they are
    partitioned or shared."""
    known = {keys.GPU: spec.gpu_count}
    resources = {name: str(count) for name, count in spec.resources.items() if known.get(name) != count}
    if spec.gpu and keys.GPU not in spec.resources:
        resources[keys.GPU] = "0"
    return resources | {keys.EPHEMERAL_STORAGE: f"{spec.scratch_gib}Gi"}
