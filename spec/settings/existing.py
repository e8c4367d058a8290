"""Settings of what exists already: a VPC and its subnets, each by ID or by tags; a cluster, and what it has."""

from typing import Annotated

from pydantic import Field

from spec.settings.base import Model, Text, pattern

Zone = Annotated[
    str,
    pattern(
        r"^[a-z]{2,4}(-[a-z]+)+-[0-9][a-z]$",
        rule="a zone is named like us-east-1a",
        fix="Use the zone's name, not its ID.",
    ),
]
VpcId = Annotated[
    str,
    pattern(r"^vpc-[0-9a-f]{8,17}$", rule="the ID must be that of a VPC", fix="Write it like vpc-0a1b2c3d4e5f67890."),
]
SubnetId = Annotated[
    str,
    pattern(
        r"^subnet-[0-9a-f]{8,17}$",
        rule="the ID must be that of a subnet",
        fix="Write it like subnet-0a1b2c3d4e5f67890.",
    ),
]


class ExistingVpc(Model):
    """A VPC, by its ID or by tags that only this VPC of the account and Region has."""

    id: VpcId | None = None
    """ID of the VPC."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags of the VPC."""


class ExistingSubnets(Model):
    """One subnet in each zone, by IDs or by tags that one subnet of the VPC in each zone has."""

    ids: dict[Zone, SubnetId] = Field(default_factory=dict)
    """ID of the subnet by zone."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags of the subnets, the same in every zone."""


class Existing(Model):
    """A VPC that others made. Slipway adds security groups, network interfaces and flow logs to it, and changes none of
    its subnets, routes, endpoints and tags; a preview looks them up and refuses what the cluster can't use."""

    vpc: ExistingVpc = Field(default_factory=ExistingVpc)
    """The VPC; that of `cluster.existing` if unset."""
    private_subnets: ExistingSubnets = Field(default_factory=ExistingSubnets)
    """Subnets of control plane, nodes and storage, one in each zone of `network.zones`; if unset, those of
    `cluster.existing` that have no route to an internet gateway."""
    public_subnets: ExistingSubnets | None = None
    """Subnets of internet-facing load balancers; none if unset."""
    pod_subnets: ExistingSubnets | None = None
    """Subnets for pods only, in `network.podCidr`; pods share the private subnets if unset."""

    @property
    def kinds(self) -> dict[str, ExistingSubnets]:
        """The subnets that are named, by kind: `private`, `public`, `pods`."""
        named = {"private": self.private_subnets, "public": self.public_subnets, "pods": self.pod_subnets}
        return {kind: subnets for kind, subnets in named.items() if subnets is not None}


KEYS = {"private": "privateSubnets", "public": "publicSubnets", "pods": "podSubnets"}
"""Setting of each kind of subnets."""


class ExistingCluster(Model):
    """A cluster that others made. Slipway makes in it what the file names, and neither changes nor removes anything
    else; a preview looks it up and refuses what the stack can't use."""

    name: Annotated[
        str,
        pattern(
            r"^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$",
            rule="the name must be one of an EKS cluster",
            fix="Take it from `aws eks list-clusters`.",
        ),
    ]
    """Name of the cluster."""
    installed: tuple[str, ...] = ()
    """Add-ons that the cluster has, by their key in `addons`, and `clusterAutoscaler`: they are used as their settings
    say, and not installed."""
    instance_profile: Text | None = None
    """Instance profile of the nodes of the cluster's own Karpenter, which then launches the pools; Slipway installs
    Karpenter for them if unset."""


CLUSTER_AUTOSCALER = "clusterAutoscaler"
"""What `installed` calls Cluster Autoscaler, which has no settings."""
