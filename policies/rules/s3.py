"""S3 buckets: public access, transport, encryption, versions and audit."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.checks.questions import companions, each, has_companion, is_in, true
from policies.evaluation.iam import limits_the_caller, refuses_plain_transport, statements
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    BUCKET,
    BUCKET_ACL,
    BUCKET_BLOCK,
    BUCKET_ENCRYPTION,
    BUCKET_LIFECYCLE,
    BUCKET_LOCK,
    BUCKET_LOGGING,
    BUCKET_NOTIFICATION,
    BUCKET_OBJECT,
    BUCKET_OWNERSHIP,
    BUCKET_POLICY,
    BUCKET_REPLICATION,
    BUCKET_VERSIONING,
    S3_ACCESS_POINT,
)
from policies.rule import Context, StackRule, Violation, violation

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


PUBLIC_BLOCK = StackRule(
    name="s3-public-block",
    types=(BUCKET, BUCKET_BLOCK, S3_ACCESS_POINT),
    finds={
        "block": has_companion(BUCKET_BLOCK, "bucket", BUCKET, "without one"),
        "acls": each(BUCKET_BLOCK, true("blockPublicAcls")),
        "policy": each(BUCKET_BLOCK, true("blockPublicPolicy")),
        "ignored": each(BUCKET_BLOCK, true("ignorePublicAcls")),
        "restricted": each(BUCKET_BLOCK, true("restrictPublicBuckets")),
        "point": each(S3_ACCESS_POINT, _open_point),
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
    types=(BUCKET, BUCKET_ACL, BUCKET_OBJECT, BUCKET_POLICY, BUCKET_OWNERSHIP),
    finds={
        "acl": _public_acls,
        "principal": each((BUCKET, BUCKET_POLICY), _any_principal),
        "lockout": each((BUCKET, BUCKET_POLICY), _locks_out),
        "transport": _plain,
        "ownership": has_companion(BUCKET_OWNERSHIP, "bucket", BUCKET, "without them, so ACLs apply"),
        "lists": each(BUCKET_OWNERSHIP, is_in("rule.objectOwnership", "BucketOwnerEnforced")),
    },
)


_KMS: Final = ("aws:kms", "aws:kms:dsse")
_DEFAULT: Final = "applyServerSideEncryptionByDefault"


def _inline(key: str) -> Callable[[Resource], bool]:
    """Whether a bucket has the property itself, which AWS takes as well."""
    return lambda bucket: not bucket[key].missing


def _rules(resource: Resource) -> list[Node]:
    """Rules of encryption, of a bucket itself or of a resource about it."""
    inline = resource.type == BUCKET
    rules = [resource["serverSideEncryptionConfiguration"]["rule"]] if inline else resource["rules"].items()
    return [rule for rule in rules if rule.known]


def _not_kms(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        if rule[_DEFAULT]["sseAlgorithm"].is_not(*_KMS):
            yield violation(rule[_DEFAULT]["sseAlgorithm"], at=encryption)


def _aws_key(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        key = rule[_DEFAULT]["kmsMasterKeyId"]
        if rule[_DEFAULT]["sseAlgorithm"].raw in _KMS and (key.missing or str(key.raw).startswith("alias/aws/")):
            yield violation(key, at=encryption)


def _key_by_object(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        if rule[_DEFAULT]["sseAlgorithm"].raw in _KMS and rule["bucketKeyEnabled"].is_false(default=False):
            yield violation(rule["bucketKeyEnabled"], at=encryption)


def _encryptions(find: Callable[[Resource, Context], Iterator[Violation]]) -> Callable[..., Any]:
    """Each encryption once: in the state of a stack a bucket also has what a resource beside it declares."""
    return each(
        (BUCKET, BUCKET_ENCRYPTION),
        find,
        unless=lambda stack, one: one.type == BUCKET and bool(companions(stack, one, BUCKET_ENCRYPTION, "bucket")),
    )


KMS_BUCKET_KEY = StackRule(
    name="s3-kms-bucket-key",
    types=(BUCKET, BUCKET_ENCRYPTION),
    finds={
        "declared": has_companion(
            BUCKET_ENCRYPTION,
            "bucket",
            BUCKET,
            "left to S3's default",
            inline=_inline("serverSideEncryptionConfiguration"),
        ),
        "kms": _encryptions(_not_kms),
        "key": _encryptions(_aws_key),
        "bucket-key": _encryptions(_key_by_object),
    },
)


def _lifecycle(resource: Resource) -> Node:
    """Rules of a bucket itself or of a resource about it."""
    return resource["lifecycleRules" if resource.type == BUCKET else "rules"]


def _active(rule: Node) -> bool:
    """Whether S3 applies the rule: it is not certainly disabled. A rule of a bucket itself has `enabled`."""
    return not rule["status"].is_not("Enabled") if rule["enabled"].missing else not rule["enabled"].is_false()


def _for_every_object(rule: Node) -> bool:
    narrow = [rule["prefix"], rule["tags"], *rule["filter"].fields().values()]
    return not any(node.known and node.raw not in ("", {}) for node in narrow)


def _incomplete_uploads(resource: Resource, _: Context) -> Iterator[Violation]:
    rules = _lifecycle(resource)
    entries = [rule for rule in rules.items() if _active(rule) and _for_every_object(rule)]
    ends = [rule["abortIncompleteMultipartUpload"]["daysAfterInitiation"] for rule in entries]
    ends += [rule["abortIncompleteMultipartUploadDays"] for rule in entries]
    if _decides(resource) and all(days.missing for days in ends):
        yield violation(rules, "without abortIncompleteMultipartUpload for all objects", resource)


def _without_expiry(resource: Resource, _: Context) -> Iterator[Violation]:
    rules = _lifecycle(resource)
    expiries = [rule["noncurrentVersionExpiration"] for rule in rules.items() if _active(rule)]
    ends = [days for expiry in expiries for days in (expiry["noncurrentDays"], expiry["days"])]
    if _decides(resource) and all(days.missing for days in ends):
        yield violation(rules, "without noncurrentVersionExpiration", resource)


def _decides(resource: Resource) -> bool:
    """Whether the resource has the rules: a bucket may leave them to another resource."""
    rules = _lifecycle(resource)
    return not rules.unknown and not (resource.type == BUCKET and rules.missing)


def _suspended(bucket: Resource, _: Context) -> Iterator[Violation]:
    versioning = bucket["versioning"]
    if not versioning.missing and versioning["enabled"].is_false(default=False):
        yield violation(versioning["enabled"], at=bucket)


VERSIONED_LIFECYCLE = StackRule(
    name="s3-versioned-lifecycle",
    types=(BUCKET, BUCKET_VERSIONING, BUCKET_LIFECYCLE),
    finds={
        "versions": has_companion(BUCKET_VERSIONING, "bucket", BUCKET, "without it", inline=_inline("versioning")),
        "enabled": each(BUCKET_VERSIONING, is_in("versioningConfiguration.status", "Enabled")),
        "suspended": each(BUCKET, _suspended),
        "lifecycle": has_companion(BUCKET_LIFECYCLE, "bucket", BUCKET, "without one", inline=_inline("lifecycleRules")),
        "uploads": each((BUCKET, BUCKET_LIFECYCLE), _incomplete_uploads),
        "former": each((BUCKET, BUCKET_LIFECYCLE), _without_expiry),
    },
)


def _dotted(bucket: Resource, _: Context) -> Iterator[Violation]:
    """A certificate for `*.s3.amazonaws.com` does not cover a name with a dot (S3 User Guide, naming rules)."""
    if "." in (bucket["bucket"].text() or ""):
        yield violation(bucket["bucket"], at=bucket)


def _copies(rules: Node) -> bool:
    return rules.unknown or any(rule.unknown or not rule["status"].is_not("Enabled") for rule in rules.items())


def _copied(bucket: Resource) -> bool:
    return _copies(bucket["replicationConfiguration"]["rules"])


def _copying(replication: Resource) -> bool:
    return _copies(replication["rules"])


def _locked(bucket: Resource) -> bool:
    return not bucket["objectLockConfiguration"]["objectLockEnabled"].is_not("Enabled")


AUDIT_EXTRAS = StackRule(
    name="s3-audit-extras",
    types=(BUCKET, BUCKET_LOGGING, BUCKET_REPLICATION, BUCKET_LOCK, BUCKET_NOTIFICATION),
    finds={
        "logged": has_companion(BUCKET_LOGGING, "bucket", BUCKET, "without it", inline=_inline("logging")),
        "replicated": has_companion(
            BUCKET_REPLICATION, "bucket", BUCKET, "in one Region only", inline=_copied, counts=_copying
        ),
        "locked": has_companion(BUCKET_LOCK, "bucket", BUCKET, "without it", inline=_locked),
        "notified": has_companion(BUCKET_NOTIFICATION, "bucket", BUCKET, "without them"),
        "name": each(BUCKET, _dotted),
    },
)
