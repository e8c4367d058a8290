"""Flow logs: with retention, encrypted, written by a role with no other permissions."""

from __future__ import annotations

import json

import pulumi_aws as aws

from tests.components.network.test_network import record

GROUP = "arn:aws:logs:us-east-1:111122223333:log-group:/aws/vpc/slipway-test/flow-logs"


def test_flow_logs_depend_on_a_log_group_with_retention_and_key() -> None:
    recording = record(flowLogs={"retentionDays": 7, "trafficType": "REJECT"})
    group, log = recording.one(aws.cloudwatch.LogGroup), recording.one(aws.ec2.FlowLog)
    assert recording.waits(log, group)
    assert group.inputs["retentionInDays"] == 7
    assert group.input_sources["kmsKeyId"] == (recording.one(aws.kms.Key).urn,)
    assert log.inputs["trafficType"] == "REJECT"
    assert log.input_sources["vpcId"] == (recording.one(aws.ec2.Vpc).urn,)


def test_the_role_can_write_only_to_this_log_group() -> None:
    recording = record()
    write, find = json.loads(recording.one(aws.iam.RolePolicy).inputs["policy"])["Statement"]
    assert write["Action"] == ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    assert write["Resource"] == [f"{GROUP}:*"]
    assert find["Action"] == ["logs:DescribeLogGroups"]
    assert recording.waits(recording.one(aws.ec2.FlowLog), recording.one(aws.iam.RolePolicy))


def test_only_flow_logs_of_this_account_can_assume_the_role() -> None:
    (trust,) = json.loads(record().one(aws.iam.Role).inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": ["vpc-flow-logs.amazonaws.com"]}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": ["111122223333"]},
        "ArnLike": {"aws:SourceArn": ["arn:aws:ec2:us-east-1:111122223333:vpc-flow-log/*"]},
    }


def test_the_key_rotates_and_is_used_only_by_this_log_group() -> None:
    key = record().one(aws.kms.Key)
    assert key.inputs["enableKeyRotation"] is True
    administration, encryption = json.loads(key.inputs["policy"])["Statement"]
    assert administration["Principal"] == {"AWS": ["arn:aws:iam::111122223333:root"]}
    assert encryption["Principal"] == {"Service": ["logs.us-east-1.amazonaws.com"]}
    assert encryption["Condition"] == {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": [GROUP]}}


def test_without_flow_logs_there_is_no_role_key_or_log_group() -> None:
    recording = record(flowLogs={"enabled": False})
    for kind in (aws.ec2.FlowLog, aws.iam.Role, aws.kms.Key, aws.cloudwatch.LogGroup):
        assert not recording.of(kind)
