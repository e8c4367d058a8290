"""The EKS control plane, its key, role and log group, and its access entries.

Creating the cluster grants no permissions in it (CIS EKS 5.5.1): the identity that runs the program must have an access
entry with `AmazonEKSClusterAdminPolicy`, or in-cluster resources can't be applied. All access is then listed in one
place, the settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import (
    Managed,
    account_administration,
    document,
    log_encryption,
    role_with,
    rotated_key,
    service_trust,
)
from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.cluster.access import AccessEntries, AccessEntriesArgs, kubeconfig
from spec import naming
from spec.catalog import regions
from spec.pools import keys
from spec.quantities import CPU, MEMORY
from spec.settings import cluster as settings
from spec.settings.environment import Account

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All log types of EKS (EKS User Guide, "Send control plane logs to CloudWatch Logs")."""
API_PORT: Final = 443
GPU_WEIGHT: Final = 10
"""Weight of GPUs beside CPU and memory, of which the pods of a GPU node use less: a node is full once its GPUs are."""
POLICY: Final = "AmazonEKSClusterPolicy"
"""The only policy that the control plane needs: AmazonEKSVPCResourceController is for security groups for pods, and the
identity that creates the cluster creates the grant on the key of the secrets (EKS User Guide, "Amazon EKS cluster IAM
role" and "Encrypt Kubernetes secrets with KMS")."""


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """Inputs of `ControlPlane`.

    Attributes:
        settings: Version, endpoints, access, logs.
        cluster_name: Name of the EKS cluster, fixed because kubeconfigs, log groups and tags name it.
        account: Account and region.
        network: Network of the control plane's interfaces.
        clients: CIDRs of networks that reach the private endpoint, by key.
        tags: Tags of the platform, for resources that the provider's default tags don't reach.
        protect: Protect the cluster, its key and its logs from deletion.
    """

    settings: settings.Cluster
    cluster_name: str
    account: Account
    network: NetworkOutputs
    clients: Mapping[str, str]
    tags: Mapping[str, str]
    protect: bool = False


class ControlPlane(pulumi.ComponentResource):
    """An EKS cluster without nodes."""

    PULUMI_TYPE: Final = "slipway:cluster:ControlPlane"

    outputs: ClusterOutputs

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._region = regions.get(args.account.region)
        self._child = pulumi.ResourceOptions(parent=self)
        self._kept = pulumi.ResourceOptions(parent=self, protect=args.protect)
        key = self._make_key()
        role, policy = self._make_role()
        cluster = self._make_cluster(key, role, before=[self._make_log_group(key), policy])
        access = AccessEntries(
            f"{name}-access",
            AccessEntriesArgs(cluster=cluster, entries=args.settings.access, partition=self._region.partition),
            self._child,
        )
        self.outputs = self._outputs(cluster, [*access.administrators, *self._admit(cluster)])
        self.register_outputs({"name": cluster.name, "endpoint": cluster.endpoint})

    @property
    def _log_group_name(self) -> str:
        return naming.control_plane_logs(self._args.cluster_name)

    def _arn(self, service: str, resource: str) -> str:
        return f"arn:{self._region.partition}:{service}:{self._region.name}:{self._args.account.id}:{resource}"

    def _make_key(self) -> aws.kms.Key:
        """One key for the cluster's secrets and its logs; CloudWatch Logs may use it for this log group only."""
        logs = f"logs.{self._region.name}.{self._region.dns_suffix}"
        policy = document(
            account_administration(self._region.partition, self._args.account.id),
            log_encryption(logs, self._arn("logs", f"log-group:{self._log_group_name}")),
        )
        alias = f"alias/{self._args.cluster_name}"
        about, name = f"Secrets and control plane logs of {self._args.cluster_name}", f"{self._name}-key"
        days = self._args.settings.key_deletion_days
        return rotated_key(name, (f"{name}-alias", alias), about, policy, days, kept=self._kept, child=self._child)

    def _make_log_group(self, key: aws.kms.Key) -> aws.cloudwatch.LogGroup:
        """The log group that EKS writes to; EKS would create one itself, without retention and without a key."""
        return aws.cloudwatch.LogGroup(
            f"{self._name}-logs",
            name=self._log_group_name,
            retention_in_days=self._args.settings.log_retention_days,
            kms_key_id=key.arn,
            opts=self._kept,
        )

    def _make_role(self) -> tuple[aws.iam.Role, pulumi.CustomResource]:
        return role_with(
            f"{self._name}-role",
            trust=service_trust("ControlPlane", "eks.amazonaws.com"),
            description=f"Control plane of {self._args.cluster_name}",
            policy=Managed(arn=f"arn:{self._region.partition}:iam::aws:policy/{POLICY}"),
            opts=self._child,
        )

    def _make_cluster(self, key: aws.kms.Key, role: aws.iam.Role, before: list[pulumi.Resource]) -> aws.eks.Cluster:
        wanted = self._args.settings
        return aws.eks.Cluster(
            f"{self._name}-control-plane",
            name=self._args.cluster_name,
            version=wanted.version,
            role_arn=role.arn,
            vpc_config=self._vpc_config(),
            kubernetes_network_config={"ip_family": "ipv4", "service_ipv4_cidr": str(wanted.service_ipv4_cidr)},
            access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
            encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
            enabled_cluster_log_types=LOG_TYPES,
            upgrade_policy={"support_type": wanted.support_type.upper()},
            deletion_protection=wanted.deletion_protection,
            kube_scheduler_config=_scheduler_config(wanted.scoring_strategy),
            control_plane_scaling_config=None if wanted.scaling_tier is None else {"tier": wanted.scaling_tier},
            zonal_shift_config=None if wanted.zonal_shift is None else {"enabled": wanted.zonal_shift},
            # All add-ons are EKS add-ons (`ManagedAddons`); self-managed ones would conflict with them.
            bootstrap_self_managed_addons=False,
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=self._args.protect,
                depends_on=before,
                # EKS keeps the zones that it was created with and refuses subnets in others
                # (aws/containers-roadmap#2258, 2024-01). Nodes don't depend on this list: they may be in every subnet
                # of the VPC.
                ignore_changes=["vpcConfig.subnetIds"],
                # The name is fixed: a replacement can't exist beside the cluster that it replaces.
                delete_before_replace=True,
            ),
        )

    def _vpc_config(self) -> aws.eks.ClusterVpcConfigArgs:
        endpoint = self._args.settings.endpoint
        return aws.eks.ClusterVpcConfigArgs(
            subnet_ids=list(self._args.network.private_subnets.values()),
            endpoint_private_access=True,
            endpoint_public_access=endpoint.public_access,
            public_access_cidrs=sorted(str(cidr) for cidr in endpoint.public_access_cidrs)
            if endpoint.public_access
            else None,
        )

    def _admit(self, cluster: aws.eks.Cluster) -> list[pulumi.Resource]:
        """Ingress from networks outside the VPC: the security group that EKS creates admits only its own members (EKS
        User Guide, "Cluster API server endpoint", connected network, read 2026-11)."""
        return [
            aws.vpc.SecurityGroupIngressRule(
                f"{self._name}-api-from-{key}",
                security_group_id=_security_group(cluster),
                cidr_ipv4=cidr,
                ip_protocol="tcp",
                from_port=API_PORT,
                to_port=API_PORT,
                description=f"API server from {key}",
                # EKS deletes the group with the cluster.
                opts=pulumi.ResourceOptions(parent=self, deleted_with=cluster),
            )
            for key, cidr in sorted(self._args.clients.items())
        ]

    def _outputs(self, cluster: aws.eks.Cluster, access: Sequence[pulumi.Resource]) -> ClusterOutputs:
        issuer = cluster.identities[0].oidcs[0].issuer
        # IAM reads the thumbprint of the issuer's certificate by itself (pulumi-aws 7.51.1, `thumbprintLists`).
        aws.iam.OpenIdConnectProvider(
            f"{self._name}-oidc", url=issuer, client_id_lists=["sts.amazonaws.com"], opts=self._child
        )
        authority = cluster.certificate_authority.data
        return ClusterOutputs(
            name=self._args.cluster_name,
            resource=cluster,
            endpoint=cluster.endpoint,
            certificate_authority=authority,
            kubeconfig=kubeconfig(self._args.cluster_name, self._region.name, cluster.endpoint, authority),
            version=self._args.settings.version,
            security_group_id=_security_group(cluster),
            service_cidr=str(self._args.settings.service_ipv4_cidr),
            oidc_issuer=cluster.identities[0].oidcs[0].issuer,
            account_id=self._args.account.id,
            region=self._region.name,
            tags=self._args.tags,
            access=tuple(access),
        )


def _scheduler_config(strategy: str | None) -> aws.eks.ClusterKubeSchedulerConfigArgs | None:
    """How the scheduler ranks nodes; None leaves it to EKS."""
    if strategy is None:
        return None
    weights = {keys.GPU: GPU_WEIGHT, CPU: 1, MEMORY: 1} if strategy == "MostAllocated" else {CPU: 1, MEMORY: 1}
    scoring = aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitScoringStrategyArgs(
        type=strategy,
        resources=[
            aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitScoringStrategyResourceArgs(name=name, weight=weight)
            for name, weight in weights.items()
        ],
    )
    fit = aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitArgs(scoring_strategy=scoring)
    return aws.eks.ClusterKubeSchedulerConfigArgs(node_resources_fit=fit)


def _security_group(cluster: aws.eks.Cluster) -> pulumi.Output[str]:
    """The security group that EKS creates, known only once the cluster exists.

    It is in `vpc_config`, which is an input too: the first preview may return the input alone, and the group would then
    be known to be empty.
    """
    return cluster.id.apply(lambda _: cluster.vpc_config.cluster_security_group_id)
