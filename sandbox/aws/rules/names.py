"""Rules for names and tags."""

from __future__ import annotations

import ipaddress
import re

from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.limits.values import CODES, code
from sandbox.aws.rules.rule import TABLES, Case, Rule, rule
from sandbox.aws.schema import schema
from spec.catalog import names


def _limit(type_token: str, code: str, at: str, kind: str) -> Rule:
    def name_limit(case: Case) -> str | None:
        """Length and characters of the name."""
        name = case.new.get(at)
        # The names of FIFO queues and topics end in .fifo, which the limit does not know.
        return None if not name else names.problem(kind, str(name).removesuffix(".fifo"))

    return rule(type_token, code, at, names.limit(kind).origin)(name_limit)


LIMITS = tuple(_limit(*one) for one in TABLES["names"])


@rule(
    "aws:s3/bucket:Bucket", "InvalidBucketName", "bucket",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, read 2026-11",
)  # fmt: skip
def bucket_name(case: Case) -> str | None:
    """What a pattern of characters can't say."""
    name = str(case.new.get("bucket") or "")
    reserved = re.search(r"^(xn--|sthree-|amzn-s3-demo-)|(-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$", name)
    if ".." in name or reserved or _is_address(name):
        return f"The specified bucket is not valid: {name}"
    return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


# Tags, the resource's own together with the provider's default tags, as they are sent.

MAXIMUM, KEY_LENGTH, VALUE_LENGTH = 50, 128, 256
RESERVED = "aws:"
_SOURCE = (
    "https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html (tag naming limits and requirements), read "
    "2026-11"
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
    said = (("tag", _form), ("tags", _count))
    return [rule(" ".join(types), code(service, of), "tags", _SOURCE)(found) for of, found in said]


TAGS = tuple(one for service in sorted(CODES) for one in _of(service))
