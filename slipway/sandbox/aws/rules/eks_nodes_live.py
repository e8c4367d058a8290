"""EKS node groups: what the cluster, the launch template, the subnets and the role say, right before a change."""

from __future__ import annotations

from slipway.sandbox.aws.mappings import launch_templates
from slipway.sandbox.aws.rules.eks_cluster import missing_role
from slipway.sandbox.aws.rules.eks_nodes import API, BAD, NODE_GROUP, wrong_architecture
from slipway.sandbox.aws.rules.rule import Case, Moment, listed, rule
from spec.catalog import instances, kubernetes

_SKEW = 3
"""Minor versions that nodes may be behind their control plane
(https://kubernetes.io/releases/version-skew-policy/#kubelet).
"""


def _cluster_version(case: Case) -> str:
    cluster = case.aws.call("eks", "describe_cluster", name=case.new["clusterName"])["cluster"]
    return str(cluster["version"])


@rule(
    NODE_GROUP, BAD, "version clusterName", f"{API}version: that of the cluster is the only accepted one", Moment.CREATE
)
def version_at_creation(case: Case) -> str | None:
    """A new group has its cluster's version."""
    version = case.new.get("version")
    has = _cluster_version(case) if version else None
    if version == has:
        return None
    return f"Requested Nodegroup Kubernetes version {version} is not the version {has} of the cluster"


@rule(
    NODE_GROUP,
    BAD,
    "version clusterName",
    "EKS User Guide, update-managed-node-group.html, read 2026-11",
    Moment.UPDATE,
)
def version_at_update(case: Case) -> str | None:
    """A group is updated to its cluster's version, or one that is not too far behind, and never back."""
    version, before = case.new.get("version"), case.old.get("version")
    if not version or version == before:
        return None
    has = _cluster_version(case)
    behind, step = kubernetes.skew(str(version), has), kubernetes.skew(str(before), str(version))
    if behind is None or 0 <= behind <= _SKEW:
        return f"Nodegroup can't be updated from {before} back to {version}" if step is not None and step < 0 else None
    return f"Requested Nodegroup Kubernetes version {version} is not supported by the version {has} of the cluster"


@rule(
    NODE_GROUP, "InvalidRequestException", "launchTemplate instanceTypes", f"{API}instanceTypes",
    Moment.CREATE, Moment.UPDATE,
)  # fmt: skip
def types_in_one_place(case: Case) -> str | None:
    """Types are in the group or in its template; a template that does not exist is refused by EC2."""
    data = launch_templates.in_use(case.aws, case.new.get("launchTemplate")) or {}
    if data.get("InstanceType") and case.new.get("instanceTypes"):
        return "Cannot specify instance types in launch template and API Request"
    return None


@rule(NODE_GROUP, BAD, "launchTemplate amiType", f"{API}amiType", Moment.CREATE, Moment.UPDATE)
def architecture_of_the_template(case: Case) -> str | None:
    """The image is of the architecture of the template's type."""
    data = launch_templates.in_use(case.aws, case.new.get("launchTemplate")) or {}
    return wrong_architecture(case, [data["InstanceType"]]) if data.get("InstanceType") else None


@rule(NODE_GROUP, "InvalidRequestException", "subnetIds instanceTypes", f"{API}the offerings are in spec/catalog",
      Moment.CREATE)  # fmt: skip
def offered_in_every_zone(case: Case) -> str | None:
    """Each of the group's zones offers one of its types. A type of which the catalog knows nothing is not checked."""
    ids = list(case.new["subnetIds"])
    subnets = case.aws.call("ec2", "describe_subnets", SubnetIds=ids)["Subnets"]
    names = case.new.get("instanceTypes") or [
        (launch_templates.in_use(case.aws, case.new.get("launchTemplate")) or {}).get("InstanceType")
    ]
    known = [instances.find(str(name)) for name in names]
    region = case.aws.region
    if region not in instances.OFFERING_REGIONS or None in known:
        return None
    offering = {zone for one in known if one is not None for zone in one.zone_ids.get(region, ())}
    for subnet in subnets:
        if subnet["AvailabilityZoneId"] not in offering:
            place = f"{subnet['AvailabilityZone']} ({subnet['AvailabilityZoneId']})"
            return (
                f"Your requested instance type ({', '.join(names)}) is not supported in your requested Availability "
                f"Zone ({place}); it is in {listed(sorted(offering))}"
            )
    return None


@rule(NODE_GROUP, BAD, "nodeRoleArn", "EKS User Guide, create-node-role.html, read 2026-11", Moment.CREATE)
def node_role_exists(case: Case) -> str | None:
    """A role of the account exists; whether EC2 may assume it is not checked."""
    return missing_role(case, str(case.new["nodeRoleArn"]))


RULES = (
    version_at_creation, version_at_update, types_in_one_place, architecture_of_the_template, offered_in_every_zone,
    node_role_exists,
)  # fmt: skip
