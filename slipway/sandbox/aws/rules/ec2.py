"""EC2: address ranges, zones and endpoint services."""

from __future__ import annotations

import ipaddress

from slipway.sandbox.aws.rules.rule import Case, Moment, rule, value
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


@rule(
    f"{_VPC} {_SUBNET} {_RANGE}", "", "cidrBlock",
    "hashicorp/terraform-provider-aws internal/verify/validate.go, ValidateIPv4CIDRBlock, read 2026-11: EC2 itself "
    "would round the block (API Reference, CreateVpc), but the AWS provider refuses it at plan",
)  # fmt: skip
def host_bits(case: Case) -> str | None:
    """The block is written with its first address."""
    network, written = _network(case), case.new.get("cidrBlock")
    if network is None or str(network) == written:
        return None
    return f'"{written}" is not a valid IPv4 CIDR block; did you mean "{network}"?'


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


RULES = (vpc_size, subnet_size, host_bits, zone, endpoint_service)
