"""Rules of EKS for clusters and access to them."""

from __future__ import annotations

import ipaddress
from typing import Any

from sandbox.aws.rules.rule import TABLES, Case, Moment, is_true, listed, rule, value
from spec.catalog import addons, kubernetes, regions

_CLUSTER = "aws:eks/cluster:Cluster"
_API = "EKS API Reference, read 2026-11: "
_BAD = "InvalidParameterException"
VPC_DEFAULTS = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}
_PRIVATE = tuple(ipaddress.IPv4Network(one) for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
_NOT_PUBLIC = (*_PRIVATE, *(ipaddress.IPv4Network(one) for one in ("100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16")))
_SERVICE_SIZES = range(12, 25)
"""Prefix lengths of a service range."""


@rule(
    _CLUSTER, _BAD, "version",
    "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, in spec/catalog/data/kubernetes.yaml",
)  # fmt: skip
def cluster_version(case: Case) -> str | None:
    """A version that the catalog knows EKS to have; a version older than the catalog may still run."""
    version = case.new.get("version")
    number = kubernetes.minor(str(version)) if version else None
    oldest = kubernetes.minor(next(iter(kubernetes.VERSIONS))) or 0
    if not version or version in kubernetes.VERSIONS or (number is not None and number < oldest):
        return None
    return f"unsupported Kubernetes version {version}"


@rule(_CLUSTER, _BAD, "version", "EKS User Guide, update-cluster.html, read 2026-11", Moment.CHANGE)
def one_minor_version(case: Case) -> str | None:
    """EKS updates a control plane by one minor version at a time, and rolls one back."""
    before, after = str(case.old.get("version", "")), str(case.new.get("version", ""))
    skew = kubernetes.skew(before, after)
    if before == after or skew in (None, 1, -1):
        return None
    return (
        f"Unsupported Kubernetes minor version update from {before} to {after}: EKS updates one minor version at a time"
    )


@rule(
    _CLUSTER, _BAD, "vpcConfig.endpointPublicAccess vpcConfig.endpointPrivateAccess",
    f"{_API}UpdateClusterConfig: at least one endpoint is needed",
)  # fmt: skip
def an_endpoint(case: Case) -> str | None:
    """The API server has an endpoint."""
    public = value(case.new, "vpcConfig.endpointPublicAccess")
    if public is None or is_true(public) or is_true(value(case.new, "vpcConfig.endpointPrivateAccess")):
        return None
    return "Private and public endpoint access cannot both be disabled"


@rule(_CLUSTER, _BAD, "vpcConfig.publicAccessCidrs", "EKS User Guide, cluster-endpoint.html, read 2026-11")
def public_ranges(case: Case) -> str | None:
    """Addresses that no one on the internet has can't be allowed to reach the public endpoint."""
    wrong = [text for text in value(case.new, "vpcConfig.publicAccessCidrs") or [] if _is_not_public(str(text))]
    return f"The following CIDRs are not allowed in publicAccessCidrs: {listed(wrong)}" if wrong else None


def _is_not_public(text: str) -> bool:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return isinstance(network, ipaddress.IPv4Network) and any(network.subnet_of(one) for one in _NOT_PUBLIC)


@rule(
    _CLUSTER, _BAD, "kubernetesNetworkConfig.serviceIpv4Cidr", f"{_API}KubernetesNetworkConfigRequest serviceIpv4Cidr",
)  # fmt: skip
def service_range(case: Case) -> str | None:
    """The range of services is private, and between /24 and /12."""
    text = value(case.new, "kubernetesNetworkConfig.serviceIpv4Cidr")
    try:
        network = ipaddress.IPv4Network(text) if text else None
    except ValueError:
        return f"The specified service IPv4 CIDR {text} is invalid"
    if network is None:
        return None
    if not any(network.subnet_of(one) for one in _PRIVATE):
        return f"The service IPv4 CIDR {text} must be within one of {listed(_PRIVATE)}"
    return None if network.prefixlen in _SERVICE_SIZES else f"The service IPv4 CIDR {text} must be between /24 and /12"


@rule(
    _CLUSTER, _BAD, "kubernetesNetworkConfig.serviceIpv4Cidr vpcConfig",
    f"{_API}KubernetesNetworkConfigRequest serviceIpv4Cidr", Moment.CREATE,
)  # fmt: skip
def service_range_outside_the_vpc(case: Case) -> str | None:
    """The range of services overlaps with no range of the VPC."""
    text = value(case.new, "kubernetesNetworkConfig.serviceIpv4Cidr")
    if not text:
        return None
    vpc = case.aws.call("ec2", "describe_vpcs", VpcIds=[_subnets(case)[0]["VpcId"]])["Vpcs"][0]
    for one in vpc["CidrBlockAssociationSet"]:
        if ipaddress.ip_network(one["CidrBlock"]).overlaps(ipaddress.ip_network(text)):
            return f"The service IPv4 CIDR {text} overlaps with the CIDR block {one['CidrBlock']} of {vpc['VpcId']}"
    return None


@rule(_CLUSTER, _BAD, "vpcConfig.subnetIds", "EKS User Guide, network-reqs.html, read 2026-11", Moment.CREATE)
def two_zones(case: Case) -> str | None:
    """EKS puts its interfaces into two zones at least."""
    if len({subnet["AvailabilityZone"] for subnet in _subnets(case)}) < 2:
        return "Subnets specified must be in at least two different AZs"
    return None


def _subnets(case: Case) -> list[dict[str, Any]]:
    ids = list(value(case.new, "vpcConfig.subnetIds") or ())
    found: list[dict[str, Any]] = case.aws.call("ec2", "describe_subnets", SubnetIds=ids)["Subnets"] if ids else []
    return found


@rule(
    _CLUSTER, "UnsupportedAvailabilityZoneException", "vpcConfig.subnetIds",
    "EKS User Guide, network-reqs.html, in spec/catalog/data/zone-ids.yaml; the words as in pulumi/pulumi-eks#1401",
    Moment.CREATE, Moment.UPDATE,
)  # fmt: skip
def zones_with_a_control_plane(case: Case) -> str | None:
    """EKS has no control plane in some zones, which are known by their IDs: an account names them as it does."""
    without = {one["AvailabilityZone"] for one in _subnets(case) if one["AvailabilityZoneId"] in regions.WITHOUT_EKS}
    if not without:
        return None
    zones = case.aws.call("ec2", "describe_availability_zones")["AvailabilityZones"]
    others = sorted(one["ZoneName"] for one in zones if one["ZoneId"] not in regions.WITHOUT_EKS)
    return (
        f"Cannot create cluster '{case.new.get('name')}' because EKS does not support creating control plane instances "
        f"in {', '.join(sorted(without))}, the targeted availability zone. Retry cluster creation using control plane "
        f"subnets that span at least two of these availability zones: {', '.join(others)}. Note, post cluster "
        "creation, you can run worker nodes in separate subnets/availability zones from control plane "
        "subnets/availability zones passed during cluster creation"
    )


@rule(
    _CLUSTER, _BAD, "roleArn", "EKS User Guide, cluster-iam-role.html and troubleshooting.html, read 2026-11",
    Moment.CREATE,
)  # fmt: skip
def role_exists(case: Case) -> str | None:
    """A role of the account exists; whether EKS may assume it is not checked."""
    return missing_role(case, str(case.new["roleArn"]))


def missing_role(case: Case, arn: str) -> str | None:
    """The message if a role of this account does not exist; nothing is known about other accounts."""
    if not arn.startswith(f"arn:{case.aws.partition}:iam::{case.aws.account}:role/"):
        return None
    found = case.seen("iam", "get_role", RoleName=arn.rpartition("/")[2])
    exists = found and found["Role"]["Arn"] == arn
    return None if exists else f"Role with arn: {arn} could not be assumed: it does not exist"


# EKS add-ons and Pod Identity associations; what is there twice, or missing, `moto/eks.py` refuses.

_ADDON = "aws:eks/addon:Addon"
_ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"


@rule(_ADDON, _BAD, "addonName", "EKS API Reference, CreateAddon; the lists named in tables.yaml")
def addon_exists(case: Case) -> str | None:
    """EKS has the add-on. Those of the AWS Marketplace are named `vendor_name` and can't be checked."""
    name = str(case.new["addonName"])
    if "_" in name or name in TABLES["addons"] or name in addons.ADDONS:
        return None
    return f"Addon specified is not supported: {name}"


@rule(
    _ASSOCIATION, _BAD, "roleArn", "EKS User Guide, pod-id-association.html, read 2026-11", Moment.CREATE, Moment.UPDATE
)
def pod_role_exists(case: Case) -> str | None:
    """A role of the account exists; whether pods.eks.amazonaws.com may assume it is a rule of the policy pack."""
    return missing_role(case, str(case.new["roleArn"]))


@rule(
    _ADDON,
    _BAD,
    "podIdentityAssociations",
    "EKS User Guide, add-ons-iam.html, read 2026-11",
    Moment.CREATE,
    Moment.UPDATE,
)
def addon_roles_exist(case: Case) -> str | None:
    """So do the roles of an add-on."""
    missing = (missing_role(case, str(one["roleArn"])) for one in case.new.get("podIdentityAssociations") or [])
    return next((text for text in missing if text), None)
