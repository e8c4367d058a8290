"""Rules of EC2, and what uses a network when it is deleted."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from sandbox.aws.rules.rule import Case, Moment, rule, value
from spec.catalog import regions

_VPC, _SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"
_RANGE = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
_ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
_ERRORS = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, read 2026-11"
SMALLEST, LARGEST = 28, 16
"""Prefix lengths of the smallest and the largest range of a VPC or subnet."""


def _network(case: Case) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(str(case.new.get("cidrBlock")), strict=False)
    except ValueError:
        return None


def _out_of_range(case: Case) -> str | None:
    network = _network(case)
    if network is None or LARGEST <= network.prefixlen <= SMALLEST:
        return None
    return (
        f"The CIDR '{case.new['cidrBlock']}' is invalid: the block size must be between a /{SMALLEST} netmask and "
        f"/{LARGEST} netmask"
    )


@rule(f"{_VPC} {_RANGE}", "InvalidVpc.Range", "cidrBlock", _ERRORS)
def vpc_size(case: Case) -> str | None:
    """A VPC has between 16 and 65,536 addresses."""
    return _out_of_range(case)


@rule(_SUBNET, "InvalidSubnet.Range", "cidrBlock", _ERRORS)
def subnet_size(case: Case) -> str | None:
    """A subnet has between 16 and 65,536 addresses."""
    return _out_of_range(case)


@rule(_SUBNET, "InvalidParameterValue", "availabilityZone", f"{_ERRORS}; CreateSubnet")
def zone(case: Case) -> str | None:
    """A subnet is in a zone of its region. Local and Wavelength Zones, with longer names, are not listed."""
    name, region = case.new.get("availabilityZone"), case.aws.region
    if not name or not regions.is_region(region):
        return None
    known = regions.zones(region)
    if str(name).startswith(region) and (name in known or not known or len(str(name)) > len(region) + 1):
        return None
    shown = ", ".join(known)
    return (
        f"Value ({name}) for parameter availabilityZone is invalid. Subnets can currently only be created in the "
        f"following availability zones: {shown}."
    )


@rule(
    _ENDPOINT, "InvalidServiceName", "serviceName", f"{_ERRORS}; the list is moto's, of DescribeVpcEndpointServices",
    Moment.CREATE,
)  # fmt: skip
def endpoint_service(case: Case) -> str | None:
    """An endpoint connects to a service that the region has; those of other accounts are not known here."""
    name = str(case.new.get("serviceName") or "")
    of_account = name.startswith("com.amazonaws.vpce.")
    if not name or of_account or value(case.new, "serviceRegion") not in (None, case.aws.region):
        return None
    services = case.aws.call("ec2", "describe_vpc_endpoint_services")["ServiceNames"]
    return None if name in services else f"The Vpc Endpoint Service '{name}' does not exist"


# Subnets and security groups that something still uses can't be deleted.
#
# Moto 5.2.5 makes a network interface for mount targets, NAT gateways and endpoints, but deletes their subnet and their
# group nevertheless; for clusters, file systems of FSx and databases it makes none, so those are asked themselves.

_SOURCE = (
    "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html and deleting-security-groups.html, read "
    "2026-11"
)


@rule("aws:ec2/subnet:Subnet", "DependencyViolation", "vpcId", _SOURCE, Moment.DELETE)
def subnet_in_use(case: Case) -> str | None:
    """A subnet with interfaces in it."""
    users = [*_interfaces(case, "subnet-id"), *_without_interfaces(case, "SubnetIds", "subnetIds")]
    return f"The subnet '{case.id}' has dependencies and cannot be deleted: {users[0]}" if users else None


@rule("aws:ec2/securityGroup:SecurityGroup", "DependencyViolation", "name", _SOURCE, Moment.DELETE)
def group_in_use(case: Case) -> str | None:
    """A group on an interface, or in a rule of another group."""
    users = [
        *_interfaces(case, "group-id"),
        *_without_interfaces(case, "VpcSecurityGroupIds", "securityGroupIds"),
        *_rules(case),
    ]
    return f"resource {case.id} has a dependent object: {users[0]}" if users else None


def _interfaces(case: Case, name: str) -> Iterator[str]:
    wanted = [{"Name": name, "Values": [case.id]}]
    for one in case.aws.call("ec2", "describe_network_interfaces", Filters=wanted)["NetworkInterfaces"]:
        yield f"{one['NetworkInterfaceId']} {one.get('Description', '')}".strip()


def _without_interfaces(case: Case, of_instance: str, of_cluster: str) -> Iterator[str]:
    """What has interfaces on AWS and none in moto."""
    for name in case.aws.call("eks", "list_clusters")["clusters"]:
        cluster = case.aws.call("eks", "describe_cluster", name=name)["cluster"]
        if case.id in (cluster["resourcesVpcConfig"].get(of_cluster) or []):
            yield f"cluster {name}"
    for system in case.aws.call("fsx", "describe_file_systems")["FileSystems"]:
        if case.id in (system.get("SubnetIds") or []) and of_instance == "SubnetIds":
            yield f"file system {system['FileSystemId']}"
    for instance in case.aws.call("rds", "describe_db_instances")["DBInstances"]:
        subnets = [one["SubnetIdentifier"] for one in (instance.get("DBSubnetGroup") or {}).get("Subnets", [])]
        groups = [one["VpcSecurityGroupId"] for one in instance.get("VpcSecurityGroups", [])]
        if case.id in (subnets if of_instance == "SubnetIds" else groups):
            yield f"database {instance['DBInstanceIdentifier']}"


def _rules(case: Case) -> Iterator[str]:
    """Rules of other groups that name this one as their source or destination."""
    for name in ("ip-permission.group-id", "egress.ip-permission.group-id"):
        wanted = [{"Name": name, "Values": [case.id]}]
        for group in case.aws.call("ec2", "describe_security_groups", Filters=wanted)["SecurityGroups"]:
            if group["GroupId"] != case.id:
                yield f"a rule of {group['GroupId']}"
