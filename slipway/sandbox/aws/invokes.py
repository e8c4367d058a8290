"""The data sources that the sandbox supports; a call of any other is an error that names it."""

# All functions take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from slipway.sandbox.aws import network_look_ups
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.policy_document import render
from slipway.sandbox.aws.shapes import normal
from slipway.sandbox.rpc.errors import ProviderError

Args: TypeAlias = dict[str, Any]


def invoke(aws: Aws, token: str, args: Args) -> Args:
    """The answer, with the arguments repeated as in the AWS provider. Raises ProviderError for an unknown function."""
    function = FUNCTIONS.get(token)
    if function is None:
        supported = ", ".join(sorted(name.split(":")[-1] for name in FUNCTIONS))
        msg = f"the sandbox does not support the function {token}; it supports {supported}"
        raise ProviderError(msg)
    return {**args, **function(aws, args)}


def _filters(args: Args) -> list[dict[str, Any]]:
    return [{"Name": item["name"], "Values": item["values"]} for item in args.get("filters") or []]


def _availability_zones(aws: Aws, args: Args) -> Args:
    filters = _filters(args)
    if args.get("state"):
        filters.append({"Name": "state", "Values": [args["state"]]})
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
    request = {"Owners": args.get("owners"), "ExecutableUsers": args.get("executableUsers"), "Filters": _filters(args)}
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
        **network_look_ups.FUNCTIONS,
    }
)
