"""Load balancers of the program; rules don't see those that a controller creates for Services and Ingresses."""

from collections.abc import Iterator
from typing import Any, Final

from policies.checks.questions import companions, each, is_in, true
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import LISTENER, LOAD_BALANCER, TARGET_GROUP, WEB_ACL_ASSOCIATION
from policies.rule import Context, StackRule, Violation, setting, violation

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
    settings={"public": setting("logical names of load balancers that may be public", [])},
    finds={
        "internal": each(LOAD_BALANCER, _public),
        "logs": each(LOAD_BALANCER, true("accessLogs.enabled")),
        "headers": _of_kind(_APPLICATION, "dropInvalidHeaderFields", True),
        "desync": _of_kind(_APPLICATION, "desyncMitigationMode", "defensive", "strictest", default="defensive"),
        "protection": each(LOAD_BALANCER, true("enableDeletionProtection")),
        "zones": _of_kind("network", "enableCrossZoneLoadBalancing", True),
        "plain": each(LISTENER, _unencrypted),
        "plain-targets": _plain_targets,
        "tls": each(LISTENER, _old_tls),
        "health": each(TARGET_GROUP, _unchecked),
    },
)

LB_PUBLIC_FILTERED = StackRule(
    name="lb-public-filtered",
    types=(LOAD_BALANCER, WEB_ACL_ASSOCIATION),
    finds={"filtered": _unfiltered},
)
