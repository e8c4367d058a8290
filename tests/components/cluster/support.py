"""Recordings of a cluster, for tests of its parts."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.base.iam import PodRole
from components.base.outputs import ClusterOutputs
from components.cluster import ControlPlane, ControlPlaneArgs, ManagedAddons, ManagedAddonsArgs, Phase
from spec.settings.cluster import AddonName
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import TAGS, network_outputs
from tests.support.settings import CLUSTER_NAME, account, cluster

CONTROL_PLANE = "cluster-control-plane"


def control_plane(
    opts: pulumi.ResourceOptions,
    *,
    protect: bool = False,
    letters: str = "ab",
    clients: Mapping[str, str] | None = None,
    **more: Any,
) -> ControlPlane:
    args = ControlPlaneArgs(
        settings=cluster(**more),
        cluster_name=CLUSTER_NAME,
        account=account(),
        network=network_outputs(letters),
        clients=clients or {},
        tags=TAGS,
        protect=protect,
    )
    return ControlPlane("cluster", args, opts)


def record_control_plane(*, preview: bool = False, **more: Any) -> Recording:
    def build() -> dict[str, Any]:
        return visible(control_plane(pulumi.ResourceOptions(providers=providers()), **more).outputs)

    return run(build, preview=preview)


def record_cluster(
    *,
    preview: bool = False,
    buckets: tuple[str, ...] = (),
    more_roles: Mapping[AddonName, Mapping[str, str]] | None = None,
    **more: Any,
) -> Recording:
    """A control plane with both sets of add-ons and a node group between them, like the program's.

    Args:
        preview: Whether IDs are unknown.
        buckets: Buckets that pods mount.
        more_roles: Names of roles of further service accounts, by add-on and account.
        more: Settings of the cluster.
    """

    def build() -> dict[str, Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        outputs = control_plane(opts, **more).outputs
        settings = cluster(**more).addons
        early = ManagedAddons(
            "addons",
            ManagedAddonsArgs(
                cluster=outputs, settings=settings, phase=Phase.BEFORE_NODES, repair_gpus=cluster(**more).repairs_gpus
            ),
            opts,
        )
        outputs = outputs.with_cni(early.nodes_need)
        nodes = _node_group(outputs, opts)
        ManagedAddons(
            "addons-late",
            ManagedAddonsArgs(
                cluster=outputs,
                settings=settings,
                phase=Phase.AFTER_NODES,
                after=[nodes],
                buckets=buckets,
                more_roles={
                    addon: {account: _role(name) for account, name in roles.items()}
                    for addon, roles in (more_roles or {}).items()
                },
            ),
            opts,
        )
        return visible(outputs)

    return run(build, preview=preview)


def visible(outputs: ClusterOutputs) -> dict[str, Any]:
    """The cluster's outputs as a map that can be resolved."""
    return {"name": outputs.name, "arn": outputs.arn, "endpoint": outputs.endpoint, "kubeconfig": outputs.kubeconfig,
        "authority": outputs.certificate_authority, "group": outputs.security_group_id,
        "access": [resource.urn for resource in outputs.access],
        "cni": [resource.urn for resource in outputs.cni_ready]}  # fmt: skip


def _role(name: str) -> PodRole:
    arn = f"arn:aws:iam::111122223333:role/{name}"
    return PodRole(arn=pulumi.Output.from_input(arn), name=pulumi.Output.from_input(name), ready=())


class _Nodes(pulumi.ComponentResource):
    def __init__(self, outputs: ClusterOutputs, opts: pulumi.ResourceOptions) -> None:
        super().__init__("slipway:test:Nodes", "nodes", None, opts)
        self.group = aws.eks.NodeGroup(
            "nodes-group",
            cluster_name=outputs.known_as,
            node_role_arn="arn:aws:iam::111122223333:role/nodes",
            subnet_ids=["subnet-private-a"],
            scaling_config={"desired_size": 2, "max_size": 3, "min_size": 2},
            opts=pulumi.ResourceOptions(parent=self, depends_on=outputs.cni_ready),
        )
        self.register_outputs({})


def _node_group(outputs: ClusterOutputs, opts: pulumi.ResourceOptions) -> aws.eks.NodeGroup:
    return _Nodes(outputs, opts).group
