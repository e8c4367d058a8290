"""What nodes need: managed node groups, and what Karpenter launches."""

from collections.abc import Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource
from spec.catalog import addons
from tests.bench.durations import ADDON, NODE_GROUP, RELEASE, chart_of
from tests.bench.needed import network
from tests.bench.needed.cluster import ENTRY, addon
from tests.bench.needed.need import Index, Need, inputs, of, policies_behind, source_of

NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
OVERLAY: Final = "kubernetes:karpenter.sh/v1alpha1:NodeOverlay"
NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
PROFILE: Final = "aws:iam/instanceProfile:InstanceProfile"
SCALING_TAG: Final = "aws:autoscaling/tag:Tag"
KARPENTER: Final = "karpenter"
GROUPS: Final = ("karpenter.sh/", "karpenter.k8s.aws/")


def is_karpenter(resource: RecordedResource) -> bool:
    """Whether Karpenter acts on it: a NodePool, a class, an overlay."""
    return str(inputs(resource).get("apiVersion", "")).startswith(GROUPS)


def _before_compute(index: Index, _: RecordedResource) -> list[RecordedResource]:
    known = addons.ADDONS
    return [each for each in index.of_type(ADDON) if addon(each) in known and addons.get(addon(each)).before_compute]


def _zone_of(subnet: RecordedResource) -> Any:
    return inputs(subnet)["availabilityZone"]


def _way_out_of_group(index: Index, group: RecordedResource) -> list[RecordedResource]:
    """Of the zones of its subnets: with custom networking, pods are in other subnets of the same zone."""
    zones = {_zone_of(subnet) for subnet in index.behind(group, "subnetIds")}
    return network.way_out(index, [each for each in network.private_subnets(index) if _zone_of(each) in zones])


def _way_out_of_class(index: Index, node_class: RecordedResource) -> list[RecordedResource]:
    """Of the zones of the subnets that it selects by their tags."""
    terms = [term["tags"] for term in inputs(node_class)["spec"]["subnetSelectorTerms"]]
    chosen = [
        subnet
        for subnet in index.of_type(network.SUBNET)
        if any(term.items() <= inputs(subnet).get("tags", {}).items() for term in terms)
    ]
    zones = {_zone_of(subnet) for subnet in chosen}
    return network.way_out(index, [each for each in network.private_subnets(index) if _zone_of(each) in zones])


def _role_of_class(index: Index, node_class: RecordedResource) -> list[RecordedResource]:
    profiles = [each for each in index.behind(node_class, "spec") if each.type == PROFILE]
    return [role for profile in profiles for role in index.behind(profile, "role")]


def _policies_of_class(index: Index, node_class: RecordedResource) -> list[RecordedResource]:
    return index.policies_of(_role_of_class(index, node_class))


def _entry_of_class(index: Index, node_class: RecordedResource) -> list[RecordedResource]:
    roles = {role.urn for role in _role_of_class(index, node_class)}
    return [
        entry
        for entry in index.matching(ENTRY, type="EC2_LINUX")
        if roles & {role.urn for role in index.behind(entry, "principalArn")}
    ]


def _class_of_pool(index: Index, pool: RecordedResource) -> list[RecordedResource]:
    name = inputs(pool)["spec"]["template"]["spec"]["nodeClassRef"]["name"]
    return [each for each in index.of_type(NODE_CLASS) if inputs(each)["metadata"]["name"] == name]


def _overlays_of_pool(index: Index, pool: RecordedResource) -> list[RecordedResource]:
    """Overlays that name the pool."""
    name = inputs(pool)["metadata"]["name"]
    return [
        each
        for each in index.of_type(OVERLAY)
        for term in inputs(each)["spec"]["requirements"]
        if term["key"] == "karpenter.sh/nodepool" and name in term["values"]
    ]


def _controller(index: Index, _: RecordedResource) -> list[RecordedResource]:
    return [each for each in index.of_type(RELEASE) if chart_of(each) == KARPENTER]


_POLICIES: Final = (
    "permissions are created before and deleted after the nodes: without them nodes can't join, and EKS can't delete "
    "their machines (Terraform AWS provider, aws_eks_node_group, example; EKS User Guide, 'Amazon EKS node IAM role')"
)
_WAY_OUT: Final = (
    "nodes need a way to EKS, ECR and EC2 to join: NodeCreationFailure (EKS User Guide, 'Troubleshoot problems with "
    "Amazon EKS clusters and nodes')"
)
NEEDS: Final[Mapping[str, Need]] = {
    "a node group after its subnets and control plane": Need(
        later=of(NODE_GROUP), earlier=source_of("subnetIds", "clusterName"), required=True, why="they are its inputs"
    ),
    "a node group after the policies of its role": Need(
        later=of(NODE_GROUP), earlier=policies_behind("nodeRoleArn"), required=True, why=_POLICIES
    ),
    "a node group after the add-ons that nodes need": Need(
        later=of(NODE_GROUP),
        earlier=_before_compute,
        required=True,
        why="no node is Ready without the network add-on (EKS Best Practices Guide, 'Amazon VPC CNI'); "
        "spec/catalog/data/addons.yaml has the reason of each",
    ),
    "a node group after the way out of its zones": Need(later=of(NODE_GROUP), earlier=_way_out_of_group, why=_WAY_OUT),
    "nodes after the endpoints where there is no NAT": Need(
        later=of(NODE_GROUP, NODE_CLASS),
        earlier=network.endpoints_without_nat,
        why="they are the only way to ECR and EKS (EKS User Guide, 'Deploy private clusters with limited internet "
        "access')",
    ),
    "a scaling tag after its node group": Need(
        later=of(SCALING_TAG),
        earlier=source_of("autoscalingGroupName"),
        required=True,
        why="EKS creates the Auto Scaling group with the node group",
    ),
    "a node class after the policies of its role": Need(
        later=of(NODE_CLASS), earlier=_policies_of_class, required=True, why=_POLICIES
    ),
    "a node class after the access entry of its role": Need(
        later=of(NODE_CLASS),
        earlier=_entry_of_class,
        required=True,
        why="EKS creates entries for the roles of node groups alone; without one nodes don't join "
        "(aws/karpenter-provider-aws#7558, awslabs/ai-on-eks#111)",
    ),
    "a node class after the way out of its zones": Need(later=of(NODE_CLASS), earlier=_way_out_of_class, why=_WAY_OUT),
    "a NodePool after its node class": Need(
        later=of(NODE_POOL),
        earlier=_class_of_pool,
        required=True,
        why="it is not Ready before, and the class can't go while machines use it (Karpenter, 'NodeClasses')",
    ),
    "a NodePool after its overlay": Need(
        later=of(NODE_POOL),
        earlier=_overlays_of_pool,
        why="the overlay says what its nodes offer beyond their type; without it Karpenter launches none for such "
        "pods, or too many (Karpenter, 'NodeOverlays')",
    ),
    "Karpenter's objects after its controller": Need(
        later=is_karpenter,
        earlier=_controller,
        required=True,
        why="only a controller that still runs terminates their machines and takes its finalizers away "
        "(aws/karpenter-provider-aws#1268)",
    ),
}
