"""Load balancers of the program; rules don't see those that a controller creates for Services and Ingresses."""

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.questions import companions, each, is_in, true
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import LISTENER, LOAD_BALANCER, TARGET_GROUP, WEB_ACL_ASSOCIATION
from policies.rule import Check, Context, Levels, StackRule, Violation, setting, violation

_MODERN: Final = ("ELBSecurityPolicy-TLS13-", "ELBSecurityPolicy-FS-1-2-", "ELBSecurityPolicy-TLS-1-2-")
"""Prefixes of the names of policies without TLS below 1.2 (ELB User Guide, "Security policies"; read 2026-11)."""
_APPLICATION: Final = "application"


def _kind(balancer: Resource) -> Any:
    """Its type; the default of AWS is `application`."""
    node = balancer["loadBalancerType"]
    return _APPLICATION if node.missing else node.raw


def _of_kind(kind: str, path: str, *accepted: Any, default: Any = None) -> Any:
    question = is_in(path, *accepted, default=default)

    def find(balancer: Resource, context: Context) -> Iterator[Violation]:
        if _kind(balancer) == kind:
            yield from question(balancer, context)

    return each(LOAD_BALANCER, find)


def _redirects(listener: Resource) -> bool:
    actions = listener["defaultActions"]
    kinds = [action["type"] for action in actions.items()]
    return actions.unknown or any(kind.unknown or kind.raw == "redirect" for kind in kinds)


def _unencrypted(listener: Resource, _: Context) -> Iterator[Violation]:
    protocol = listener["protocol"]
    if protocol.raw in ("HTTP", "TCP", "UDP", "TCP_UDP") and not _redirects(listener):
        yield violation(protocol, at=listener)


def _plain_targets(stack: Stack, _: Context) -> Iterator[Violation]:
    """A load balancer may end TLS: then a listener with HTTPS forwards to the group."""
    secure = [one for one in stack.of(LISTENER) if one["protocol"].unknown or one["protocol"].raw in ("HTTPS", "TLS")]
    for group in stack.of(TARGET_GROUP):
        if group["protocol"].raw == "HTTP" and not any(listener.takes_from(group) for listener in secure):
            yield violation(group["protocol"], "HTTP, and no listener with TLS forwards to it", group)


def _unchecked(group: Resource, _: Context) -> Iterator[Violation]:
    """Elastic Load Balancing asks for `/` by default, which a model server need not have."""
    health, protocol = group["healthCheck"], group["protocol"]
    if health["enabled"].is_false(default=True) or (health.missing and protocol.raw in ("HTTP", "HTTPS")):
        yield violation(health, at=group)


def _old_tls(listener: Resource, _: Context) -> Iterator[Violation]:
    policy = listener["sslPolicy"]
    secure = listener["protocol"].raw in ("HTTPS", "TLS")
    if secure and not policy.unknown and not str(policy.raw).startswith(_MODERN):
        yield violation(policy, at=listener)


def _public(balancer: Resource, context: Context) -> Iterator[Violation]:
    if balancer["internal"].is_false(default=False) and balancer.name not in context.settings["public"]:
        yield violation(balancer["internal"], at=balancer)


def _unfiltered(stack: Stack, _: Context) -> Iterator[Violation]:
    for balancer in stack.of(LOAD_BALANCER):
        public = balancer["internal"].is_false(default=False) and _kind(balancer) == _APPLICATION
        if public and not companions(stack, balancer, WEB_ACL_ASSOCIATION, "resourceArn"):
            yield Violation(path="", got="public and without a web ACL", at=balancer)


LB_TLS_INTERNAL = StackRule(
    name="lb-tls-internal",
    types=(LOAD_BALANCER, LISTENER, TARGET_GROUP, WEB_ACL_ASSOCIATION),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    settings={"public": setting("logical names of load balancers that may be public", [])},
    checks={
        "internal": Check("must be true, or the load balancer must be listed", each(LOAD_BALANCER, _public)),
        "logs": Check("must be true", each(LOAD_BALANCER, true("accessLogs.enabled")), ("CKV_AWS_91",)),
        "headers": Check(
            "must be true", _of_kind(_APPLICATION, "dropInvalidHeaderFields", True), ("CKV_AWS_131", "AVD-AWS-0052")
        ),
        "desync": Check(
            "must be defensive or strictest",
            _of_kind(_APPLICATION, "desyncMitigationMode", "defensive", "strictest", default="defensive"),
            ("CKV_AWS_328",),
        ),
        "protection": Check("must be true", each(LOAD_BALANCER, true("enableDeletionProtection")), ("CKV_AWS_150",)),
        "zones": Check("must be true", _of_kind("network", "enableCrossZoneLoadBalancing", True), ("CKV_AWS_152",)),
        "plain": Check(
            "must be HTTPS or TLS, or redirect to it",
            each(LISTENER, _unencrypted),
            ("CKV_AWS_2", "CKV_AWS_103", "CKV2_AWS_20", "AVD-AWS-0054"),
        ),
        "plain-targets": Check("must be HTTPS, or behind a listener with TLS", _plain_targets, ("CKV_AWS_378",)),
        "tls": Check(
            "must be a policy without TLS below 1.2",
            each(LISTENER, _old_tls),
            ("CKV_AWS_103", "CKV2_AWS_74", "AVD-AWS-0047", "CIS-5.4.5"),
        ),
        "health": Check("must be set and enabled", each(TARGET_GROUP, _unchecked), ("CKV_AWS_261",)),
    },
)

LB_PUBLIC_FILTERED = StackRule(
    name="lb-public-filtered",
    types=(LOAD_BALANCER, WEB_ACL_ASSOCIATION),
    severity=Severity.MEDIUM,
    levels=Levels("A/A/M"),
    checks={"filtered": Check("must have a web ACL", _unfiltered, ("CKV2_AWS_28", "AVD-AWS-0053"))},
)

RULES = (LB_TLS_INTERNAL, LB_PUBLIC_FILTERED)
