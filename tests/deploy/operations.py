"""The AWS operations that creating, reading, updating and deleting a type takes, and the IAM actions that allow them.

The types are those that the program constructs anywhere, whichever setting asks for them. Their operations come from
the sandbox's table of those that take inputs. An operation brings its counterparts and its reads, if the service has
them: what creates `X`, also deletes, modifies and describes it. What a type asks of other services is in
CloudFormation's handlers.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final

import botocore.session
import pulumi_aws
from botocore import xform_name
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.schema import schema
from tests.support.cases import beside

DATA: Final = beside(__file__)
ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("components", "infra", "package", "examples")

_COUNTERPARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "allocate": ("release",), "associate": ("disassociate",), "attach": ("detach",), "authorize": ("revoke",),
        "create": ("delete", "modify", "update"), "put": ("delete",), "subscribe": ("unsubscribe",),
    }
)  # fmt: skip
FURTHER: Final[Mapping[str, str]] = MappingProxyType(DATA["further"])
NOT_SENT: Final[Mapping[str, tuple[tuple[str, str], ...]]] = MappingProxyType(DATA["not sent"])
"""Operations of a type that only an input causes which no component sets; a test searches the components for it."""
_PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "efs": "elasticfilesystem", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing",
        "service-quotas": "servicequotas",
    }
)  # fmt: skip
_NAMES: Final[Mapping[str, str]] = MappingProxyType(DATA["other names of actions"])
"""Operations whose action has another name."""


@cache
def constructed() -> Mapping[str, frozenset[str]]:
    """Every type of AWS that the program constructs, with the inputs that it passes, as Python names them."""
    found: dict[str, frozenset[str]] = {}
    texts = (one.read_text(encoding="utf-8") for folder in FOLDERS for one in (ROOT / folder).rglob("*.py"))
    for call in (node for text in texts if "aws." in text for node in ast.walk(ast.parse(text))):
        if isinstance(call, ast.Call) and (name := ast.unparse(call.func)).startswith("aws."):
            token = getattr(attrgetter(name.removeprefix("aws."))(pulumi_aws), "pulumi_type", "")
            if token.startswith("aws:"):
                found[token] = found.get(token, frozenset()) | {str(keyword.arg) for keyword in call.keywords}
    return MappingProxyType(found)


@cache
def asked(type_token: str) -> frozenset[str]:
    """What CloudFormation's handlers of a type ask for, by the schemas that cfn-lint ships: of the type of that name,
    else of those of which one name ends like the other."""
    every = (one.split("::") for one in PROVIDER_SCHEMA_MANAGER.get_resource_types("us-east-1"))
    known = {one[2].lower(): one for one in every if one[1].lower() == OPERATIONS[type_token].service}
    name = type_token.rpartition(":")[2].lower()
    alike = [name] if name in known else [one for one in known if name.endswith(one) or one.endswith(name)]
    schemas = (PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", "::".join(known[one])) for one in alike)
    handlers = (handler for one in schemas for handler in one.schema.get("handlers", {}).values())
    return frozenset(permission for handler in handlers for permission in handler.get("permissions", ()))


@cache
def known_operations(service: str) -> Mapping[str, str]:
    """Operations of a service, in the spelling of boto3, with their names in the API."""
    names = botocore.session.get_session().get_service_model(service).operation_names
    return {xform_name(name): name for name in names}


def operations(type_token: str) -> set[str]:
    """The operations that a type needs, as boto3 names them."""
    table = OPERATIONS[type_token]
    found = {*table.operations, *FURTHER.get(type_token, "").split()}
    found |= {other for one in table.operations for other in _counterparts(table.service, one)}
    fields, known = schema(type_token), known_operations(table.service)
    if fields is not None and "tags" in fields.inputs:
        noun = table.operations[0].partition("_")[2]
        verbs = ("tag_resource", "untag_resource") if "tag_resource" in known else (
            "add_tags_to_resource", "create_tags", "delete_tags", "remove_tags_from_resource", f"tag_{noun}",
            f"untag_{noun}",
        )  # fmt: skip
        found |= {one for one in (*verbs, "list_tags_for_resource") if one in known}
    return found - {one for one, _ in NOT_SENT.get(type_token, ())}


def actions(type_token: str) -> set[str]:
    """The IAM actions that a type needs."""
    service = OPERATIONS[type_token].service
    return {action(service, one) for one in operations(type_token)}


def action(service: str, operation: str) -> str:
    """The IAM action that allows an operation."""
    name = f"{_PREFIXES.get(service, service)}:{known_operations(service)[operation]}"
    return f"{name.partition(':')[0]}:{_NAMES[name]}" if name in _NAMES else name


def _counterparts(service: str, operation: str) -> Iterator[str]:
    verb, _, noun = operation.partition("_")
    names = {f"{other}_{noun}".rstrip("_") for other in _COUNTERPARTS.get(verb, ())}
    yield from names & known_operations(service).keys()
    reads = [f"{read}_{name}" for name in (noun, f"{noun}s", f"{noun[:-1]}ies") for read in ("describe", "get")]
    yield from [one for one in reads if one in known_operations(service)][:1]
