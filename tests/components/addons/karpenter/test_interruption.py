"""Karpenter's interruption queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi_aws as aws
import pytest

from components.addons.karpenter.interruption import EVENTS, event_pattern, queue_policy
from spec.settings.checks import names
from tests.components.pools.samples import record_fleet
from tests.support.mocks import Recording

QUEUE = "arn:aws:sqs:us-east-1:111122223333:queue"
RULES = "arn:aws:events:us-east-1:111122223333:rule/*"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet({"cpu": {"preset": "cpu"}})


def statements() -> dict[str, Any]:
    body = json.loads(queue_policy(QUEUE, RULES))
    return {statement["Sid"]: statement for statement in body["Statement"]}


def test_only_event_rules_of_this_account_send_messages() -> None:
    statement = statements()["EventsWrite"]
    assert statement["Action"] == ["sqs:SendMessage"]
    assert statement["Principal"] == {"Service": ["events.amazonaws.com"]}
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": [RULES]}}


def test_requests_without_tls_are_denied() -> None:
    statement = statements()["TlsOnly"]
    assert (statement["Effect"], statement["Action"]) == ("Deny", ["sqs:*"])
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": ["false"]}}


def test_messages_are_encrypted_and_have_a_short_retention(recording: Recording) -> None:
    queue = recording.one(aws.sqs.Queue)
    assert queue.inputs["sqsManagedSseEnabled"] is True
    assert queue.inputs["messageRetentionSeconds"] == 300


def test_every_kind_of_event_reaches_the_queue(recording: Recording) -> None:
    rules = recording.of(aws.cloudwatch.EventRule)
    targets = recording.of(aws.cloudwatch.EventTarget)
    assert sorted(rules) == sorted(f"karpenter-{key}" for key in EVENTS)
    for key, event in EVENTS.items():
        rule, target = rules[f"karpenter-{key}"], targets[f"karpenter-{key}-target"]
        assert json.loads(rule.inputs["eventPattern"]) == {"source": [event.source], "detail-type": [event.detail_type]}
        assert target.input_sources["rule"] == (rule.urn,)
        assert target.input_sources["arn"] == (recording.one(aws.sqs.Queue).urn,)


def test_event_patterns_are_deterministic() -> None:
    assert event_pattern(EVENTS["spot"]) == (
        '{"detail-type": ["EC2 Spot Instance Interruption Warning"], "source": ["aws.ec2"]}'
    )


def test_the_longest_rule_name_is_the_one_that_limits_stack_names() -> None:
    assert max((f"karpenter-{key}" for key in EVENTS), key=len) == names.LONGEST["event-rule"]


def test_events_are_those_of_upstreams_template(shared: Path) -> None:
    text = (shared / "charts/karpenter/controller-iam-cloudformation.yaml").read_text()
    assert all(f"- {event.detail_type}\n" in text and f"- {event.source}\n" in text for event in EVENTS.values())
    assert text.count("AWS::Events::Rule") == len(EVENTS)
