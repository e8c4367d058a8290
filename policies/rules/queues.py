"""Queues and topics: encrypted, and not for everybody to write to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.documents import Statement, statements
from policies.fixtures import Fixture, one
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, Problem, ResourceRule, problem
from policies.tokens import QUEUE, QUEUE_POLICY, TOPIC, TOPIC_POLICY

_STORES: Final = (QUEUE, TOPIC)
_NARROW: Final = (
    "aws:sourcearn",
    "aws:sourceaccount",
    "aws:principalorgid",
    "aws:principalarn",
    "aws:principalaccount",
)


def _plain(store: Resource, _: Context) -> Iterator[Problem]:
    """SQS encrypts with a key of its own only where `sqsManagedSseEnabled` is not switched off."""
    off = store["sqsManagedSseEnabled"].is_false(default=True) or store.type == TOPIC
    if store.type in _STORES and store["kmsMasterKeyId"].missing and off:
        yield problem(store["kmsMasterKeyId"])


def _aws_key(store: Resource, _: Context) -> Iterator[Problem]:
    key = store["kmsMasterKeyId"]
    managed = store.type == QUEUE and store["sqsManagedSseEnabled"].is_true(default=True) and key.missing
    if store.type in _STORES and (managed or str(key.raw).startswith("alias/aws/")):
        yield problem(key)


def _allowing(policy: Resource) -> Iterator[Statement]:
    return (statement for statement in statements(policy["policy"]) if statement.allows)


def _everything(policy: Resource, _: Context) -> Iterator[Problem]:
    for statement in _allowing(policy):
        if {"*", "sqs:*", "sns:*"}.intersection(statement.actions):
            yield problem(policy["policy"], "allowing every action")


def _everybody(policy: Resource, _: Context) -> Iterator[Problem]:
    for statement in _allowing(policy):
        public = any(who.raw == "*" for who in statement.principals("AWS"))
        narrow = statement.node["Condition"].unknown or any(key in statement.conditions for key in _NARROW)
        if public and not narrow:
            yield problem(policy["policy"], "for the principal '*' without a condition on who that is")


def _other_accounts(policy: Resource, _: Context) -> Iterator[Problem]:
    """The topic's own ARN says whose it is; unknown until it is made, so that an update judges what a preview can't."""
    arn = policy["arn"].text() if policy.type == TOPIC_POLICY else None
    account = arn.split(":")[4] if arn and arn.count(":") >= 5 else None
    for statement in _allowing(policy) if account else ():
        foreign_principals = [
            who for who in statement.principals("AWS") if who.raw != "*" and str(account) not in str(who.raw)
        ]
        if any(who.known for who in foreign_principals):
            yield problem(policy["policy"], f"for {foreign_principals[0].raw}")


_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d"
_ARN: Final = "arn:aws:sqs:us-east-1:111122223333:news"
_TOPIC_ARN: Final = "arn:aws:sns:us-east-1:111122223333:alerts"


def _policy(action: Any, principal: Any, type_: str = QUEUE_POLICY, **more: Any) -> Fixture:
    statement = {"Effect": "Allow", "Action": action, "Principal": principal, "Resource": _ARN, **more}
    return one({"policy": json.dumps({"Statement": [statement]}), "arn": _TOPIC_ARN}, type=type_)


_EVENTS: Final = {"Service": "events.amazonaws.com"}
_TLS: Final = {"Bool": {"aws:SecureTransport": "false"}}

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
            bad=(one({"sqsManagedSseEnabled": False}), one({}, type=TOPIC)),
        ),
        "key": Check(
            asks="must be a key of the stack's own",
            find=_aws_key,
            external_ids=("CKV2_AWS_73", "AVD-AWS-0135", "AVD-AWS-0136"),
            bad=(
                one({"sqsManagedSseEnabled": True}),
                one({}),
                one({"kmsMasterKeyId": "alias/aws/sqs"}),
                one({"kmsMasterKeyId": "alias/aws/sns"}, type=TOPIC),
            ),
        ),
        "actions": Check(
            asks="must name the actions that it allows",
            find=_everything,
            external_ids=("CKV_AWS_72", "AVD-AWS-0097"),
            bad=(
                _policy("sqs:*", _EVENTS),
                _policy(["*"], _EVENTS),
                one(
                    {
                        "kmsMasterKeyId": _KEY,
                        "policy": json.dumps({"Statement": {"Effect": "Allow", "Action": "sqs:*"}}),
                    }
                ),
            ),
        ),
        "principal": Check(
            asks="must name who is allowed",
            find=_everybody,
            external_ids=("CKV_AWS_168", "CKV_AWS_169", "CKV_AWS_387"),
            bad=(
                _policy("sqs:SendMessage", "*"),
                _policy("sqs:SendMessage", {"AWS": ["*"]}, Condition=_TLS),
                _policy("sns:Publish", {"AWS": "*"}, TOPIC_POLICY),
            ),
        ),
        "account": Check(
            asks="must be for principals of the topic's own account",
            find=_other_accounts,
            external_ids=("CKV_AWS_385",),
            bad=(_policy("sns:Publish", {"AWS": "arn:aws:iam::999988887777:root"}, TOPIC_POLICY),),
        ),
    },
    good=(
        one({"kmsMasterKeyId": _KEY}),
        one({"kmsMasterKeyId": _KEY}, type=TOPIC),
        _policy("sqs:SendMessage", _EVENTS),
        _policy("sqs:*", "*", Effect="Deny", Condition=_TLS),
        _policy(
            "sqs:SendMessage", "*", Condition={"ArnLike": {"aws:SourceArn": "arn:aws:events:*:111122223333:rule/*"}}
        ),
        _policy("sns:Publish", {"AWS": "arn:aws:iam::111122223333:role/alerts"}, TOPIC_POLICY),
    ),
)

RULES = (QUEUES_ENCRYPTED,)
