"""Inputs with Terraform's names: snake_case, and blocks with their singular name.

The SDK's classes tell properties apart from the program's own keys (tags, labels, cost filters).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slipway.render.terraform.types import snake
from slipway.sandbox.aws.kinds import AnyOf, Field, Kind, ListOf, ObjectOf
from slipway.sandbox.aws.schema import schema

SINGULAR: Final[Mapping[str, str]] = {
    "advanced_backup_settings": "advanced_backup_setting",
    "ands": "and",
    "applied_fors": "applied_for",
    "client_id_lists": "client_id_list",
    "conditions": "condition",
    "copy_actions": "copy_action",
    "cors_rules": "cors_rule",
    "cost_filters": "cost_filter",
    "encryption_configurations": "encryption_configuration",
    "default_actions": "default_action",
    "ebs_block_devices": "ebs_block_device",
    "grants": "grant",
    "image_tag_mutability_exclusion_filters": "image_tag_mutability_exclusion_filter",
    "inline_policies": "inline_policy",
    "lifecycle_policies": "lifecycle_policy",
    "lifecycle_rules": "lifecycle_rule",
    "monitor_arn_lists": "monitor_arn_list",
    "noncurrent_version_transitions": "noncurrent_version_transition",
    "notifications": "notification",
    "ors": "or",
    "parameters": "parameter",
    "planned_limits": "planned_limit",
    "pod_identity_associations": "pod_identity_association",
    "routes": "route",
    "rules": "rule",
    "selection_tags": "selection_tag",
    "statements": "statement",
    "subnet_configurations": "subnet_configuration",
    "subscribers": "subscriber",
    "taints": "taint",
    "target_grants": "target_grant",
    "thumbprint_lists": "thumbprint_list",
    "transitions": "transition",
}
"""Pulumi's plural names of lists whose Terraform name is singular (registry documentation of hashicorp/aws 6,
2026-11)."""

PLURAL: Final = frozenset(
    {
        "block_device_mappings",
        "egress",
        "ingress",
        "network_interfaces",
        "node_repair_config_overrides",
        "secondary_interfaces",
        "tag_specifications",
        "resources",
    }
)
"""Blocks with a plural name in Terraform, too. A new block must be added to one of the two tables."""


def spell(token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of a resource as arguments of its Terraform type.

    Raises:
        LookupError: The SDK has no such type.
    """
    type_schema = schema(token)
    if type_schema is None:
        msg = f"{token} is not a type of the installed pulumi_aws"
        raise LookupError(msg)
    return _object(type_schema.inputs, inputs)


def argument(name: str) -> str:
    """Terraform's name for a property."""
    plain = snake(name)
    return SINGULAR.get(plain, plain)


_PLURAL_IN: Final = frozenset({("replicationConfiguration", "rules")})
"""Blocks that have a plural name in one block only, by its property (the same documentation, `aws_s3_bucket`)."""


def _object(fields: Mapping[str, Field], value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    known = {key: item for key, item in value.items() if key in fields}
    return {
        snake(key) if (above, key) in _PLURAL_IN else argument(key): _value(fields[key].kind, item, key)
        for key, item in known.items()
    }


def _value(kind: Kind, value: Any, name: str) -> Any:
    options = kind.options if isinstance(kind, AnyOf) else (kind,)
    if isinstance(value, list):
        item = next((option.item for option in options if isinstance(option, ListOf)), None)
        return [_value(item, one, name) for one in value] if item is not None else value
    if isinstance(value, Mapping):
        nested = next((option for option in options if isinstance(option, ObjectOf)), None)
        # The keys of a plain map, such as tags and labels, are not renamed.
        return _object(nested.fields, value, name) if nested is not None else dict(value)
    return value


def blocks(token: str, inputs: Mapping[str, Any]) -> set[str]:
    """Snake-case names of the lists of objects in the inputs, at any depth."""
    type_schema = schema(token)
    return set(_blocks(type_schema.inputs, inputs)) if type_schema else set()


def _blocks(fields: Mapping[str, Field], value: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for key, item in value.items():
        if key not in fields:
            continue
        kind = fields[key].kind
        options = kind.options if isinstance(kind, AnyOf) else (kind,)
        if isinstance(item, list) and any(isinstance(one, Mapping) for one in item):
            names.append(snake(key))
        below = [option.item if isinstance(option, ListOf) else option for option in options]
        nested = [option for each in below for option in (each.options if isinstance(each, AnyOf) else (each,))]
        for one in item if isinstance(item, list) else [item]:
            for option in nested:
                if isinstance(option, ObjectOf) and isinstance(one, Mapping):
                    names += _blocks(option.fields, one)
    return names
