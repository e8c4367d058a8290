"""Finds what a killed run has made in AWS, by the inputs that it had sent.

Where AWS takes the name from the inputs, the id follows from them. Otherwise the service is asked for objects with the
same properties and tags. Ids are those of Pulumi's AWS provider (pulumi_aws, section "Import" of each type; for routes
terraform-provider-aws, internal/service/ec2/vpc_route.go, `routeCreateID`).
"""

import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jmespath  # type: ignore[import-untyped]

from slipway.account.context import Client
from spec import strict_yaml

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Search:
    """How objects of a type are listed and recognised."""

    service: str  # boto3's name of the service
    operation: str  # operation that lists them
    items: str  # JMESPath of the objects in the answer
    id: str  # JMESPath of the id in an object
    same: Mapping[str, str] = field(default_factory=dict)
    """JMESPath in an object by the input that must have the same value."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Arguments of the operation: the input by the argument's name."""
    constant: Mapping[str, Any] = field(default_factory=dict)
    """Values that an object has by JMESPath, whatever the inputs."""
    tags: str = "Tags"  # JMESPath of the object's tags; empty if it has none


_ROWS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__)
REPEATABLE: Final = frozenset(_ROWS["repeatable"])  # types whose creation only sets something on another object
NAMED: Final[Mapping[str, str]] = _ROWS["named"]  # ids that follow from the inputs
SEARCHED: Final = {type: Search(**row) for type, row in _ROWS["searched"].items()}  # types whose ids AWS assigns


def candidates(client: Client, type: str, inputs: Inputs) -> Iterator[str]:
    """Ids of objects that such a creation may have made; those of other objects are not excluded yet.

    Raises:
        KeyError: The type is not known here.
        ClientError, BotoCoreError: AWS does not answer.
    """
    special = _SPECIAL.get(type)
    if special is not None:
        yield from special(client, inputs)
    elif type in NAMED:
        yield NAMED[type].format(**inputs)
    else:
        search = SEARCHED[type]
        arguments = {name: inputs[key] for name, key in search.arguments.items()}
        answer = _all(client(search.service), search.operation, arguments)
        for item in (item for page in answer for item in jmespath.search(search.items, page) or ()):
            if _matches(search, item, inputs):
                yield str(jmespath.search(search.id, item))


def known(type: str) -> bool:
    """Whether an object of this type can be looked for."""
    return type in NAMED or type in SEARCHED or type in _SPECIAL


def _matches(search: Search, item: Any, inputs: Inputs) -> bool:
    same = all(
        _text(jmespath.search(path, item)) == _text(jmespath.search(key, inputs)) for key, path in search.same.items()
    )
    constant = all(jmespath.search(path, item) == value for path, value in search.constant.items())
    return same and constant and (not search.tags or _has_tags(jmespath.search(search.tags, item), inputs))


def _has_tags(pairs: Any, inputs: Inputs) -> bool:
    live = {tag["Key"]: tag["Value"] for tag in pairs or ()}
    return all(live.get(key) == value for key, value in (inputs.get("tags") or {}).items())


def _text(value: Any) -> str:
    """Numbers of a state are floats, and ports of a rule for all protocols are -1 or absent."""
    if value is None or value == -1:
        return ""
    return str(int(value)) if isinstance(value, float) else str(value)


def _all(client: Any, operation: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
    if client.can_paginate(operation):
        yield from client.get_paginator(operation).paginate(**arguments)
    else:
        yield getattr(client, operation)(**arguments)


def _route(client: Client, inputs: Inputs) -> Iterator[str]:
    table, key = inputs["routeTableId"], next(key for key in _DESTINATIONS if inputs.get(key))
    filters = [{"Name": "route-table-id", "Values": [table]}]
    for page in _all(client("ec2"), "describe_route_tables", {"Filters": filters}):
        for route in (route for each in page["RouteTables"] for route in each["Routes"]):
            if route.get(_DESTINATIONS[key]) == inputs[key]:
                yield f"r-{table}{binascii.crc32(str(inputs[key]).encode())}"


_DESTINATIONS: Final = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}


def _key(client: Client, inputs: Inputs) -> Iterator[str]:
    kms = client("kms")
    for page in _all(kms, "list_keys", {}):
        for entry in page["Keys"]:
            described = kms.describe_key(KeyId=entry["KeyId"])["KeyMetadata"]
            if described["KeyState"] != "Enabled" or described.get("Description", "") != inputs.get("description", ""):
                continue
            pairs = kms.list_resource_tags(KeyId=entry["KeyId"])["Tags"]
            if _has_tags([{"Key": tag["TagKey"], "Value": tag["TagValue"]} for tag in pairs], inputs):
                yield entry["KeyId"]


def _queue(client: Client, inputs: Inputs) -> Iterator[str]:
    for page in _all(client("sqs"), "list_queues", {"QueueNamePrefix": inputs["name"]}):
        yield from (url for url in page.get("QueueUrls", ()) if url.rpartition("/")[2] == inputs["name"])


def _topic(client: Client, inputs: Inputs) -> Iterator[str]:
    for page in _all(client("sns"), "list_topics", {}):
        yield from (each["TopicArn"] for each in page["Topics"] if each["TopicArn"].endswith(f":{inputs['name']}"))


def _target(client: Client, inputs: Inputs) -> Iterator[str]:
    """A target gets an id of its own if the program gives none, so that one more would be added to the rule."""
    for page in _all(client("events"), "list_targets_by_rule", {"Rule": inputs["rule"]}):
        for target in page["Targets"]:
            if target["Arn"] == inputs["arn"] and inputs.get("targetId") in (None, target["Id"]):
                yield f"{inputs['rule']}-{target['Id']}"


def _issuer(client: Client, inputs: Inputs) -> Iterator[str]:
    host = str(inputs["url"]).removeprefix("https://")
    for entry in client("iam").list_open_id_connect_providers()["OpenIDConnectProviderList"]:
        if entry["Arn"].partition("oidc-provider/")[2] == host:
            yield entry["Arn"]


_SPECIAL: Final[Mapping[str, Callable[[Client, Inputs], Iterator[str]]]] = {
    "aws:cloudwatch/eventTarget:EventTarget": _target,
    "aws:ec2/route:Route": _route,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _issuer,
    "aws:kms/key:Key": _key,
    "aws:sns/topic:Topic": _topic,
    "aws:sqs/queue:Queue": _queue,
}
