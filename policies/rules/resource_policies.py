"""Accounts: who is let in by policies of resources, and whose resources are used."""

import re
from collections.abc import Iterator
from typing import Final

from policies.evaluation.iam import account_of, anybody, foreign_principals, home
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import ANY, Context, ResourceRule, Violation, setting, violation

_WITH_POLICY: Final = (
    tokens.BUCKET,
    tokens.BUCKET_POLICY,
    tokens.EFS_POLICY,
    tokens.KEY,
    tokens.QUEUE,
    tokens.QUEUE_POLICY,
    tokens.REPOSITORY_POLICY,
    tokens.S3_ACCESS_POINT,
    tokens.STORED_SECRET,
    tokens.TOPIC,
    tokens.TOPIC_POLICY,
)
_ENTRIES: Final = (tokens.ACCESS_ENTRY, tokens.ACCESS_POLICY)


def _document(resource: Resource) -> Node:
    return resource["assumeRolePolicy" if resource.type == tokens.ROLE else "policy"]


def _anybody(resource: Resource, _: Context) -> Iterator[Violation]:
    """Trust policies have a rule of their own, iam-trust-scoped. EFS evaluates no condition on the caller for NFS
    clients (EFS User Guide, "Using IAM to control access to file systems"; read 2026-11)."""
    if resource.type in _WITH_POLICY:
        found = anybody(_document(resource), conditions=resource.type != tokens.EFS_POLICY)
        yield from (violation(_document(resource), got) for got in found)


def _foreign(resource: Resource, context: Context) -> Iterator[Violation]:
    known = home(resource) | set(context.settings["accounts"])
    if resource.type in _ENTRIES:
        principal = resource["principalArn"]
        account = account_of(str(principal.raw))
        if account is not None and account not in known:
            yield violation(principal)
    elif resource.type == tokens.BUCKET_REPLICATION:
        for rule in resource["rules"].items():
            owner = rule["destination"]["account"]
            if owner.known and owner.text() not in known:
                yield violation(owner)
    else:
        document = _document(resource)
        yield from (violation(document, f"for {who}") for who in foreign_principals(document, known))


PRINCIPALS_KNOWN = ResourceRule(
    name="principals-known",
    types=(tokens.ROLE, *_WITH_POLICY, *_ENTRIES, tokens.BUCKET_REPLICATION),
    settings={"accounts": setting("IDs of further accounts whose principals policies may name", [])},
    finds={
        "anybody": _anybody,
        "account": _foreign,
    },
)


_IN_ARN: Final = re.compile(r"arn:[a-z-]+:[a-z0-9-]+:[a-z0-9-]*:(\d{12}):")
_ACCOUNT: Final = re.compile(r"\d{12}")
_OWNERS: Final = ("OwnerId", "AccountId", "ownerId", "accountId")
_OF_PRINCIPALS: Final = ("policy", "assumeRolePolicy", "principalArn", "rules")
"""Properties that principals-known evaluates, in the resources that it is for."""


def _foreign_account(resource: Resource, context: Context) -> Iterator[Violation]:
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
    types=ANY,
    settings={"accounts": setting("IDs of further accounts whose resources may be named", [])},
    finds={"account": _foreign_account},
    program_only=True,
)
