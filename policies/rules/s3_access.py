"""Access to S3 buckets: public access block, policies, ACLs and TLS."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from pulumi_policy import Severity

from policies.checks.questions import companions, each, has_companion, is_in, true
from policies.evaluation.conditions import limits_the_caller
from policies.evaluation.documents import refuses_plain_transport, statements
from policies.levels import Levels
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    BUCKET,
    BUCKET_ACL,
    BUCKET_BLOCK,
    BUCKET_OBJECT,
    BUCKET_OWNERSHIP,
    BUCKET_POLICY,
    S3_ACCESS_POINT,
)
from policies.rule import Check, Context, StackRule, Violation, violation

_FLAGS: Final = {
    "blockPublicAcls": True,
    "blockPublicPolicy": True,
    "ignorePublicAcls": True,
    "restrictPublicBuckets": True,
}


def _open_point(point: Resource, _: Context) -> Iterator[Violation]:
    """AWS blocks public access by default (S3 User Guide, "Managing public access to access points")."""
    for flag in _FLAGS:
        node = point["publicAccessBlockConfiguration"][flag]
        if node.is_false(default=True):
            yield violation(node, at=point)


def _flag(name: str, *external_ids: str) -> Check[Stack]:
    return Check(
        asks="must be true",
        find=each(BUCKET_BLOCK, true(name)),
        external_ids=external_ids,
    )


PUBLIC_BLOCK = StackRule(
    name="s3-public-block",
    title="S3 Block Public Access is enabled for every bucket and access point",
    types=(BUCKET, BUCKET_BLOCK, S3_ACCESS_POINT),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="The block applies even when a policy or an ACL is wrong.",
    fix="Declare an aws.s3.BucketPublicAccessBlock for the bucket with all four flags.",
    checks={
        "block": Check(
            asks="must have a public access block",
            find=has_companion(BUCKET_BLOCK, "bucket", BUCKET, "without one"),
            external_ids=("CKV2_AWS_6", "AVD-AWS-0094"),
        ),
        "acls": _flag("blockPublicAcls", "CKV_AWS_53", "CKV2_AWS_6", "AVD-AWS-0086"),
        "policy": _flag("blockPublicPolicy", "CKV_AWS_54", "CKV2_AWS_6", "AVD-AWS-0087"),
        "ignored": _flag("ignorePublicAcls", "CKV_AWS_55", "AVD-AWS-0091"),
        "restricted": _flag("restrictPublicBuckets", "CKV_AWS_56", "AVD-AWS-0093"),
        "point": Check(
            asks="must not be false",
            find=each(S3_ACCESS_POINT, _open_point),
            external_ids=("CKV_AWS_392",),
        ),
    },
)


def _public_acl(acl: Resource, _: Context) -> Iterator[Violation]:
    canned = acl["acl"]
    if canned.known and canned.raw not in ("private", "log-delivery-write"):
        yield violation(canned, at=acl)
    written = acl["accessControlPolicy"]["grants"].items()
    for uri in [*(grant["grantee"]["uri"] for grant in written), *(grant["uri"] for grant in acl["grants"].items())]:
        if str(uri.raw).endswith(("/AllUsers", "/AuthenticatedUsers")):
            yield violation(uri, at=acl)


def _public_acls(stack: Stack, context: Context) -> Iterator[Violation]:
    """A bucket takes an ACL inline as well, and so does an object."""
    for resource in stack.of(BUCKET_ACL, BUCKET, BUCKET_OBJECT):
        yield from _public_acl(resource, context)


def _any_principal(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in statements(policy["policy"]):
        public = any(who.raw == "*" for who in statement.principals("AWS"))
        if statement.allows and public and not limits_the_caller(statement):
            yield violation(policy["policy"], "for the principal '*' without a condition that limits it", policy)


def _locks_out(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in statements(policy["policy"]):
        everybody = any(who.raw == "*" for who in statement.principals("AWS"))
        everything = any(fnmatchcase("s3:putbucketpolicy", action) for action in statement.actions)
        denies = statement.node["Effect"].raw == "Deny"
        if denies and everybody and everything and statement.node["Condition"].missing:
            yield violation(policy["policy"], "denying all principals s3:PutBucketPolicy", policy)


def _plain(stack: Stack, _: Context) -> Iterator[Violation]:
    for bucket in stack.of(BUCKET):
        beside = companions(stack, bucket, BUCKET_POLICY, "bucket")
        policies = [one["policy"] for one in (bucket, *beside) if not one["policy"].missing]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            yield Violation(path="", got="open to requests without TLS: no policy denies them", at=bucket)


NO_GRANTS = StackRule(
    name="s3-no-public-grants",
    title="Access to buckets is granted by policies to named principals, over TLS",
    types=(BUCKET, BUCKET_ACL, BUCKET_OBJECT, BUCKET_POLICY, BUCKET_OWNERSHIP),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="ACLs are a second, legacy way to grant access that reviews miss, and '*' is everyone on the internet.",
    fix="Set object ownership BucketOwnerEnforced, name principals, and deny aws:SecureTransport false.",
    checks={
        "acl": Check(
            asks="must be private",
            find=_public_acls,
            external_ids=("CKV_AWS_20", "CKV_AWS_57", "CKV_AWS_375", "CKV2_AWS_43", "AVD-AWS-0092"),
        ),
        "principal": Check(
            asks="must name its principals",
            find=each((BUCKET, BUCKET_POLICY), _any_principal),
            external_ids=("CKV_AWS_70",),
        ),
        "lockout": Check(
            asks="must not deny all principals a change of the policy",
            find=each((BUCKET, BUCKET_POLICY), _locks_out),
            external_ids=("CKV_AWS_93",),
        ),
        "transport": Check(
            asks="must deny requests without TLS",
            find=_plain,
            external_ids=("CKV_AWS_379",),
        ),
        "ownership": Check(
            asks="must have ownership controls",
            find=has_companion(BUCKET_OWNERSHIP, "bucket", BUCKET, "without them, so ACLs apply"),
            external_ids=("CKV2_AWS_65",),
        ),
        "lists": Check(
            asks="must be BucketOwnerEnforced",
            find=each(BUCKET_OWNERSHIP, is_in("rule.objectOwnership", "BucketOwnerEnforced")),
            external_ids=("CKV2_AWS_65",),
        ),
    },
)

RULES = (PUBLIC_BLOCK, NO_GRANTS)
