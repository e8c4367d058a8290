"""Rows of `requests-*.yaml`, what AWS refuses of a request by its parameters, and the rule that all network objects of
a request are in one VPC.

    on      operations, as SERVICE.OPERATION of boto3; a type of pulumi-aws stands for its inputs
    from    where AWS says so: compared with excerpts of these pages, or with the API Reference's text in botocore's
            model (2026-11-29), but for rows that were among the provider's checks before (ADR 0129)
    code    the service's; without one, that of limits/codes.yaml
    with    facts: SERVICE.OPERATION(PARAMETER=EXPRESSION; ...) EXPRESSION of the answer
    fixed   the facts can't change between preview and `up`
    refuse  condition: words, in which {EXPRESSION} is filled in

A row's condition is a JMESPath expression over the parameters, and over facts, which are answers of read operations. A
comparison with what is not there is null, so that a row says nothing of what it does not know. Rows without facts, and
those whose facts never change (`fixed`), are also asked at preview; a row that reads an unknown value is not. A row on
a type is about the inputs: of what the provider sends after its first request, nothing else is asked at preview.
"""

from __future__ import annotations

import functools
import ipaddress
import json
import re
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jmespath  # type: ignore[import-untyped]
import yaml
from jmespath import exceptions, functions

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.limits.values import CODES
from sandbox.aws.rules.policies import listed
from sandbox.rpc.wire import UNKNOWN
from spec import strict_yaml

Parameters = Mapping[str, Any]
Problem = tuple[str, str]
"""The code and the words of a refusal."""
READS: Final = ("describe_", "list_", "get_", "head_")
_GROUPS: Final[list[Mapping[str, Any]]] = [
    group
    for file in sorted(Path(__file__).parent.glob("requests-*.yaml"))
    for group in strict_yaml.read(file.read_text(encoding="utf-8"))
]


class _Functions(functions.Functions):  # type: ignore[misc]
    """What JMESPath lacks. Of a value of another kind each is null."""

    @functions.signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_json(self, text: Any) -> Any:
        try:
            return json.loads(text) if isinstance(text, str) else text
        except ValueError:
            return None

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_times(self, left: Any, right: Any) -> Any:
        return left * right if isinstance(left, (int, float)) and isinstance(right, (int, float)) else None

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_rest(self, left: Any, right: Any) -> Any:
        """What remains of a division."""
        return left % right if isinstance(left, int) and isinstance(right, int) and right else None

    @functions.signature({"types": []}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_like(self, text: Any, pattern: str) -> Any:
        return re.fullmatch(pattern, text) is not None if isinstance(text, str) else None

    @functions.signature({"types": []}, {"types": ["string"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_replace(self, text: Any, pattern: str, by: str) -> Any:
        return re.sub(pattern, by, text) if isinstance(text, str) else None

    @functions.signature({"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_lower(self, text: str) -> str:
        return text.lower()

    @functions.signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_number(self, text: Any) -> Any:
        """The first number in a text, such as the major version."""
        found = re.search(r"\d+", str(text))
        return int(found[0]) if found else None

    @functions.signature({"types": []}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_malformed(self, policy: Any, kind: str) -> Any:
        """What IAM finds wrong with a policy, of an `identity` or of `trust`."""
        from moto.iam import policy_validation  # noqa: PLC0415 - moto reads the environment at import
        from moto.iam.exceptions import MalformedPolicyDocument  # noqa: PLC0415

        validators = policy_validation.IAMPolicyDocumentValidator, policy_validation.IAMTrustPolicyDocumentValidator
        try:
            validators[kind == "trust"](str(policy)).validate()
        except MalformedPolicyDocument as error:
            return error.message
        return None

    @functions.signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_object(self, text: Any) -> Any:
        """Whether a text is an object in JSON or YAML."""
        try:
            return isinstance(strict_yaml.one(str(text)), Mapping)
        except yaml.YAMLError:
            return False

    @functions.signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_zone(self, text: Any) -> Any:
        """Whether a text names a time zone of IANA."""
        return text in zoneinfo.available_timezones()

    @functions.signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_twice(self, items: Any) -> Any:
        """The first item that a list has twice."""
        given = items if isinstance(items, list) else []
        return next((one for at, one in enumerate(given) if one in given[:at]), None)

    @functions.signature({"types": []}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_matches(self, text: Any, pattern: str) -> Any:
        """What a pattern finds in a text."""
        return re.findall(pattern, text) if isinstance(text, str) else None

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_lacks(self, items: Any, known: Any) -> Any:
        """The first item that is none of those known."""
        return next((one for one in listed(items) if one not in known), None) if isinstance(known, list) else None

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_inside(self, text: Any, ranges: Any) -> Any:
        """The range that a range, or one of several, lies in; an empty text if in none."""
        return _first(text, ranges, lambda own, other: own.version == other.version and own.subnet_of(other))

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_outside(self, items: Any, ranges: Any) -> Any:
        """The first of several addresses or ranges that lies in none of the ranges."""
        return next((one for one in listed(items) if one and self._func_inside(one, ranges) == ""), None)

    @functions.signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_overlaps(self, text: Any, ranges: Any) -> Any:
        """The range that a range, or one of several, overlaps with; an empty text if with none."""
        return _first(text, ranges, lambda own, other: own.overlaps(other))


def _first(text: Any, ranges: Any, holds: Callable[[Any, Any], bool]) -> str | None:
    try:
        own = [ipaddress.ip_network(str(one), strict=False) for one in listed(text)]
    except ValueError:
        return None
    others = ((one, ipaddress.ip_network(one)) for one in ranges or ())
    return next((one for one, other in others if any(holds(each, other) for each in own)), "")


_OPTIONS: Final = jmespath.Options(custom_functions=_Functions())


@functools.cache
def _compiled(expression: str) -> Any:
    return jmespath.compile(expression)


def search(expression: str, value: Any) -> Any:
    """The value of an expression; None if it has none."""
    try:
        return _compiled(expression).search(value, _OPTIONS)
    except exceptions.JMESPathError:
        return None


_FACT: Final = re.compile(r"(?P<service>\w+)\.(?P<operation>\w+)\((?P<given>.*?)\) (?P<item>.+)")


def fact(aws: Aws, text: str, names: Parameters) -> Any:
    """The part of an answer that `SERVICE.OPERATION(PARAMETER=EXPRESSION; ...) EXPRESSION` names; None if it has none,
    or if a parameter has no value."""
    match = _FACT.fullmatch(text)
    if match is None:
        msg = f"{text!r} is no fact"
        raise ValueError(msg)
    pairs = [one.partition("=")[::2] for one in match["given"].split("; ") if one]
    given = {name: search(expression, names) for name, expression in pairs}
    if any(value in (None, "", [], [None]) for value in given.values()):
        return None
    try:
        return search(match["item"], aws.call(match["service"], match["operation"], **given))
    except AwsError:
        # What is not there, and what this account can't say.
        return None


@dataclass(frozen=True)
class Row:
    """One rule: `refuse` holds of what AWS refuses, with this code and these words; `source` says where it says so."""

    refuse: str
    code: str
    words: str
    source: str
    facts: Mapping[str, str] = field(default_factory=dict)
    fixed: bool = False

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        """The names that it reads, at any depth."""
        return frozenset(_fields([_compiled(self.refuse).parsed])) | frozenset(
            name for text in self.facts.values() for name in re.findall(r"\w+", text)
        )


def _fields(nodes: list[Any]) -> Iterator[str]:
    for node in nodes:
        if node["type"] == "field":
            yield node["value"]
        yield from _fields([one for one in node["children"] if isinstance(one, dict)])


@functools.cache
def rows() -> Mapping[tuple[str, str], tuple[Row, ...]]:
    """The rows by service and operation."""
    found: dict[tuple[str, str], list[Row]] = {}
    for group in _GROUPS:
        for name in group["on"]:
            # A type has a colon.
            service, _, operation = (name, "", "") if ":" in name else name.partition(".")
            known = found.setdefault((service, operation), [])
            for refuse, words in group["refuse"].items():
                code = group.get("code") or CODES.get(service, "")
                known.append(Row(refuse, code, words, group["from"], group.get("with", {}), group.get("fixed", False)))
    return {key: tuple(each) for key, each in found.items()}


def judges(service: str, operation: str) -> bool:
    """Whether a request of this kind may be refused here."""
    return (service, operation) in rows() or _is_placed(service, operation)


def problems(
    aws: Aws, service: str, operation: str, parameters: Parameters, *, planned: bool = False
) -> Iterator[Problem]:
    """What is refused of a request; of a planned one, by what can't change until it is sent."""
    unknown = frozenset(_unknown(parameters, ""))
    place = {"account": aws.account, "region": aws.region}
    for row in rows().get((service, operation), ()):
        if unknown & row.fields or (planned and row.facts and not row.fixed):
            continue
        names: dict[str, Any] = {**parameters, "_place": place}
        for name, text in row.facts.items():
            names[name] = fact(aws, text, names)
        if search(row.refuse, names):
            yield row.code, "".join(_said(row.words, names))
    if _is_placed(service, operation):
        yield from _apart(aws, service, operation, parameters, planned=planned)


def _said(words: str, names: Parameters) -> Iterator[str]:
    """The words with the values of their expressions."""
    for index, part in enumerate(re.split(r"\{(.+?)\}", words)):
        yield str(search(part, names)) if index % 2 else part


def _unknown(value: Any, name: str) -> Iterator[str]:
    """The parameters whose value is not known yet, at any depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _unknown(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _unknown(item, name)
    elif isinstance(value, str) and UNKNOWN in value:
        yield name


# All network objects of a request are in one VPC.

_NETWORK: Final[Mapping[str, Any]] = strict_yaml.beside(__file__, "one-vpc")
_IDS: Final = re.compile(rf"(?:{'|'.join(_NETWORK['ids'])})-[0-9a-f]{{8,17}}")


def _is_placed(service: str, operation: str) -> bool:
    return (
        service in _NETWORK["services"]
        and operation.startswith(tuple(_NETWORK["verbs"]))
        and not operation.startswith(tuple(_NETWORK["other"]))
    )


def _apart(aws: Aws, service: str, operation: str, parameters: Parameters, *, planned: bool) -> Iterator[Problem]:
    places: dict[str, frozenset[str]] = {}
    for name, text in _NETWORK["named"].items():
        of, _, parameter = name.partition(".")
        # Where a file system is can change until then.
        if of != service or (planned and service == "efs"):
            continue
        if isinstance(parameters.get(parameter), str) and (found := fact(aws, text, parameters)):
            places[str(parameters[parameter])] = frozenset([found] if isinstance(found, str) else found)
    for id in dict.fromkeys(_ids(parameters)):
        kind = id.partition("-")[0]
        if planned and kind in _NETWORK["moving"]:
            continue
        found = {id} if kind == "vpc" else fact(aws, _NETWORK["ids"][kind], {"id": id})
        # A route leads to a gateway that is in the VPC, not to one in none.
        if found or (found == [] and kind in _NETWORK["moving"] and "route" in operation):
            places[id] = frozenset(found)
    first, *others = places.items() or [("", frozenset())]
    for id, vpcs in others:
        if not first[1] & vpcs and not _joined(aws, operation, first[1] | vpcs):
            code, words = _NETWORK["words"].get(f"{service}.{operation}") or _NETWORK["words"].get(service) or (
                CODES.get(service, "ValidationException"), "{a} and {b} belong to different networks",
            )  # fmt: skip
            yield code, words.format(a=first[0], b=id, vpc=", ".join(first[1]), other=", ".join(vpcs))
            return


def _ids(value: Any) -> Iterator[str]:
    """The IDs in a value: Auto Scaling lists subnets in one text."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if "Tag" not in key:
                yield from _ids(item)
    elif isinstance(value, list):
        for item in value:
            yield from _ids(item)
    elif isinstance(value, str):
        parts = value.replace(" ", "").split(",")
        if all(_IDS.fullmatch(part) for part in parts):
            yield from parts


def _joined(aws: Aws, operation: str, vpcs: frozenset[str]) -> bool:
    """Whether rules of a security group may name one of the other VPC: by peering or a transit gateway."""
    if "security_group" not in operation:
        return False
    connections = fact(aws, "ec2.describe_vpc_peering_connections() VpcPeeringConnections", {}) or []
    ends = [{one["AccepterVpcInfo"].get("VpcId"), one["RequesterVpcInfo"].get("VpcId")} for one in connections]
    gateways = fact(aws, "ec2.describe_transit_gateway_vpc_attachments() TransitGatewayVpcAttachments[].VpcId", {})
    return any(vpcs <= one for one in ends) or vpcs <= {*(gateways or ())}
