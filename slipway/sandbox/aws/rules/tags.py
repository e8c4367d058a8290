"""Tags, the resource's own together with the provider's default tags, as they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from slipway.sandbox.aws.limits.tables import OPERATIONS
from slipway.sandbox.aws.limits.wording import CODES
from slipway.sandbox.aws.rules.rule import Case, Rule, rule
from slipway.sandbox.aws.schema import schema

MAXIMUM, KEY_LENGTH, VALUE_LENGTH = 50, 128, 256
RESERVED = "aws:"
_SOURCE = (
    "https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html (tag naming limits and requirements), read "
    "2026-11"
)
_CODES: Mapping[str, str] = MappingProxyType(
    {
        "ecr": "InvalidTagParameterException", "efs": "BadRequest", "iam": "InvalidInput", "kms": "TagException",
        "s3": "InvalidTag",
    }
)  # fmt: skip
"""Services with a code of their own for a tag."""
_TOO_MANY: Mapping[str, str] = MappingProxyType(
    {"ec2": "TagLimitExceeded", "ecr": "TooManyTagsException", "iam": "LimitExceeded", "sns": "TagLimitExceeded"}
)


def _tags(case: Case) -> dict[str, str]:
    known = schema(case.type)
    if known is None or "tagsAll" not in known.outputs:
        return {}
    return {**case.aws.default_tags, **(case.new.get("tags") or {})}


def _form(case: Case) -> str | None:
    """Length of keys and values, and no reserved key; with the provider's default tags."""
    for key, value in _tags(case).items():
        if key.lower().startswith(RESERVED):
            return f"Tag keys starting with 'aws:' are reserved for internal use: {key}"
        if not 1 <= len(key) <= KEY_LENGTH:
            return f"Tag key exceeds the maximum length of {KEY_LENGTH} characters: {key[:40]}... has {len(key)}"
        if len(str(value)) > VALUE_LENGTH:
            return f"Tag value exceeds the maximum length of {VALUE_LENGTH} characters: that of {key} has {len(value)}"
    return None


def _count(case: Case) -> str | None:
    """50 tags at most, with the provider's default tags."""
    count = len(_tags(case))
    return f"The maximum number of tags is {MAXIMUM}, got {count}" if count > MAXIMUM else None


def _of(service: str) -> list[Rule]:
    types = [token for token, one in OPERATIONS.items() if one.service == service]
    code, too_many = _CODES.get(service, CODES[service]), _TOO_MANY.get(service, _CODES.get(service, CODES[service]))
    return [
        rule(" ".join(types), code, "tags", _SOURCE)(_form),
        rule(" ".join(types), too_many, "tags", _SOURCE)(_count),
    ]


RULES = tuple(one for service in sorted(CODES) for one in _of(service))
