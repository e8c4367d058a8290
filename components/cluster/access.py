"""Who may use the cluster's API: access entries and their policies, by the keys of the settings, and the kubeconfig,
which contains no credential.

With authentication mode `API` there is no other access, not even for the principal that created the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.kubeconfig import document
from spec.settings.cluster import Access, AccessPolicy


def kubeconfig(
    cluster: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> pulumi.Output[str]:
    """A kubeconfig as JSON, with sorted keys so that the text changes only when the cluster does."""
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
