"""Who may use a cluster: EKS access entries, their access policies, and Pod Identity associations.

Source of the changes that force a replacement: hashicorp/terraform-provider-aws internal/service/eks/{access_entry,
access_policy_association,pod_identity_association}.go, read 2026-11.
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find
from slipway.sandbox.aws.mappings.eks_cluster import SERVICE

_ENTRY = {"clusterName": "{clusterName}", "principalArn": "{principalArn}"}
_TAGS = ("tag_resource", "untag_resource")

ACCESS_ENTRY = ResourceMapping(
    "aws:eks/accessEntry:AccessEntry",
    SERVICE,
    create=Call("create_access_entry"),
    id="{clusterName}:{principalArn}",
    read=Call("describe_access_entry", target=_ENTRY, item="accessEntry"),
    delete=Call("delete_access_entry", target=_ENTRY),
    force_new=frozenset({"clusterName", "principalArn", "type"}),
    settings=(Setting(("kubernetesGroups", "userName"), Call("update_access_entry", _ENTRY), at_create=False),),
    tags=Tags(*_TAGS, {"resourceArn": "{accessEntryArn}"}),
    defaults={"kubernetesGroups": []},
    drift=("kubernetesGroups", "type", "userName"),
)


def _read_policy(aws: Aws, id: str, names: Inputs) -> Item | None:
    listed = find(aws, SERVICE, Call("list_associated_access_policies", _ENTRY), names) or {}
    for policy in listed.get("associatedAccessPolicies", []):
        if policy["policyArn"] == names["policyArn"]:
            return {**policy, "clusterName": names["clusterName"], "principalArn": names["principalArn"]}
    return None


ACCESS_POLICY = ResourceMapping(
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    SERVICE,
    create=Call("associate_access_policy"),
    id="{clusterName}#{principalArn}#{policyArn}",
    read=_read_policy,
    delete=Call("disassociate_access_policy", target={**_ENTRY, "policyArn": "{policyArn}"}),
    force_new=frozenset({"accessScope", "clusterName", "policyArn", "principalArn"}),
    drift=("accessScope",),
)

_ASSOCIATION = {"clusterName": "{clusterName}", "associationId": "{id}"}


def _read_association(aws: Aws, id: str, names: Inputs) -> Item | None:
    """At an import the cluster is not known: ids are unique, so any cluster may have it."""
    known = names.get("clusterName")
    describe = Call("describe_pod_identity_association", _ASSOCIATION, item="association")
    for cluster in [known] if known else aws.call(SERVICE, "list_clusters")["clusters"]:
        found = find(aws, SERVICE, describe, {"clusterName": cluster, "id": id})
        if found is not None:
            return found
    return None


POD_IDENTITY = ResourceMapping(
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    SERVICE,
    create=Call("create_pod_identity_association"),
    id="association.associationId",
    read=_read_association,
    delete=Call("delete_pod_identity_association", target=_ASSOCIATION),
    force_new=frozenset({"clusterName", "namespace", "serviceAccount"}),
    settings=(
        Setting(
            ("disableSessionTags", "policy", "roleArn", "targetRoleArn"),
            Call("update_pod_identity_association", _ASSOCIATION),
            at_create=False,
        ),
    ),
    tags=Tags(*_TAGS, {"resourceArn": "{associationArn}"}),
    drift=("disableSessionTags", "policy", "roleArn", "targetRoleArn"),
)

MAPPINGS = (ACCESS_ENTRY, ACCESS_POLICY, POD_IDENTITY)
