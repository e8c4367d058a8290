"""Rules of buckets of S3."""

from __future__ import annotations

import fnmatch
import re
from itertools import combinations
from typing import Any, Final

from sandbox.aws.rules.policies import listed, statements
from sandbox.aws.rules.rule import Case, rule

_KINDS: Final = ("QueueConfigurations", "TopicConfigurations", "LambdaFunctionConfigurations")
_BUCKET: Final = re.compile("arn:[^:]*:s3:::")


@rule(
    "s3.put_bucket_notification_configuration", "InvalidArgument", "NotificationConfiguration",
    "S3 User Guide, notification-how-to-filtering.html, read 2026-11",
)  # fmt: skip
def notified_once(case: Case) -> str | None:
    """No event of an object goes to two receivers."""
    given = case.given["NotificationConfiguration"]
    found = [one for name in _KINDS for one in given.get(name) or ()]
    for first, second in combinations(found, 2):
        events = any(
            _covers(a, b) or _covers(b, a) for a in first.get("Events") or () for b in second.get("Events") or ()
        )
        prefixes = [_filter(one, "prefix") for one in (first, second)]
        suffixes = [_filter(one, "suffix")[::-1] for one in (first, second)]
        if events and all(a.startswith(b) or b.startswith(a) for a, b in (prefixes, suffixes)):
            return (
                "Configurations overlap. Configurations on the same bucket cannot share a common event type with "
                f"overlapping prefixes and suffixes: {', '.join(map(repr, prefixes))}"
            )
    return None


def _filter(one: Any, name: str) -> str:
    rules = ((one.get("Filter") or {}).get("Key") or {}).get("FilterRules") or ()
    return next((str(each.get("Value") or "") for each in rules if str(each["Name"]).lower() == name), "")


def _covers(event: str, other: str) -> bool:
    return event == other or (event.endswith("*") and other.startswith(event[:-1]))


@rule(
    "s3.put_bucket_policy", "MalformedPolicy", "Policy Bucket",
    "S3 User Guide, troubleshooting-bucket-policies: a policy has resources of its own bucket",
)  # fmt: skip
def own_bucket(case: Case) -> str | None:
    """Of the buckets, a bucket policy has its own alone; its access points have a Region in their ARN."""
    own = f"arn:{case.aws.partition}:s3:::{case.given['Bucket']}"
    for statement in statements(case.given["Policy"]):
        for resource in map(str, listed(statement.get("Resource"))):
            if _BUCKET.match(resource) and not fnmatch.fnmatchcase(own, resource.partition("/")[0]):
                return f"Policy has invalid resource: {resource} is not of the bucket {case.given['Bucket']}"
    return None
