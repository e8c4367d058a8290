"""Rules of EKS for clusters and access to them; what is there twice, or missing, `moto/eks.py` refuses."""

from __future__ import annotations

from sandbox.aws.rules.rule import TABLES, Case, rule
from sandbox.rpc.diff import value
from spec.catalog import addons, kubernetes, regions

_BAD = "InvalidParameterException"
VPC_DEFAULTS = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}


@rule(
    "eks.create_cluster eks.update_cluster_version", _BAD, "version",
    "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, in spec/catalog/data/kubernetes.yaml",
)  # fmt: skip
def cluster_version(case: Case) -> str | None:
    """A version that the catalog knows EKS to have; a version older than the catalog may still run."""
    version = case.given.get("version")
    number = kubernetes.minor(str(version)) if version else None
    oldest = kubernetes.minor(next(iter(kubernetes.VERSIONS))) or 0
    if not version or version in kubernetes.VERSIONS or (number is not None and number < oldest):
        return None
    return f"unsupported Kubernetes version {version}"


@rule(
    "eks.create_cluster eks.update_cluster_config", "UnsupportedAvailabilityZoneException",
    "resourcesVpcConfig.subnetIds",
    "EKS User Guide, network-reqs.html, in spec/catalog/data/zone-ids.yaml; the words as in pulumi/pulumi-eks#1401",
    live=True,
)  # fmt: skip
def zones_with_a_control_plane(case: Case) -> str | None:
    """EKS has no control plane in some zones, which are known by their IDs: an account names them as it does."""
    ids = list(value(case.given, "resourcesVpcConfig.subnetIds") or ())
    subnets = case.aws.call("ec2", "describe_subnets", SubnetIds=ids)["Subnets"] if ids else []
    without = {one["AvailabilityZone"] for one in subnets if one["AvailabilityZoneId"] in regions.WITHOUT_EKS}
    if not without:
        return None
    zones = case.aws.call("ec2", "describe_availability_zones")["AvailabilityZones"]
    others = sorted(one["ZoneName"] for one in zones if one["ZoneId"] not in regions.WITHOUT_EKS)
    return (
        f"Cannot create cluster '{case.given.get('name')}' because EKS does not support creating control plane "
        f"instances in {', '.join(sorted(without))}, the targeted availability zone. Retry cluster creation using "
        f"control plane subnets that span at least two of these availability zones: {', '.join(others)}. Note, post "
        "cluster creation, you can run worker nodes in separate subnets/availability zones from control plane "
        "subnets/availability zones passed during cluster creation"
    )


@rule("eks.create_addon", _BAD, "addonName", "EKS API Reference, CreateAddon; the lists named in tables.yaml")
def addon_exists(case: Case) -> str | None:
    """EKS has the add-on. Those of the AWS Marketplace are named `vendor_name` and can't be checked."""
    name = str(case.given["addonName"])
    if "_" in name or name in TABLES["addons"] or name in addons.ADDONS:
        return None
    return f"Addon specified is not supported: {name}"
