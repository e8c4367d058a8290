"""Who may use the cluster's API: access entries and their policies, by the keys of the settings, and the kubeconfig,
which contains no credential.

With authentication mode `API` there is no other access, not even for the principal that created the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from spec.settings.cluster import Access, AccessPolicy


def document(
    cluster: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> dict[str, Any]:
    """A kubeconfig with one context, as `aws eks update-kubeconfig` writes it (AWS CLI v2).

    Args:
        cluster: Name of the EKS cluster.
        region: Region that the token is signed for.
        endpoint: URL of the API server.
        certificate_authority: CA certificate of the API server, base64 of PEM.
    """
    arguments = ["eks", "get-token", "--cluster-name", cluster, "--region", region, "--output", "json"]
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": arguments,
        # A pipeline can't answer prompts.
        "interactiveMode": "Never",
    }
    server = {"server": endpoint, "certificate-authority-data": certificate_authority}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": server}],
        "users": [{"name": cluster, "user": {"exec": token}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "current-context": cluster,
    }


def kubeconfig(
    cluster: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> pulumi.Output[str]:
    """The same as JSON, with sorted keys so that the text changes only when the cluster does."""
    return pulumi.Output.json_dumps(document(cluster, region, endpoint, certificate_authority), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class AccessEntriesArgs:
    """Inputs of `AccessEntries`.

    Attributes:
        cluster: The cluster.
        entries: Access entries by the key of the stack file.
        partition: AWS partition of the managed policies.
    """

    cluster: aws.eks.Cluster
    entries: Mapping[str, Access]
    partition: str


class AccessEntries(pulumi.ComponentResource):
    """Access entries of a cluster.

    Attributes:
        administrators: Associations with the cluster admin policy. The identity that runs the program has one of these,
            so in-cluster resources depend on them.
    """

    PULUMI_TYPE: Final = "slipway:cluster:AccessEntries"

    administrators: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: AccessEntriesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        # EKS deletes access entries with their cluster.
        self._child = pulumi.ResourceOptions(parent=self, deleted_with=args.cluster)
        administrators = []
        for key, access in sorted(args.entries.items()):
            entry = self._entry(key, access)
            if access.policy is None:
                continue
            granted = self._policy(key, access.policy, access, entry)
            if access.policy is AccessPolicy.CLUSTER_ADMIN:
                administrators.append(granted)
        self.administrators = administrators
        self.register_outputs({})

    def _entry(self, key: str, access: Access) -> aws.eks.AccessEntry:
        return aws.eks.AccessEntry(
            f"{self._name}-entry-{key}",
            cluster_name=self._args.cluster.name,
            principal_arn=access.principal_arn,
            kubernetes_groups=sorted(access.kubernetes_groups) or None,
            type="STANDARD",
            opts=self._child,
        )

    def _policy(
        self, key: str, policy: AccessPolicy, access: Access, entry: aws.eks.AccessEntry
    ) -> aws.eks.AccessPolicyAssociation:
        scope = (
            aws.eks.AccessPolicyAssociationAccessScopeArgs(type="namespace", namespaces=sorted(access.namespaces))
            if access.namespaces
            else aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster")
        )
        return aws.eks.AccessPolicyAssociation(
            f"{self._name}-policy-{key}",
            cluster_name=self._args.cluster.name,
            principal_arn=entry.principal_arn,
            policy_arn=f"arn:{self._args.partition}:eks::aws:cluster-access-policy/{policy}",
            access_scope=scope,
            opts=self._child,
        )
