"""What components hand to one another: frozen values, plain where settings decide them, Outputs where AWS does.

A component takes the handle of what it stands on and never the component itself, so that it can be tested with a handle
made by hand, and so that one look shows what it may know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, kw_only=True)
class NetworkOutputs:
    """A network as nodes and control planes see it.

    Attributes:
        vpc_id: The VPC.
        vpc_cidr: Its primary range.
        zones: Zone name by zone letter: `{"a": "us-east-1a"}`.
        private_subnets: Subnets of nodes, by zone letter.
        public_subnets: Subnets of NAT gateways and internet-facing load balancers, by zone letter.
        pod_subnets: Subnets of pods alone, by zone letter; empty where pods share the nodes' subnets.
        ready: What must stand before a node finds its way out: routes and their associations. A machine that boots
            earlier can't pull an image and may fail its node group.
    """

    vpc_id: pulumi.Output[str]
    vpc_cidr: str
    zones: Mapping[str, str]
    private_subnets: Mapping[str, pulumi.Output[str]]
    public_subnets: Mapping[str, pulumi.Output[str]]
    pod_subnets: Mapping[str, pulumi.Output[str]]
    ready: Sequence[pulumi.Resource] = ()


@dataclass(frozen=True, kw_only=True)
class ClusterOutputs:
    """A control plane as node pools, add-ons and the Kubernetes provider see it.

    Attributes:
        name: Name of the EKS cluster.
        arn: Its ARN, which account, Region and name determine: known before the cluster is.
        resource: The cluster; in-cluster resources are `deleted_with` it.
        endpoint: URL of the API server.
        certificate_authority: Certificate authority of the API server, base64 of PEM.
        kubeconfig: A kubeconfig that authenticates with `aws eks get-token`; it holds no credential.
        version: Kubernetes minor version.
        security_group_id: The security group that EKS makes for control plane and nodes.
        oidc_provider_arn: The IAM OpenID Connect provider of the cluster's service accounts.
        oidc_issuer: URL of the issuer, with scheme.
        service_cidr: Range of Service addresses.
        account_id: AWS account, 12 digits.
        region: AWS Region.
        partition: AWS partition: `aws`, `aws-cn`, `aws-us-gov`.
        tags: Tags of the platform, for what the provider's default tags don't reach.
        access: Access entries and their policies. In-cluster resources wait for them, because who runs the program has
            rights in the cluster by nothing else.
        cni_ready: Add-ons without which no node becomes ready; nodes wait for them.
    """

    name: str
    arn: str
    resource: aws.eks.Cluster
    endpoint: pulumi.Output[str]
    certificate_authority: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    version: str
    security_group_id: pulumi.Output[str]
    oidc_provider_arn: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    service_cidr: str
    account_id: str
    region: str
    partition: str
    tags: Mapping[str, str]
    access: Sequence[pulumi.Resource] = ()
    cni_ready: Sequence[pulumi.Resource] = ()

    def with_cni(self, addons: Sequence[pulumi.Resource]) -> ClusterOutputs:
        """The same cluster, once the add-ons that nodes need are declared."""
        return replace(self, cni_ready=tuple(addons))


@dataclass(frozen=True, kw_only=True)
class BucketOutputs:
    """A bucket as those who read and write it see it.

    Attributes:
        name: Name of the bucket; auto-naming makes it, so only an update knows it.
        arn: Its ARN.
    """

    name: pulumi.Output[str]
    arn: pulumi.Output[str]


@dataclass(frozen=True, kw_only=True)
class EfsOutputs:
    """The shared file system (EFS).

    Attributes:
        id: `fs-...`.
        arn: Its ARN.
        access_points: Ids of access points by purpose: `datasets`, `models`.
        ready: Mount targets; a volume can't be mounted before.
    """

    id: pulumi.Output[str]
    arn: pulumi.Output[str]
    access_points: Mapping[str, pulumi.Output[str]]
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class LustreOutputs:
    """The parallel file system (FSx for Lustre).

    Attributes:
        id: `fs-...`.
        dns_name: Host of the file system.
        mount_name: Its mount name.
        capacity_gib: Size in GiB.
        zone: Zone of its one subnet; pods elsewhere pay for traffic between zones.
        ready: The file system and its links to buckets.
    """

    id: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    mount_name: pulumi.Output[str]
    capacity_gib: int
    zone: str
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class DatabaseOutputs:
    """A PostgreSQL database on RDS; nobody here knows its password, which RDS keeps in Secrets Manager.

    Attributes:
        host: Host name.
        port: TCP port.
        name: Database in it.
        secret_arn: The secret with `username` and `password`.
    """

    host: pulumi.Output[str]
    port: int
    name: str
    secret_arn: pulumi.Output[str]


@dataclass(frozen=True, kw_only=True)
class StorageOutputs:
    """All that keeps data.

    Attributes:
        key_arn: KMS key of the buckets and file systems.
        buckets: Buckets by purpose: `raw`, `checkpoints`, `models`, `state`, `logs`.
        efs: The shared file system, where there is one.
        lustre: The parallel file system, where there is one.
        classes: Names of StorageClasses by purpose: `block` (gp3, the default), `shared` (EFS), `lustre`.
        databases: Databases by the add-on that uses them: `mlflow`.
        ready: What must stand before a volume of any class can be made: classes, file systems and drivers.
        block: The same for volumes of the default class alone.
    """

    key_arn: pulumi.Output[str]
    buckets: Mapping[str, BucketOutputs]
    efs: EfsOutputs | None
    lustre: LustreOutputs | None
    classes: Mapping[str, str]
    databases: Mapping[str, DatabaseOutputs]
    ready: Sequence[pulumi.Resource]
    block: Sequence[pulumi.Resource] = ()

    def with_drivers(self, drivers: Sequence[pulumi.Resource], block: Sequence[pulumi.Resource]) -> StorageOutputs:
        """The same storage, once the drivers are declared: a claim waits for them, so on the way down they outlive it,
        and a volume is unmounted and removed by the driver that made it.

        Args:
            drivers: All drivers, and their rights.
            block: Those of the default class among them.
        """
        return replace(self, ready=(*self.ready, *drivers), block=(*self.block, *block))
