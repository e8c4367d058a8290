"""Cluster Autoscaler: scales managed node groups.

Karpenter creates and terminates instances itself and doesn't use Auto Scaling groups; managed node groups that scale
with pending pods need Cluster Autoscaler. It is installed only if there is such a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components.addons.images import chart_values, prefixes
from components.base.iam import Inline, Statement, document, pod_identity_role
from components.base.kubernetes import locate, release
from components.base.outputs import ClusterOutputs
from components.base.placement import selector
from components.pools.managed import ENABLED, discovery_tag
from spec import strict_yaml
from spec.catalog.software import CHARTS, CLUSTER_AUTOSCALER_IMAGES
from spec.settings.charts import Charts

NAMESPACE: Final = "kube-system"
SERVICE_ACCOUNT: Final = "cluster-autoscaler"
_READ: Final = strict_yaml.beside(__file__, "reads")["cluster-autoscaler"]


@dataclass(frozen=True, kw_only=True)
class ClusterAutoscalerArgs:
    """Inputs of Cluster Autoscaler.

    Attributes:
        cluster: The cluster.
        system_node_groups: Node groups that it runs on.
        caches: Upstream registries with a pull-through cache.
        charts: Where charts come from.
    """

    cluster: ClusterOutputs
    system_node_groups: Sequence[pulumi.Resource]
    caches: Sequence[str] = ()
    charts: Charts


class ClusterAutoscaler(pulumi.ComponentResource):
    """The autoscaler, with permissions to scale only the groups of its own cluster."""

    PULUMI_TYPE: Final = "slipway:addons:ClusterAutoscaler"

    release: Release

    def __init__(self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster = args.cluster
        role = pod_identity_role(
            f"{name}-role",
            cluster_arn=cluster.arn,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            policy=Inline(document=policy(cluster.name, cluster.partition, cluster.region, cluster.account_id)),
            parent=self,
            association=(f"{name}-association", cluster.known_as),
        )
        own = values(cluster=cluster.name, region=cluster.region, version=cluster.version)
        self.release = release(
            f"{name}-release",
            locate(CHARTS["cluster-autoscaler"], args.charts),
            release_name=SERVICE_ACCOUNT,
            namespace=NAMESPACE,
            values=chart_values(
                CHARTS["cluster-autoscaler"],
                {**own, "nodeSelector": selector(args.system_node_groups)},
                prefixes(cluster, args.caches),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*cluster.access, *role.ready, *args.system_node_groups],
                deleted_with=cluster.resource,
            ),
        )
        self.register_outputs({})


def policy(cluster: str, partition: str, region: str, account_id: str) -> str:
    """Permissions to read all groups, and to scale those with the cluster's discovery tags."""
    own = {f"aws:ResourceTag/{ENABLED}": ["true"], f"aws:ResourceTag/{discovery_tag(cluster)}": ["owned"]}
    return document(
        Statement("Read", _READ, ["*"]),
        Statement(
            "ReadNodeGroups",
            ["eks:DescribeNodegroup"],
            [f"arn:{partition}:eks:{region}:{account_id}:nodegroup/{cluster}/*"],
        ),
        Statement(
            "ScaleOwn",
            ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            [f"arn:{partition}:autoscaling:{region}:{account_id}:autoScalingGroup:*"],
            conditions={"StringEquals": own},
        ),
    )


def values(*, cluster: str, region: str, version: str) -> dict[str, Any]:
    """Values of the chart (9.59.0) that differ from its defaults.

    Args:
        cluster: Name of the cluster, for discovery of groups by tag.
        region: AWS Region; pods can't reach the instance metadata service to get it.
        version: Kubernetes minor version of the cluster.
    """
    image = CLUSTER_AUTOSCALER_IMAGES.get(version)
    return {
        "autoDiscovery": {"clusterName": cluster},
        "awsRegion": region,
        **({"image": {"tag": image}} if image else {}),
        "rbac": {"serviceAccount": {"name": SERVICE_ACCOUNT}},
        # It calls only AWS and the API server, and must work while CoreDNS waits for a node.
        "dnsPolicy": "Default",
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "resources": {"requests": {"cpu": "100m", "memory": "600Mi"}, "limits": {"memory": "600Mi"}},
        "extraArgs": {
            # Similar groups are balanced; system pods and pods with local storage may be evicted. GPU nodes are removed
            # only when empty: tags of their groups say so (components.pools.managed).
            "balance-similar-node-groups": True,
            "expander": "least-waste",
            "skip-nodes-with-local-storage": False,
            "skip-nodes-with-system-pods": False,
        },
    }
