"""Ways out of the account: policies of VPC endpoints and subscribers of topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.conditions import limits_the_caller, narrow
from policies.evaluation.documents import Statement, statements
from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import TOPIC_SUBSCRIPTION, VPC_ENDPOINT
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_OWNERS: Final = ("aws:resourceaccount", "aws:resourceorgid", "aws:resourceorgpaths")


def _for_everything(statement: Statement) -> bool:
    anybody = any(who.raw == "*" for who in statement.principals("AWS")) or not statement.node["NotPrincipal"].missing
    owned = narrow(statement, lambda key: key in _OWNERS)
    return statement.allows and anybody and statement.everywhere and not owned and not limits_the_caller(statement)


def _unlimited(endpoint: Resource, _: Context) -> Iterator[Violation]:
    """Without a policy AWS sets one that allows everything (PrivateLink Guide, "Control access to VPC endpoints using
    endpoint policies"); one that is written down and says the same replaces a narrower one."""
    if any(map(_for_everything, statements(endpoint["policy"]))):
        yield violation(endpoint["policy"], "allowing everybody everything, buckets of other accounts included")


ENDPOINTS = ResourceRule(
    name="endpoint-policy-narrow",
    title="A policy of a VPC endpoint limits who uses it, or what for",
    types=(VPC_ENDPOINT,),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="Through an endpoint without a limit a pod copies data to a bucket of another account, past every rule for the "
    "internet.",
    fix="Name principals or resources, or set a condition on aws:PrincipalAccount or aws:ResourceAccount; or leave the "
    "policy to the network component.",
    checks={"limit": Check(asks="must name principals or resources, or have a condition on either", find=_unlimited)},
)


def _by_web(subscription: Resource, context: Context) -> Iterator[Violation]:
    """Other protocols name an address of the stack file or a resource, whose account `accounts-known` compares."""
    endpoint = subscription["endpoint"]
    if subscription["protocol"].raw in ("http", "https") and endpoint.is_not(*context.settings["addresses"]):
        yield violation(endpoint)


SUBSCRIBERS = ResourceRule(
    name="subscribers-listed",
    title="Topics deliver to listed web addresses only",
    types=(TOPIC_SUBSCRIPTION,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Notices name teams, resources and costs, and whoever answers the address confirms the subscription himself.",
    fix="Subscribe by cost.notices in the stack file, or add the address to the rule's setting.",
    settings={
        "addresses": Setting(
            asks="https addresses that may get messages of a topic",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([]),
        )
    },
    checks={"address": Check(asks="must be a listed address", find=_by_web)},
)

RULES: Final = (ENDPOINTS, SUBSCRIBERS)
