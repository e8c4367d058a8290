"""What AWS refuses because of the object that an input names: it does not exist, or it is another one.

Moto 5.2.5 looks at most of them itself; these it stores as they are, or fails.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import json
import re
from typing import Any

from sandbox.aws.rules.rule import TABLES, Case, Moment, Rule, is_true, listed, rule, value
from sandbox.aws.shapes import capital
from spec.catalog import kubernetes

_S3 = "S3 API Reference, read 2026-11: NoSuchBucket in the list of error codes"


def _bucket(type_token: str, at: str, code: str) -> Rule:
    def bucket_exists(case: Case) -> str | None:
        """The bucket exists."""
        given = str(case.new.get(at) or "")
        name = given.rpartition(":::")[2].partition("/")[0]
        if not name or (given.startswith("arn:") and ":s3:::" not in given):
            return None
        found = case.seen("s3", "list_objects_v2", Bucket=name, MaxKeys=1)
        return None if found else f"The specified bucket does not exist: {name}"

    return rule(type_token, code, at, _S3, Moment.CREATE)(bucket_exists)


BUCKETS = tuple(_bucket(*one) for one in TABLES["buckets"])


_BUCKET = re.compile("arn:[^:]*:s3:::")


@rule(
    "aws:s3/bucketPolicy:BucketPolicy", "MalformedPolicy", "policy bucket",
    "S3 User Guide, troubleshooting-bucket-policies: a policy has resources of its own bucket",
    Moment.CREATE, Moment.UPDATE,
)  # fmt: skip
def own_bucket(case: Case) -> str | None:
    """Of the buckets, a bucket policy has its own alone; its access points have a Region in their ARN."""
    policy, bucket = case.new["policy"], case.new["bucket"]
    document = json.loads(policy) if isinstance(policy, str) else policy
    own = f"arn:{case.aws.partition}:s3:::{bucket}"
    for statement in _list(document["Statement"]):
        for resource in map(str, _list(statement.get("Resource", []))):
            if _BUCKET.match(resource) and not fnmatch.fnmatchcase(own, resource.partition("/")[0]):
                return f"Policy has invalid resource: {resource} is not of the bucket {bucket}"
    return None


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


@rule("aws:efs/backupPolicy:BackupPolicy", "FileSystemNotFound", "fileSystemId",
      "EFS API Reference, PutBackupPolicy, read 2026-11", Moment.CREATE)  # fmt: skip
def backed_up_file_system(case: Case) -> str | None:
    """The file system exists."""
    wanted = str(case.new["fileSystemId"])
    found = case.seen("efs", "describe_file_systems", FileSystemId=wanted)
    return None if found else f"File system '{wanted}' does not exist."


@rule("aws:rds/subnetGroup:SubnetGroup", "DBSubnetGroupDoesNotCoverEnoughAZs", "subnetIds",
      "RDS API Reference, CreateDBSubnetGroup, read 2026-11", Moment.CREATE, Moment.UPDATE)  # fmt: skip
def two_zones_of_a_group(case: Case) -> str | None:
    """A group of subnets is in two zones at least."""
    ids = list(case.new["subnetIds"])
    zones = {one["AvailabilityZone"] for one in case.aws.call("ec2", "describe_subnets", SubnetIds=ids)["Subnets"]}
    return None if len(zones) > 1 else (
        "The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. Current AZ coverage: "
        f"{listed(sorted(zones))}. Add subnets to cover at least 2 AZs."
    )  # fmt: skip


@rule("aws:ec2/vpcEndpoint:VpcEndpoint", "InvalidParameter", "privateDnsEnabled serviceName vpcId",
      "EC2 API Reference, CreateVpcEndpoint PrivateDnsEnabled, read 2026-11", Moment.CREATE)  # fmt: skip
def one_private_name(case: Case) -> str | None:
    """One endpoint of a VPC has the private DNS name of a service."""
    if not is_true(case.new.get("privateDnsEnabled")):
        return None
    wanted = [{"Name": "vpc-id", "Values": [case.new["vpcId"]]},
              {"Name": "service-name", "Values": [case.new.get("serviceName") or ""]}]  # fmt: skip
    others = case.aws.call("ec2", "describe_vpc_endpoints", Filters=wanted)["VpcEndpoints"]
    beside = [one["VpcEndpointId"] for one in others if one.get("PrivateDnsEnabled")]
    return f"private-dns-enabled cannot be set because {beside[0]} has a conflicting DNS domain" if beside else None


@rule("aws:ec2/vpcEndpoint:VpcEndpoint", "InvalidParameter", "privateDnsEnabled vpcEndpointType vpcId",
      "VPC User Guide (PrivateLink), privatelink-access-aws-services.html: private DNS", Moment.CREATE)  # fmt: skip
def names_in_the_vpc(case: Case) -> str | None:
    """A private name is resolved in the VPC, whose two DNS attributes are on."""
    if not is_true(case.new.get("privateDnsEnabled")):
        return None
    for name in ("enableDnsSupport", "enableDnsHostnames"):
        answer = case.aws.call("ec2", "describe_vpc_attribute", VpcId=case.new["vpcId"], Attribute=name)
        if not answer[capital(name)]["Value"]:
            both = "both enableDnsSupport and enableDnsHostnames VPC attributes set to true"
            return f"Enabling private DNS requires {both} for {case.new['vpcId']}"
    return None


@rule("aws:ec2/vpcEndpoint:VpcEndpoint", "DuplicateSubnetsInSameZone", "subnetIds",
      "EC2 API Reference, error codes, read 2026-11", Moment.CREATE, Moment.UPDATE)  # fmt: skip
def one_subnet_of_a_zone(case: Case) -> str | None:
    """An endpoint has one interface in a zone."""
    ids = list(case.new.get("subnetIds") or ())
    subnets = case.aws.call("ec2", "describe_subnets", SubnetIds=ids)["Subnets"] if ids else []
    zones = [one["AvailabilityZone"] for one in subnets]
    twice = [zone for zone in zones if zones.count(zone) > 1]
    return f"Found another VPC endpoint subnet in the availability zone {twice[0]}" if twice else None


@rule("aws:ec2/route:Route", "InvalidParameterValue", "routeTableId destinationCidrBlock gatewayId",
      "VPC User Guide, route-table-options.html: local routes, read 2026-11", Moment.CREATE)  # fmt: skip
def not_the_local_route(case: Case) -> str | None:
    """A route for a whole range of the VPC exists already: the local one. A part of one does not go to a gateway."""
    wanted = case.new.get("destinationCidrBlock")
    tables = case.seen("ec2", "describe_route_tables", RouteTableIds=[case.new["routeTableId"]]).get("RouteTables", [])
    local = [route for table in tables for route in table["Routes"] if route.get("GatewayId") == "local"]
    if wanted and any(route.get("DestinationCidrBlock") == wanted for route in local):
        return f"The destination CIDR block {wanted} is equal to one of this VPC's CIDR blocks: its route is local"
    ranges = [ipaddress.IPv4Network(cidr) for route in local if (cidr := route.get("DestinationCidrBlock"))]
    inside = wanted and any(ipaddress.IPv4Network(wanted).subnet_of(one) for one in ranges)
    if inside and str(case.new.get("gatewayId") or "local") != "local":
        return f"The route {wanted} is more specific than the local one, and can't lead to {case.new['gatewayId']}"
    return None


@rule("aws:ec2/route:Route", "InvalidGatewayID.NotFound", "gatewayId",
      "EC2 API Reference, error codes, read 2026-11", Moment.CREATE, Moment.UPDATE)  # fmt: skip
def gateway_exists(case: Case) -> str | None:
    """The internet gateway of a route exists; virtual private gateways are not looked up."""
    wanted = str(case.new.get("gatewayId") or "")
    if not wanted or wanted == "local" or wanted.startswith("vgw-"):
        return None
    found = case.seen("ec2", "describe_internet_gateways", InternetGatewayIds=[wanted])
    return None if found else f"The gateway ID '{wanted}' does not exist"


@rule("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", "InvalidVpc.Range", "vpcId cidrBlock",
      "EC2 API Reference, AssociateVpcCidrBlock, read 2026-11", Moment.CREATE)  # fmt: skip
def ranges_apart(case: Case) -> str | None:
    """The ranges of a VPC don't overlap."""
    text = case.new.get("cidrBlock")
    vpcs = case.aws.call("ec2", "describe_vpcs", VpcIds=[case.new["vpcId"]])["Vpcs"] if text else []
    for one in (block for vpc in vpcs for block in vpc["CidrBlockAssociationSet"]):
        if ipaddress.ip_network(one["CidrBlock"]).overlaps(ipaddress.ip_network(str(text))):
            return f"The CIDR '{text}' conflicts with another range of the VPC: {one['CidrBlock']}"
    first = [ipaddress.IPv4Network(vpc["CidrBlock"]) for vpc in vpcs]
    apart = [one for one in _APART if one.overlaps(ipaddress.IPv4Network(str(text)))] if text else []
    if apart and not any(primary.subnet_of(apart[0]) for primary in first):
        return f"The CIDR '{text}' is restricted: a VPC of {first[0]} may have none of {apart[0]}"
    return None


_APART = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.19.0.0/16")))
"""A VPC has further ranges of one of these only if its first is of the same (VPC User Guide, vpc-cidr-blocks.html,
"IPv4 CIDR block association restrictions")."""


@rule("aws:eks/addon:Addon", "InvalidParameterException", "addonName addonVersion clusterName",
      "EKS User Guide, managing-kube-proxy.html, read 2026-11: not newer than the control plane, nor more than three "
      "minor versions older", Moment.CREATE, Moment.UPDATE)  # fmt: skip
def proxy_of_the_cluster(case: Case) -> str | None:
    """Kube-proxy is of a version that runs with the cluster's."""
    version = str(case.new.get("addonVersion") or "").removeprefix("v")
    found = case.seen("eks", "describe_cluster", name=case.new["clusterName"]).get("cluster")
    if case.new["addonName"] != "kube-proxy" or not version or found is None:
        return None
    skew = kubernetes.skew(".".join(version.split(".")[:2]), str(found["version"]))
    if skew is None or skew in _PROXY_SKEW:
        return None
    return f"Addon version specified is not supported: v{version} with Kubernetes {found['version']}"


_PROXY_SKEW = range(4)


@rule("aws:iam/role:Role", "NoSuchEntity", "permissionsBoundary", "IAM API Reference, CreateRole, read 2026-11",
      Moment.CREATE, Moment.UPDATE)  # fmt: skip
def boundary_exists(case: Case) -> str | None:
    """The boundary of a role is a policy of the account; those of AWS are not looked up."""
    arn = str(value(case.new, "permissionsBoundary") or "")
    if f"::{case.aws.account}:policy/" not in arn:
        return None
    found = case.seen("iam", "get_policy", PolicyArn=arn)
    return None if found else f"Scope ARN: {arn} does not exist or is not attachable."
