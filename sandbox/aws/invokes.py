"""The data sources that the sandbox supports; a call of any other is an error that names it."""

# ruff: noqa: ARG001

from __future__ import annotations

# All functions take the same arguments, used or not.
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sandbox.aws import access, lookups, records
from sandbox.aws.client import Aws
from sandbox.aws.lookups import LOOKUPS, named_filters, only
from sandbox.aws.schema import Schema, schema
from sandbox.aws.shapes import capital, normal
from sandbox.aws.types import MAPPINGS
from sandbox.rpc.errors import ProviderError

# Data sources of an existing network, answered by moto as the AWS provider does.
#
# Which arguments select, what is an error, and which routes are left out: hashicorp/terraform-provider-aws,
# internal/service/ec2, `vpc_data_source.go`, `vpc_subnet_data_source.go`, `vpc_subnets_data_source.go`,
# `vpc_route_tables_data_source.go`, `vpc_route_table_data_source.go`, `vpc_endpoint_data_source.go`.

Args: TypeAlias = dict[str, Any]
HINT: Final = (
    f"to rehearse a VPC that exists, let `slipway sandbox network STACK` make it; without a stack file, {lookups.HINT}"
)


def _vpc(aws: Aws, args: Args) -> Args:
    named = {"cidr": "cidrBlock", "state": "state", "isDefault": "default"}
    vpc = only(aws, "describe_vpcs", "Vpcs", "VPC", named_filters(args, named | {"vpc-id": "id"}), HINT)
    id = vpc["VpcId"]

    def attribute(name: str) -> bool:
        answer = aws.call("ec2", "describe_vpc_attribute", VpcId=id, Attribute=name)
        return bool(answer[capital(name)]["Value"])

    return {
        "id": id,
        "arn": f"arn:{aws.partition}:ec2:{aws.region}:{vpc['OwnerId']}:vpc/{id}",
        **_members(vpc, "cidrBlock", "dhcpOptionsId", "instanceTenancy", "ownerId", "state"),
        "cidrBlockAssociations": [
            {**_members(one, "associationId", "cidrBlock"), "state": one["CidrBlockState"]["State"]}
            for one in vpc["CidrBlockAssociationSet"]
        ],
        "default": vpc["IsDefault"],
        "enableDnsSupport": attribute("enableDnsSupport"),
        "enableDnsHostnames": attribute("enableDnsHostnames"),
        "mainRouteTableId": _main_table(aws, id),
        "tags": _tags(vpc),
    }


def _subnet(aws: Aws, args: Args) -> Args:
    named = {
        "availabilityZone": "availabilityZone", "availability-zone-id": "availabilityZoneId",
        "cidrBlock": "cidrBlock", "defaultForAz": "defaultForAz", "state": "state", "vpc-id": "vpcId",
        "subnet-id": "id",
    }  # fmt: skip
    subnet = only(aws, "describe_subnets", "Subnets", "Subnet", named_filters(args, named), HINT)
    return {
        **_members(
            subnet, "availabilityZone", "availabilityZoneId", "availableIpAddressCount", "cidrBlock", "defaultForAz",
            "mapPublicIpOnLaunch", "ownerId", "state", "vpcId",
        ),
        "id": subnet["SubnetId"],
        "arn": subnet["SubnetArn"],
        "tags": _tags(subnet),
    }  # fmt: skip


def _subnets(aws: Aws, args: Args) -> Args:
    found = aws.call("ec2", "describe_subnets", Filters=named_filters(args, {}))["Subnets"]
    return {"id": aws.region, "ids": [one["SubnetId"] for one in found], "tags": args.get("tags") or {}}


def _route_tables(aws: Aws, args: Args) -> Args:
    filters = named_filters(args, {"vpc-id": "vpcId"})
    found = aws.call("ec2", "describe_route_tables", Filters=filters)["RouteTables"]
    return {"id": aws.region, "ids": [one["RouteTableId"] for one in found], "tags": args.get("tags") or {}}


_TARGETS: Final = (
    "carrierGatewayId", "gatewayId", "instanceId", "localGatewayId", "natGatewayId", "networkInterfaceId",
    "transitGatewayId", "vpcPeeringConnectionId",
)  # fmt: skip


def _route_table(aws: Aws, args: Args) -> Args:
    named = {
        "route-table-id": "routeTableId", "vpc-id": "vpcId", "association.subnet-id": "subnetId",
        "association.gateway-id": "gatewayId",
    }  # fmt: skip
    found = aws.call("ec2", "describe_route_tables", Filters=named_filters(args, named))["RouteTables"]
    if len(found) != 1:
        what = "query returned no results" if not found else "multiple Route Tables matched"
        msg = f"{what}; please change your search criteria and try again"
        raise ProviderError(msg)
    table = found[0]
    return {
        **_members(table, "routeTableId", "ownerId", "vpcId"),
        "id": table["RouteTableId"],
        "routes": [_route(route) for route in table["Routes"] if _shown(route)],
        "associations": [
            {
                **_members(one, "main", "routeTableAssociationId", "routeTableId"),
                "subnetId": one.get("SubnetId", ""),
            }
            for one in table["Associations"]
        ],
        "tags": _tags(table),
    }


def _shown(route: Mapping[str, Any]) -> bool:
    """Local routes, propagated ones, and those of gateway endpoints are left out."""
    gateway = str(route.get("GatewayId") or "")
    of_endpoint = bool(route.get("DestinationPrefixListId")) and gateway.startswith("vpce-")
    return gateway != "local" and route.get("Origin") != "EnableVgwRoutePropagation" and not of_endpoint


def _route(route: Mapping[str, Any]) -> Args:
    targets = {name: str(route.get(capital(name)) or "") for name in _TARGETS}
    return {
        "cidrBlock": route.get("DestinationCidrBlock", ""),
        "ipv6CidrBlock": route.get("DestinationIpv6CidrBlock", ""),
        "destinationPrefixListId": route.get("DestinationPrefixListId", ""),
        **targets,
    }


def _endpoint(aws: Aws, args: Args) -> Args:
    named = {
        "service-name": "serviceName", "vpc-endpoint-state": "state", "vpc-id": "vpcId", "vpc-endpoint-id": "id",
        "vpc-endpoint-type": "vpcEndpointType",
    }  # fmt: skip
    endpoint = only(aws, "describe_vpc_endpoints", "VpcEndpoints", "VPC Endpoint", named_filters(args, named), HINT)
    return {
        **_members(endpoint, "serviceName", "state", "vpcEndpointType", "vpcId"),
        "id": endpoint["VpcEndpointId"],
        "privateDnsEnabled": bool(endpoint.get("PrivateDnsEnabled")),
        "routeTableIds": endpoint.get("RouteTableIds", []),
        "securityGroupIds": [one["GroupId"] for one in endpoint.get("Groups", [])],
        "subnetIds": endpoint.get("SubnetIds", []),
        "tags": _tags(endpoint),
    }


def _main_table(aws: Aws, vpc: str) -> str:
    filters = named_filters({"vpc": vpc, "main": True}, {"vpc-id": "vpc", "association.main": "main"})
    return str(aws.call("ec2", "describe_route_tables", Filters=filters)["RouteTables"][0]["RouteTableId"])


def _members(described: Mapping[str, Any], *names: str) -> Args:
    """Members that the AWS provider names as EC2 does, but for the first letter."""
    return {name: described[capital(name)] for name in names}


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in described.get("Tags") or ()}


NETWORK_FUNCTIONS: Mapping[str, Callable[[Aws, Args], Args]] = MappingProxyType(
    {
        "aws:ec2/getVpc:getVpc": _vpc,
        "aws:ec2/getSubnet:getSubnet": _subnet,
        "aws:ec2/getSubnets:getSubnets": _subnets,
        "aws:ec2/getRouteTables:getRouteTables": _route_tables,
        "aws:ec2/getRouteTable:getRouteTable": _route_table,
        "aws:ec2/getVpcEndpoint:getVpcEndpoint": _endpoint,
    }
)


# Rendering IAM policy documents like the data source `aws_iam_policy_document`.

DEFAULT_VERSION = "2012-10-17"
_LISTS = {"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"}
_PRINCIPALS = {"principals": "Principal", "notPrincipals": "NotPrincipal"}


def render(args: Mapping[str, Any]) -> str:
    """The policy document: source documents, then the statements, then overrides; equal Sids replace earlier ones."""
    sources = [*(args.get("sourcePolicyDocuments") or []), *_as_list(args.get("sourceJson"))]
    overrides = [*(args.get("overridePolicyDocuments") or []), *_as_list(args.get("overrideJson"))]
    statements: list[dict[str, Any]] = []
    for text in sources:
        statements = _merged(statements, _statements(text))
    statements = _merged(statements, [statement(item) for item in args.get("statements") or []])
    for text in overrides:
        statements = _merged(statements, _statements(text))
    identity = {"Id": args["policyId"]} if args.get("policyId") else {}
    document = {"Version": args.get("version") or DEFAULT_VERSION, **identity, "Statement": statements}
    return json.dumps(document, indent=2)


def statement(item: Mapping[str, Any]) -> dict[str, Any]:
    """One statement; a list of one item becomes the item, as IAM writes it."""
    rendered: dict[str, Any] = {"Sid": item["sid"]} if item.get("sid") else {}
    rendered["Effect"] = item.get("effect") or "Allow"
    for name, key in _LISTS.items():
        if item.get(name):
            rendered[key] = _single([_variables(text) for text in item[name]])
    for name, key in _PRINCIPALS.items():
        if item.get(name):
            rendered[key] = _principal(item[name])
    conditions: dict[str, Any] = {}
    for condition in item.get("conditions") or []:
        values = _single([_variables(text) for text in condition["values"]])
        conditions.setdefault(condition["test"], {})[condition["variable"]] = values
    return {**rendered, **({"Condition": conditions} if conditions else {})}


def _principal(items: list[Mapping[str, Any]]) -> Any:
    by_type: dict[str, list[str]] = {}
    for item in items:
        by_type.setdefault(item["type"], []).extend(item["identifiers"])
    return "*" if by_type == {"*": ["*"]} else {key: _single(values) for key, values in by_type.items()}


def _variables(text: Any) -> str:
    """`&{aws:username}` means IAM's `${aws:username}`, which Terraform's language would evaluate itself."""
    return str(text).replace("&{", "${")


def _single(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else values


def _as_list(text: Any) -> list[str]:
    return [str(text)] if text else []


def _statements(text: str) -> list[dict[str, Any]]:
    statements = json.loads(text).get("Statement", [])
    return [statements] if isinstance(statements, dict) else list(statements)


def _merged(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Both lists; a later statement replaces an earlier one with the same Sid."""
    result = list(first)
    places = {item["Sid"]: index for index, item in enumerate(result) if item.get("Sid")}
    for item in second:
        if item.get("Sid") in places:
            result[places[item["Sid"]]] = item
        else:
            result.append(item)
    return result


def recorded_type(token: str) -> Schema | None:
    """The schema of the type whose objects a data source names, if they are only recorded: `getZone` is of `zone`."""
    module, name = token.split("/", maxsplit=1)[0], token.rpartition(":")[2].removeprefix("get")
    type_token = f"{module}/{name[:1].lower()}{name[1:]}:{name}"
    return None if token in FUNCTIONS or type_token in MAPPINGS else schema(type_token)


def invoke(aws: Aws, token: str, args: Args) -> Args:
    """The answer, with the arguments repeated as in the AWS provider. Raises ProviderError for an unknown function."""
    function = FUNCTIONS.get(token)
    if function is None and (known := recorded_type(token)) is not None:
        id = records.name_of(known, args)
        return {"id": id, **records.found(aws, known, id), **args}
    if function is None:
        supported = ", ".join(sorted(name.split(":")[-1] for name in FUNCTIONS))
        msg = f"the sandbox does not support the function {token}; it supports {supported}"
        raise ProviderError(msg)
    return {**args, **function(aws, args)}


def _availability_zones(aws: Aws, args: Args) -> Args:
    filters = named_filters(args, {"state": "state"})
    described = aws.call("ec2", "describe_availability_zones", Filters=filters)["AvailabilityZones"]
    excluded = {*(args.get("excludeNames") or []), *(args.get("excludeZoneIds") or [])}
    zones = sorted(
        (zone for zone in described if not {zone["ZoneName"], zone["ZoneId"]} & excluded),
        key=lambda zone: zone["ZoneName"],
    )
    return {
        "id": aws.region,
        "region": aws.region,
        "names": [zone["ZoneName"] for zone in zones],
        "zoneIds": [zone["ZoneId"] for zone in zones],
        "groupNames": sorted({zone.get("GroupName", aws.region) for zone in zones}),
    }


def _caller_identity(aws: Aws, args: Args) -> Args:
    caller = aws.call("sts", "get_caller_identity")
    return {"id": caller["Account"], "accountId": caller["Account"], "arn": caller["Arn"], "userId": caller["UserId"]}


def _region(aws: Aws, args: Args) -> Args:
    return {
        "id": aws.region,
        "name": aws.region,
        "region": aws.region,
        "description": aws.region,
        "endpoint": f"ec2.{aws.region}.amazonaws.com",
    }


def _partition(aws: Aws, args: Args) -> Args:
    suffix = "amazonaws.com.cn" if aws.partition == "aws-cn" else "amazonaws.com"
    reverse = ".".join(reversed(suffix.split(".")))
    return {"id": aws.partition, "partition": aws.partition, "dnsSuffix": suffix, "reverseDnsPrefix": reverse}


def _policy_document(aws: Aws, args: Args) -> Args:
    document = render(args)
    compact = json.dumps(json.loads(document), separators=(",", ":"))
    identity = hashlib.sha256(compact.encode()).hexdigest()[:10]
    return {"id": identity, "json": document, "minifiedJson": compact, "version": json.loads(document)["Version"]}


def _parameter(aws: Aws, args: Args) -> Args:
    """Moto has many of the public parameters under /aws/service."""
    decrypt = args.get("withDecryption", True)
    parameter = aws.call("ssm", "get_parameter", Name=args["name"], WithDecryption=decrypt)["Parameter"]
    return {
        "id": args["name"],
        "arn": parameter["ARN"],
        "type": parameter["Type"],
        "value": parameter["Value"],
        "insecureValue": parameter["Value"] if parameter["Type"] != "SecureString" else "",
        "version": parameter["Version"],
        "region": aws.region,
    }


def _parameters_by_path(aws: Aws, args: Args) -> Args:
    request = {"Path": args["path"], "Recursive": bool(args.get("recursive"))}
    parameters, token = [], ""
    while True:
        page = aws.call("ssm", "get_parameters_by_path", **request, **({"NextToken": token} if token else {}))
        parameters += page["Parameters"]
        token = page.get("NextToken", "")
        if not token:
            break
    return {
        "id": args["path"],
        "names": [item["Name"] for item in parameters],
        "values": [item["Value"] for item in parameters],
        "types": [item["Type"] for item in parameters],
        "arns": [item["ARN"] for item in parameters],
    }


_AMI_TEXTS = (
    "architecture", "creationDate", "description", "hypervisor", "imageId", "imageLocation", "imageType", "name",
    "ownerId", "platformDetails", "rootDeviceName", "rootDeviceType", "state", "virtualizationType",
)  # fmt: skip


def _ami(aws: Aws, args: Args) -> Args:
    """The newest matching image; like the AWS provider, requires `mostRecent` if there are several."""
    filters = named_filters({"filters": args.get("filters")}, {})  # Tags select nothing.
    request = {"Owners": args.get("owners"), "ExecutableUsers": args.get("executableUsers"), "Filters": filters}
    images = aws.call("ec2", "describe_images", **{key: value for key, value in request.items() if value})["Images"]
    pattern = re.compile(args.get("nameRegex") or "")
    images = [image for image in images if pattern.search(image.get("Name", ""))]
    if not images:
        msg = "getAmi: Your query returned no results. Please change your search criteria and try again."
        raise ProviderError(msg)
    if len(images) > 1 and not args.get("mostRecent"):
        msg = (
            "getAmi: Your query returned more than one result. Please try a more specific search criteria, "
            "or set mostRecent"
        )
        raise ProviderError(msg)
    image = max(images, key=lambda image: str(image.get("CreationDate", "")))
    by_normal = {normal(key): value for key, value in image.items()}
    texts = {name: str(by_normal[normal(name)]) for name in _AMI_TEXTS if by_normal.get(normal(name))}
    arn = f"arn:{aws.partition}:ec2:{aws.region}::image/{image['ImageId']}"
    return {**texts, "id": image["ImageId"], "arn": arn, "region": aws.region}


FUNCTIONS: Mapping[str, Callable[[Aws, Args], Args]] = MappingProxyType(
    {
        "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
        "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
        "aws:index/getRegion:getRegion": _region,
        "aws:index/getPartition:getPartition": _partition,
        "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
        "aws:ssm/getParameter:getParameter": _parameter,
        "aws:ssm/getParametersByPath:getParametersByPath": _parameters_by_path,
        "aws:ec2/getAmi:getAmi": _ami,
        **access.FUNCTIONS,
        **NETWORK_FUNCTIONS,
        **LOOKUPS,
    }
)
