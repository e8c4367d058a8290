"""Queues and topics: encrypted, and not for everybody to write to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.documents import Statement, statements
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Violation, violation
from policies.tokens import QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY

_STORES: Final = (QUEUE, TOPIC)
_NARROW: Final = (
    "aws:sourcearn",
    "aws:sourceaccount",
    "aws:principalorgid",
    "aws:principalarn",
    "aws:principalaccount",
)


def _plain(store: Resource, _: Context) -> Iterator[Violation]:
    """SQS encrypts with a key of its own only where `sqsManagedSseEnabled` is not switched off."""
    off = store["sqsManagedSseEnabled"].is_false(default=True) or store.type == TOPIC
    if store.type in _STORES and store["kmsMasterKeyId"].missing and off:
        yield violation(store["kmsMasterKeyId"])


def _aws_key(store: Resource, _: Context) -> Iterator[Violation]:
    key = store["kmsMasterKeyId"]
    managed = store.type == QUEUE and store["sqsManagedSseEnabled"].is_true(default=True) and key.missing
    if store.type in _STORES and (managed or str(key.raw).startswith("alias/aws/")):
        yield violation(key)


def _allowing(policy: Resource) -> Iterator[Statement]:
    return (statement for statement in statements(policy["policy"]) if statement.allows)


def _everything(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in _allowing(policy):
        if {"*", "sqs:*", "sns:*"}.intersection(statement.actions):
            yield violation(policy["policy"], "allowing every action")


def _everybody(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in _allowing(policy):
        public = any(who.raw == "*" for who in statement.principals("AWS"))
        narrow = statement.node["Condition"].unknown or any(key in statement.conditions for key in _NARROW)
        if public and not narrow:
            yield violation(policy["policy"], "for the principal '*' without a condition on who that is")


def _other_accounts(policy: Resource, _: Context) -> Iterator[Violation]:
    """The topic's own ARN says whose it is; unknown until it is made, so that an update judges what a preview can't."""
    arn = policy["arn"].text() if policy.type == TOPIC_POLICY else None
    account = arn.split(":")[4] if arn and arn.count(":") >= 5 else None
    for statement in _allowing(policy) if account else ():
        foreign_principals = [
            who for who in statement.principals("AWS") if who.raw != "*" and str(account) not in str(who.raw)
        ]
        if any(who.known for who in foreign_principals):
            yield violation(policy["policy"], f"for {foreign_principals[0].raw}")


QUEUES_ENCRYPTED = ResourceRule(
    name="queues-encrypted",
    title="Queues and topics are encrypted and written to by named services alone",
    types=(QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Whoever writes a false interruption to Karpenter's queue drains a node of the cluster.",
    fix="Give it kmsMasterKeyId, and name the service and its source in the policy.",
    checks={
        "encrypted": Check(
            asks="must be set, or SQS's own encryption left on",
            find=_plain,
            external_ids=("CKV_AWS_26", "CKV_AWS_27", "AVD-AWS-0095", "AVD-AWS-0096"),
        ),
        "key": Check(
            asks="must be a key of the stack's own",
            find=_aws_key,
            external_ids=("CKV2_AWS_73", "AVD-AWS-0135", "AVD-AWS-0136"),
        ),
        "actions": Check(
            asks="must name the actions that it allows",
            find=_everything,
            external_ids=("CKV_AWS_72", "AVD-AWS-0097"),
        ),
        "principal": Check(
            asks="must name who is allowed",
            find=_everybody,
            external_ids=("CKV_AWS_168", "CKV_AWS_169", "CKV_AWS_387"),
        ),
        "account": Check(
            asks="must be for principals of the topic's own account",
            find=_other_accounts,
            external_ids=("CKV_AWS_385",),
        ),
    },
)

RULES = (QUEUES_ENCRYPTED,)
