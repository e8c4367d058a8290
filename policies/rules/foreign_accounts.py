"""Account numbers in the properties of AWS resources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.principals import home
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import ANY, Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.rules.resource_policies import PRINCIPALS_KNOWN

_IN_ARN: Final = re.compile(r"arn:[a-z-]+:[a-z0-9-]+:[a-z0-9-]*:(\d{12}):")
_ACCOUNT: Final = re.compile(r"\d{12}")
_OWNERS: Final = ("OwnerId", "AccountId", "ownerId", "accountId")
_OF_PRINCIPALS: Final = ("policy", "assumeRolePolicy", "principalArn", "rules")
"""Properties that principals-known evaluates, in the resources that it is for."""


def _foreign(resource: Resource, context: Context) -> Iterator[Violation]:
    if not resource.type.startswith("aws:"):
        return
    known = home(resource) | set(context.settings["accounts"])
    skipped = _OF_PRINCIPALS if resource.type in PRINCIPALS_KNOWN.types else ()
    for key, field in resource.props.fields().items():
        for node in field.walk() if key not in skipped else ():
            strange = sorted(set(_accounts(node)) - known)
            if strange:
                yield violation(node, f"of account {', '.join(strange)}")


def _accounts(node: Node) -> list[str]:
    text = str(node.raw)
    return [text] if node.path.endswith(_OWNERS) and _ACCOUNT.fullmatch(text) else _IN_ARN.findall(text)


ACCOUNTS_KNOWN = ResourceRule(
    name="accounts-known",
    title="Resources name resources of the stack's account",
    types=ANY,
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="What another account owns is changed by others: a target gets the stack's events, a role its permissions, a "
    "peer its network.",
    fix="Name a resource of the account in which the provider works (allowedAccountIds), or add the other account to "
    "the rule's setting.",
    settings={
        "accounts": Setting(
            asks="IDs of further accounts whose resources may be named",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([]),
        )
    },
    checks={"account": Check(asks="must be of a known account", find=_foreign)},
    program_only=True,
)

RULES = (ACCOUNTS_KNOWN,)
