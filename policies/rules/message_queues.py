"""SQS queues and SNS topics: encryption and access policies."""

from collections.abc import Iterator
from typing import Final

from policies.evaluation.iam import Statement, limits_the_caller, statements
from policies.resources.resource import Resource
from policies.resources.tokens import QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY
from policies.rule import Context, ResourceRule, Violation, violation

_ENCRYPTED_TYPES: Final = (QUEUE, TOPIC)


def _plain(store: Resource, _: Context) -> Iterator[Violation]:
    """SQS encrypts with its own key unless `sqsManagedSseEnabled` is false."""
    off = store["sqsManagedSseEnabled"].is_false(default=True) or store.type == TOPIC
    if store.type in _ENCRYPTED_TYPES and store["kmsMasterKeyId"].missing and off:
        yield violation(store["kmsMasterKeyId"])


def _aws_key(store: Resource, _: Context) -> Iterator[Violation]:
    key = store["kmsMasterKeyId"]
    managed = store.type == QUEUE and store["sqsManagedSseEnabled"].is_true(default=True) and key.missing
    if store.type in _ENCRYPTED_TYPES and (managed or str(key.raw).startswith("alias/aws/")):
        yield violation(key)


def _allowing(policy: Resource) -> Iterator[Statement]:
    return (statement for statement in statements(policy["policy"]) if statement.allows)


def _all_actions(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in _allowing(policy):
        if {"*", "sqs:*", "sns:*"}.intersection(statement.actions):
            yield violation(policy["policy"], "allowing every action")


def _any_principal(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in _allowing(policy):
        public = any(who.raw == "*" for who in statement.principals("AWS"))
        if public and not limits_the_caller(statement):
            yield violation(policy["policy"], "for the principal '*' without a condition that limits it")


def _other_accounts(policy: Resource, _: Context) -> Iterator[Violation]:
    """The topic's ARN names its account. It is unknown until the topic exists, so only an update is evaluated."""
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
    types=(QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY),
    finds={
        "encrypted": _plain,
        "key": _aws_key,
        "actions": _all_actions,
        "principal": _any_principal,
        "account": _other_accounts,
    },
)
