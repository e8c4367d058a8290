"""SQS queues and SNS topics: encryption and access policies."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.iam import Statement, limits_the_caller, statements
from policies.resources.resource import Resource
from policies.resources.tokens import QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY
from policies.rule import Check, Context, Levels, ResourceRule, Violation, violation

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
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "encrypted": Check(
            "must be set, or SQS-managed encryption must stay on",
            _plain,
            ("CKV_AWS_26", "CKV_AWS_27", "AVD-AWS-0095", "AVD-AWS-0096"),
        ),
        "key": Check("must be a customer managed KMS key", _aws_key, ("CKV2_AWS_73", "AVD-AWS-0135", "AVD-AWS-0136")),
        "actions": Check("must name the actions that it allows", _all_actions, ("CKV_AWS_72", "AVD-AWS-0097")),
        "principal": Check("must name its principals", _any_principal, ("CKV_AWS_168", "CKV_AWS_169", "CKV_AWS_387")),
        "account": Check("must name only principals of the topic's account", _other_accounts, ("CKV_AWS_385",)),
    },
)

RULES = (QUEUES_ENCRYPTED,)
