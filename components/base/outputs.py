"""Outputs that components pass to one another: frozen values, plain where settings determine them, Pulumi Outputs where
AWS does.

A component takes the outputs of its dependencies and never the components themselves. So it can be tested with outputs
built by a test, and its arguments show everything that it can use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, NoReturn

import pulumi
import pulumi_aws as aws

from components.base.iam import PodRole
from spec.catalog import regions
from spec.settings.problems import ConfigurationError, Problem


@dataclass(frozen=True, kw_only=True)
class NetworkOutputs:
    """Outputs of the network, for the control plane, node pools and storage.

    Attributes:
        vpc_id: The VPC.
        vpc_cidr: Its primary range.
        zones: Zone name by zone letter: `{"a": "us-east-1a"}`.
        private_subnets: Subnets of nodes, by zone letter.
        public_subnets: Subnets of NAT gateways and internet-facing load balancers, by zone letter.
        pod_subnets: Subnets for pods only, by zone letter; empty where pods share the nodes' subnets.
        ready: Routes and their associations, without which a node has no outbound connection. A node that boots earlier
            can't pull images and may fail its node group.
        known_subnets: IDs of the subnets of nodes in an existing VPC, by zone letter; empty where Karpenter finds them
            by their tag.
    """

    vpc_id: pulumi.Output[str]
    vpc_cidr: str
    zones: Mapping[str, str]
    private_subnets: Mapping[str, pulumi.Output[str]]
    public_subnets: Mapping[str, pulumi.Output[str]]
    pod_subnets: Mapping[str, pulumi.Output[str]]
    ready: Sequence[pulumi.Resource] = ()
    known_subnets: Mapping[str, str] = field(default_factory=dict)


_FORMS: Final = {"account_id": r"\d{12}", "version": r"1\.\d\d", "name": r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}"}
"""What a value of a cluster looks like (EKS API Reference, "CreateCluster"); any other is not empty."""


def misnamed(names: Mapping[str, str]) -> list[Problem]:
    """Which of these, by path, can't be names of objects (kubernetes.io, "Object Names and IDs", RFC 1123 labels)."""
    rule = "a name has 1 to 63 characters: lower-case letters, digits and dashes"
    return [
        Problem(path, rule, name, "It must start and end with a letter or digit.")
        for path, name in names.items()
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name)
    ]


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster, whoever made it: what a pool or a team needs of one.

    Attributes:
        name: Name of the EKS cluster.
        account_id: AWS account, 12 digits.
        region: AWS Region.
        version: Kubernetes minor version.
        tags: Tags of the platform, for resources that the provider's default tags don't reach.
        prefix: Begins the names of what the program makes in AWS; the cluster's name by default.
        resource: The cluster, where the same program makes it; in-cluster resources are `deleted_with` it.
        access: Access entries with their policies, and the rules that let networks reach the private endpoint.
            In-cluster resources depend on them, because the program reaches the cluster only through them.

    Raises:
        ConfigurationError: For values that are empty, or that no cluster has.
    """

    name: str
    account_id: str
    region: str
    version: str
    tags: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    resource: pulumi.Resource | None = None
    access: Sequence[pulumi.Resource] = ()

    def __post_init__(self) -> None:
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        wrong = [
            Problem(
                f"cluster.{key}", f"the value must look like {form}", value, "Take it from `aws eks describe-cluster`."
            )
            for key, value in given.items()
            if isinstance(value, str) and key != "prefix" and not re.fullmatch(form := _FORMS.get(key, r"\S+"), value)
        ]
        if not regions.is_region(self.region):
            wrong.append(Problem("cluster.region", "the region must exist", self.region, f"Use {regions.NAMES}."))
        if wrong:
            raise ConfigurationError(wrong, "cluster")

    @property
    def partition(self) -> str:
        """AWS partition: `aws`, `aws-cn`, `aws-us-gov`."""
        return regions.get(self.region).partition

    @property
    def arn(self) -> str:
        """Its ARN, known before the cluster exists."""
        return f"arn:{self.partition}:eks:{self.region}:{self.account_id}:cluster/{self.name}"

    @property
    def owner(self) -> str:
        """Begins the names of what the program makes in AWS."""
        return self.prefix or self.name

    @property
    def known_as(self) -> pulumi.Input[str]:
        """Its name, for what can't be made before it."""
        return self.resource.name if isinstance(self.resource, aws.eks.Cluster) else self.name


@dataclass(frozen=True, kw_only=True)
class ClusterOutputs(Cluster):
    """Outputs of the control plane, for node pools, add-ons and the Kubernetes provider.

    Attributes:
        endpoint: URL of the API server.
        certificate_authority: Certificate authority of the API server, base64 of PEM.
        kubeconfig: A kubeconfig that authenticates with `aws eks get-token`; it contains no credential.
        security_group_id: The security group that EKS creates for control plane and nodes.
        service_cidr: CIDR of Service addresses.
        oidc_issuer: URL of its issuer of tokens, for roles of service accounts by OIDC.
        cni_ready: EKS add-ons without which no node becomes ready; nodes depend on them.
    """

    endpoint: pulumi.Output[str]
    certificate_authority: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    security_group_id: pulumi.Output[str]
    service_cidr: str
    oidc_issuer: pulumi.Output[str]
    cni_ready: Sequence[pulumi.Resource] = ()

    def with_cni(self, addons: Sequence[pulumi.Resource]) -> ClusterOutputs:
        """The same cluster, with the add-ons that nodes depend on."""
        return replace(self, cni_ready=tuple(addons))


@dataclass(frozen=True, kw_only=True)
class BucketOutputs:
    """Outputs of a bucket, for its readers and writers.

    Attributes:
        name: Name of the bucket; auto-naming chooses it, so it is known only during an update.
        arn: Its ARN.
    """

    name: pulumi.Output[str]
    arn: pulumi.Output[str]


@dataclass(frozen=True, kw_only=True)
class EfsOutputs:
    """Outputs of the shared file system (EFS).

    Attributes:
        id: `fs-...`.
        arn: Its ARN.
        access_points: IDs of access points by purpose: `datasets`, `models`.
        mount_role: The role that may mount it: that of the CSI driver's node pods.
        ready: Mount targets; a volume can't be mounted before they exist.
    """

    id: pulumi.Output[str]
    arn: pulumi.Output[str]
    access_points: Mapping[str, pulumi.Output[str]]
    mount_role: PodRole
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class LustreOutputs:
    """Outputs of the parallel file system (FSx for Lustre).

    Attributes:
        id: `fs-...`.
        dns_name: DNS name of the file system.
        mount_name: Its mount name.
        capacity_gib: Size in GiB.
        zone: Availability Zone of its one subnet; pods in other zones pay for cross-zone traffic.
        ready: The file system and its data repository associations.
    """

    id: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    mount_name: pulumi.Output[str]
    capacity_gib: int
    zone: str
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class DatabaseOutputs:
    """Outputs of a database on RDS. RDS keeps its password in Secrets Manager; the program never sees it.

    Attributes:
        host: Host name.
        port: TCP port.
        name: Name of the database on the server.
        secret_arn: The secret with `username` and `password`.
    """

    host: pulumi.Output[str]
    port: int
    name: str
    secret_arn: pulumi.Output[str]


@dataclass(frozen=True, kw_only=True)
class StorageOutputs:
    """Outputs of all storage.

    Attributes:
        key_arn: KMS key of the buckets and file systems.
        buckets: Buckets by purpose: `raw`, `checkpoints`, `models`, `state`, `logs`.
        efs: The shared file system, if there is one.
        lustre: The parallel file system, if there is one.
        classes: Names of StorageClasses by purpose: `block` (gp3, the default), `shared` (EFS), `lustre`.
        databases: Databases by name: `mlflow` and `pipelines`.
        ready: Resources that must exist before a volume of any class can be created: classes, file systems, drivers.
        block: The same for volumes of the default class only.
        cache_gib: Cache of each claim that mounts a bucket on a node's disk, in GiB; None without one.
    """

    key_arn: pulumi.Output[str]
    buckets: Mapping[str, BucketOutputs]
    efs: EfsOutputs | None
    lustre: LustreOutputs | None
    classes: Mapping[str, str]
    databases: Mapping[str, DatabaseOutputs]
    ready: Sequence[pulumi.Resource]
    block: Sequence[pulumi.Resource] = ()
    cache_gib: int | None = None

    def with_drivers(self, drivers: Sequence[pulumi.Resource], block: Sequence[pulumi.Resource]) -> StorageOutputs:
        """The same storage, with the CSI drivers. Claims depend on them, so they are deleted after the claims, and the
        driver that created a volume can still unmount and delete it.

        Args:
            drivers: All drivers, and their permissions.
            block: Those of the default class.
        """
        return replace(self, ready=(*self.ready, *drivers), block=(*self.block, *block))


class _Missing(dict[str, Any]):
    def __missing__(self, key: str) -> NoReturn:
        rule = f"an add-on uses {key} of the stack's storage, and the stack makes none"
        raise ConfigurationError([Problem("storage", rule, None, "Add `storage: {}`.")], "storage")


def no_storage() -> StorageOutputs:
    """Outputs of no storage: what needs some is refused."""
    key, none = pulumi.Output.from_input(""), _Missing()
    return StorageOutputs(key_arn=key, buckets=none, efs=None, lustre=None, classes=none, databases=none, ready=())
