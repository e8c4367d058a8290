"""Names: length and characters, from the catalog, for the types whose service model has no limits of them."""

from __future__ import annotations

import ipaddress
import re

from slipway.sandbox.aws.rules.rule import Case, Rule, rule
from spec.catalog import names

_NAMED = (
    ("aws:ec2/securityGroup:SecurityGroup", "InvalidParameterValue", "name", "security-group"),
    ("aws:ec2/placementGroup:PlacementGroup", "InvalidParameterValue", "name", "placement-group"),
    ("aws:eks/nodeGroup:NodeGroup", "InvalidParameterException", "nodeGroupName", "eks-node-group"),
    ("aws:sns/topic:Topic", "InvalidParameter", "name", "sns-topic"),
    ("aws:sqs/queue:Queue", "InvalidParameterValue", "name", "sqs-queue"),
    ("aws:s3/bucket:Bucket", "InvalidBucketName", "bucket", "s3-bucket"),
)


def _limit(type_token: str, code: str, at: str, kind: str) -> Rule:
    def name_limit(case: Case) -> str | None:
        """Length and characters of the name."""
        name = case.new.get(at)
        # The names of FIFO queues and topics end in .fifo, which the limit does not know.
        return None if not name else names.problem(kind, str(name).removesuffix(".fifo"))

    return rule(type_token, code, at, names.limit(kind).origin)(name_limit)


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


RULES = (*(_limit(*one) for one in _NAMED), bucket_name)
