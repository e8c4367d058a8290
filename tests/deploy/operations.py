"""The AWS operations that creating, reading, updating and deleting a type takes, and the IAM actions that allow them.

The types are those that the program constructs anywhere, whichever setting asks for them. Their operations come from
the sandbox's tables of limits (operations that take inputs) and from its mappings (every operation by which moto keeps
the type). An operation brings its counterpart, if the service has one: what creates `X`, also deletes and modifies it.
So a type without a mapping has its deletion, too. What a type asks of other services is in CloudFormation's handlers.
"""

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, Final

import botocore.session
import pulumi_aws
from botocore import xform_name
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.types import MAPPINGS

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("components", "infra", "package", "examples")

_COUNTERPARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "allocate": ("release",), "associate": ("disassociate",), "attach": ("detach",), "authorize": ("revoke",),
        "create": ("delete", "modify", "update"), "put": ("delete",), "subscribe": ("unsubscribe",),
    }
)  # fmt: skip
_IRREGULAR: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {("autoscaling", "create_or_update_tags"): ("delete_tags",), ("s3", "put_object"): ("delete_object",)}
)
NOT_SENT: Final[Mapping[str, tuple[tuple[str, str], ...]]] = MappingProxyType(
    {
        "aws:ec2/routeTable:RouteTable": (("enable_vgw_route_propagation", "propagatingVgws"),),
        "aws:fsx/lustreFileSystem:LustreFileSystem": (("create_file_system_from_backup", "backupId"),),
        "aws:iam/role:Role": (
            ("put_role_permissions_boundary", "permissionsBoundary"),
            ("delete_role_permissions_boundary", "permissionsBoundary"),
        ),
        "aws:rds/instance:Instance": (
            ("create_db_instance_read_replica", "replicateSourceDb"),
            ("restore_db_instance_from_db_snapshot", "snapshotIdentifier"),
            ("restore_db_instance_from_s3", "s3Import"),
            ("restore_db_instance_to_point_in_time", "restoreToPointInTime"),
        ),
    }
)
"""Operations of a type that only an input causes which no component sets; a test searches the components for it."""
_PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "efs": "elasticfilesystem", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing",
        "service-quotas": "servicequotas",
    }
)  # fmt: skip
_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # AWS Budgets User Guide, "Actions, resources, and condition keys for AWS Budgets" (read 2026-11).
        "budgets:CreateBudget": "ModifyBudget", "budgets:DeleteBudget": "ModifyBudget",
        "budgets:UpdateBudget": "ModifyBudget", "budgets:DescribeBudget": "ViewBudget",
        # Amazon S3 User Guide, "Required permissions for Amazon S3 API operations" (read 2026-11).
        "s3:DeleteBucketEncryption": "PutEncryptionConfiguration",
        "s3:PutBucketEncryption": "PutEncryptionConfiguration",
        "s3:DeleteBucketLifecycle": "PutLifecycleConfiguration",
        "s3:PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
        "s3:DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
        "s3:GetBucketEncryption": "GetEncryptionConfiguration",
        "s3:GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
        "s3:GetPublicAccessBlock": "GetBucketPublicAccessBlock",
        "s3:PutPublicAccessBlock": "PutBucketPublicAccessBlock",
        "s3:DeleteBucketOwnershipControls": "PutBucketOwnershipControls", "s3:DeleteBucketTagging": "PutBucketTagging",
        "s3:DeleteObjects": "DeleteObject", "s3:ListObjectVersions": "ListBucketVersions",
        "s3:HeadBucket": "ListBucket", "s3:ListObjectsV2": "ListBucket",
    }
)  # fmt: skip
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
    table, mapping = OPERATIONS[type_token], MAPPINGS.get(type_token)
    known = known_operations(table.service)
    direct = set(table.operations) | ({word for word in _words(mapping, set()) if word in known} if mapping else set())
    return (direct | {other for one in direct for other in _counterparts(table.service, one)}) - {
        one for one, _ in NOT_SENT.get(type_token, ())
    }


def actions(type_token: str) -> set[str]:
    """The IAM actions that a type needs."""
    service = OPERATIONS[type_token].service
    return {action(service, one) for one in operations(type_token)}


def action(service: str, operation: str) -> str:
    """The IAM action that allows an operation."""
    name = f"{_PREFIXES.get(service, service)}:{known_operations(service)[operation]}"
    return f"{name.partition(':')[0]}:{_NAMES[name]}" if name in _NAMES else name


def _counterparts(service: str, operation: str) -> Iterator[str]:
    yield from _IRREGULAR.get((service, operation), ())
    verb, _, rest = operation.partition("_")
    for other in _COUNTERPARTS.get(verb, ()):
        if f"{other}_{rest}".rstrip("_") in known_operations(service):
            yield f"{other}_{rest}".rstrip("_")


def _words(value: Any, seen: set[int]) -> Iterator[str]:
    """All texts of a mapping, and those in the functions that it calls."""
    if isinstance(value, str):
        yield value
    elif id(value) in seen:
        return
    elif isinstance(value, FunctionType):
        seen.add(id(value))
        if value.__module__.startswith("sandbox.aws.types"):
            yield from _in_code(value.__code__, value.__globals__, seen)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from _words(getattr(value, one.name), seen)
    elif isinstance(value, Mapping):
        yield from _words(tuple(value.values()), seen)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from _words(item, seen)


def _in_code(code: CodeType, names: Mapping[str, Any], seen: set[int]) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _in_code(constant, names, seen)
        else:
            yield from _words(constant, seen)
    for name in code.co_names:
        yield from _words(names.get(name), seen)
