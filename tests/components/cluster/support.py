"""One way to record a cluster, for all tests of its parts."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_aws as aws

from components.base.outputs import ClusterHandle
from components.cluster import ControlPlane, ControlPlaneArgs, ManagedAddons, ManagedAddonsArgs, Phase
from tests.support.handles import TAGS, network_handle
from tests.support.mocks import Recording, providers, run
from tests.support.settings import CLUSTER_NAME, account, cluster

CONTROL_PLANE = "cluster-control-plane"


def control_plane(
    opts: pulumi.ResourceOptions, *, protect: bool = False, letters: str = "ab", **more: Any
) -> ControlPlane:
    args = ControlPlaneArgs(
        settings=cluster(**more),
        cluster_name=CLUSTER_NAME,
        account=account(),
        network=network_handle(letters),
        tags=TAGS,
        protect=protect,
    )
    return ControlPlane("cluster", args, opts)


def record_control_plane(*, preview: bool = False, **more: Any) -> Recording:
    def build() -> dict[str, Any]:
        return visible(control_plane(pulumi.ResourceOptions(providers=providers()), **more).handle)

    return run(build, preview=preview)


def record_cluster(*, preview: bool = False, buckets: tuple[str, ...] = (), **more: Any) -> Recording:
    """A control plane with both sets of add-ons and a node group between them, as the program has it."""

    def build() -> dict[str, Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        handle = control_plane(opts, **more).handle
        settings = cluster(**more).addons
        early = ManagedAddons(
            "addons", ManagedAddonsArgs(cluster=handle, settings=settings, phase=Phase.BEFORE_NODES), opts
        )
        handle = handle.with_cni(early.nodes_need)
        nodes = _node_group(handle, opts)
        ManagedAddons(
            "addons-late",
            ManagedAddonsArgs(
                cluster=handle, settings=settings, phase=Phase.AFTER_NODES, after=[nodes], buckets=buckets
            ),
            opts,
        )
        return visible(handle)

    return run(build, preview=preview)


def visible(handle: ClusterHandle) -> dict[str, Any]:
    """What a handle says, as a map that can be resolved."""
    return {
        "name": handle.name,
        "arn": handle.arn,
        "endpoint": handle.endpoint,
        "kubeconfig": handle.kubeconfig,
        "authority": handle.certificate_authority,
        "group": handle.security_group_id,
        "issuer": handle.oidc_issuer,
        "oidc": handle.oidc_provider_arn,
        "access": [resource.urn for resource in handle.access],
        "cni": [resource.urn for resource in handle.cni_ready],
    }


class _Nodes(pulumi.ComponentResource):
    def __init__(self, handle: ClusterHandle, opts: pulumi.ResourceOptions) -> None:
        super().__init__("slipway:test:Nodes", "nodes", None, opts)
        self.group = aws.eks.NodeGroup(
            "nodes-group",
            cluster_name=handle.resource.name,
            node_role_arn="arn:aws:iam::111122223333:role/nodes",
            subnet_ids=["subnet-private-a"],
            scaling_config={"desired_size": 2, "max_size": 3, "min_size": 2},
            opts=pulumi.ResourceOptions(parent=self, depends_on=handle.cni_ready),
        )
        self.register_outputs({})


def _node_group(handle: ClusterHandle, opts: pulumi.ResourceOptions) -> aws.eks.NodeGroup:
    return _Nodes(handle, opts).group
