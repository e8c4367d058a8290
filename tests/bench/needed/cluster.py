"""What the control plane, its add-ons, and everything inside the cluster need."""

import json
from collections.abc import Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource
from spec.catalog import addons
from tests.bench.durations import ADDON, NODE_GROUP
from tests.bench.needed.need import Index, Need, every, inputs, of, policies_behind, source_of

CLUSTER: Final = "aws:eks/cluster:Cluster"
ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
GRANT: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"
KUBERNETES: Final = "kubernetes:"
ADMINISTRATION: Final = ":cluster-access-policy/AmazonEKSClusterAdminPolicy"


def addon(resource: RecordedResource) -> str:
    """Name of an EKS add-on; empty for anything else."""
    return str(inputs(resource).get("addonName", "")) if resource.type == ADDON else ""


def needs_nodes(resource: RecordedResource) -> bool:
    """Whether it is an add-on that becomes ACTIVE only on a node. One that the catalog does not have may be."""
    name = addon(resource)
    return bool(name) and (name not in addons.ADDONS or addons.get(name).needs_nodes)


def inside(resource: RecordedResource) -> bool:
    """Whether it is an object or a release in the cluster."""
    return resource.type.startswith(KUBERNETES)


def system_groups(index: Index, _: RecordedResource) -> list[RecordedResource]:
    """Node groups on which controllers run."""
    return [each for each in index.of_type(NODE_GROUP) if _label(each, "platform.slipway/role") == "system"]


def administrators(index: Index, _: RecordedResource) -> list[RecordedResource]:
    """Access policies of cluster administrators."""
    return [
        each
        for each in index.of_type(GRANT)
        if str(inputs(each).get("policyArn", "")).endswith(ADMINISTRATION)
        and (inputs(each).get("accessScope") or {}).get("type") == "cluster"
    ]


def _label(group: RecordedResource, key: str) -> Any:
    labels = inputs(group).get("labels")
    return labels.get(key) if isinstance(labels, Mapping) else None


def _admitted(index: Index, _: RecordedResource) -> list[RecordedResource]:
    """Rules of the cluster's own security group that admit networks by their range."""
    clusters = {each.urn for each in index.of_type(CLUSTER)}
    return [
        each
        for each in index.of_type(INGRESS)
        if "cidrIpv4" in inputs(each) and clusters & {one.urn for one in index.behind(each, "securityGroupId")}
    ]


def _own_log_group(index: Index, cluster: RecordedResource) -> list[RecordedResource]:
    return index.matching(LOG_GROUP, name=f"/aws/eks/{inputs(cluster).get('name')}/cluster")


def _policies_of_addon(index: Index, later: RecordedResource) -> list[RecordedResource]:
    """Those without which its pods don't start well: permissions to use a key matter when a volume is created, see
    `tests.bench.needed.storage`."""
    found = policies_behind("podIdentityAssociations")(index, later)
    return [policy for policy in found if not _is_about_keys(policy)]


def _is_about_keys(policy: RecordedResource) -> bool:
    text = inputs(policy).get("policy")
    if not isinstance(text, str):
        return False
    statements = json.loads(text)["Statement"]
    actions = {action for each in statements for action in each["Action"]}
    return all(action.startswith("kms:") for action in actions)


NEEDS: Final[Mapping[str, Need]] = {
    "a log group after its key": Need(
        later=of(LOG_GROUP), earlier=source_of("kmsKeyId"), why="it is encrypted with it (CloudWatch Logs User Guide)"
    ),
    "the control plane after its subnets and key": Need(
        later=of(CLUSTER),
        earlier=source_of("vpcConfig", "encryptionConfig"),
        required=True,
        why="they are its inputs (EKS API Reference, CreateCluster)",
    ),
    "the control plane after its log group": Need(
        later=of(CLUSTER),
        earlier=_own_log_group,
        required=True,
        why="EKS creates the group itself, without retention and key (Terraform AWS provider, aws_eks_cluster, "
        "'Enabling Control Plane Logging')",
    ),
    "the control plane after the policies of its role": Need(
        later=of(CLUSTER),
        earlier=policies_behind("roleArn"),
        required=True,
        why="permissions are created before and deleted after the cluster, or EKS can't delete what it manages in EC2 "
        "(Terraform AWS provider, aws_eks_cluster, example)",
    ),
    "an access entry after the control plane": Need(
        later=of(ENTRY), earlier=every(CLUSTER), required=True, why="it is a part of it"
    ),
    "an access policy after its entry": Need(
        later=of(GRANT),
        earlier=source_of("principalArn"),
        required=True,
        why="EKS refuses a principal without an entry (EKS API Reference, AssociateAccessPolicy)",
    ),
    "an add-on after the control plane": Need(
        later=of(ADDON), earlier=every(CLUSTER), required=True, why="it is a part of it"
    ),
    "an add-on after the policies of its role": Need(
        later=of(ADDON),
        earlier=_policies_of_addon,
        why="its pods call AWS as soon as they start (EKS User Guide, 'IAM roles for Amazon EKS add-ons')",
    ),
    "an add-on of Deployments after the system nodes": Need(
        later=needs_nodes,
        earlier=system_groups,
        required=True,
        why="it is DEGRADED until a node takes its pods (terraform-aws-modules/terraform-aws-eks#3001)",
    ),
    "objects in the cluster after the administrators' access": Need(
        later=inside,
        earlier=administrators,
        required=True,
        why="with authentication mode API nobody else may create them, not even the creator of the cluster (EKS User "
        "Guide, 'Grant IAM users access to Kubernetes with EKS access entries')",
    ),
    "objects in the cluster after the rules that admit networks to its API": Need(
        later=inside,
        earlier=_admitted,
        why="the program runs in such a network if the endpoint is private (EKS User Guide, 'Cluster API server "
        "endpoint')",
    ),
}
