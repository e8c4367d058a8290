"""IAM documents: deterministic text, narrow trust, one policy per role."""

import json

import pulumi
import pulumi_aws as aws
import pytest

from components.base.iam import (
    Inline,
    Managed,
    Statement,
    account_administration,
    document,
    log_encryption,
    pod_identity_role,
    pod_identity_trust,
    service_trust,
)
from tests.support.mocks import Recording, providers, run

CLUSTER = "arn:aws:eks:us-east-1:111122223333:cluster/slipway-test"


def test_equal_permissions_have_equal_documents() -> None:
    one = Statement(sid="Read", actions=["s3:ListBucket", "s3:GetObject"], resources=["b", "a"])
    other = Statement(sid="Read", actions=["s3:GetObject", "s3:ListBucket"], resources=["a", "b"])
    assert document(one) == document(other)


def test_a_document_is_compact_sorted_json() -> None:
    statement = Statement(
        sid="Deny",
        effect="Deny",
        actions=["kms:Decrypt"],
        resources=["*"],
        conditions={"StringNotEquals": {"aws:SourceAccount": ["2", "1"]}},
    )
    assert document(statement) == (
        '{"Statement":[{"Action":["kms:Decrypt"],"Condition":{"StringNotEquals":{"aws:SourceAccount":["1","2"]}},'
        '"Effect":"Deny","Resource":["*"],"Sid":"Deny"}],"Version":"2012-10-17"}'
    )


def test_statements_keep_their_order() -> None:
    first, second = Statement(sid="B", actions=["x"]), Statement(sid="A", actions=["y"])
    assert [part["Sid"] for part in json.loads(document(first, second))["Statement"]] == ["B", "A"]


def test_a_pod_identity_role_trusts_one_service_account_of_one_cluster() -> None:
    (statement,) = json.loads(pod_identity_trust(CLUSTER, "kube-system", "aws-node"))["Statement"]
    assert statement["Principal"] == {"Service": ["pods.eks.amazonaws.com"]}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/eks-cluster-arn": [CLUSTER],
            "aws:RequestTag/kubernetes-namespace": ["kube-system"],
            "aws:RequestTag/kubernetes-service-account": ["aws-node"],
        }
    }


def test_a_service_may_only_assume_the_role() -> None:
    (statement,) = json.loads(service_trust("FlowLogs", "vpc-flow-logs.amazonaws.com"))["Statement"]
    assert statement == {
        "Action": ["sts:AssumeRole"],
        "Effect": "Allow",
        "Principal": {"Service": ["vpc-flow-logs.amazonaws.com"]},
        "Sid": "FlowLogs",
    }


def test_key_statements_have_specific_principals() -> None:
    statements = (
        account_administration("aws-us-gov", "111122223333"),
        log_encryption("logs.us-east-1.amazonaws.com", "arn:aws:logs:us-east-1:111122223333:log-group:/a"),
    )
    administration, encryption = (statement.render() for statement in statements)
    assert administration["Principal"] == {"AWS": ["arn:aws-us-gov:iam::111122223333:root"]}
    assert encryption["Principal"] == {"Service": ["logs.us-east-1.amazonaws.com"]}
    assert encryption["Condition"]["ArnLike"] == {
        "kms:EncryptionContext:aws:logs:arn": ["arn:aws:logs:us-east-1:111122223333:log-group:/a"]
    }


class _Owner(pulumi.ComponentResource):
    def __init__(self, policy: Managed | Inline) -> None:
        super().__init__("slipway:test:Owner", "it", None, pulumi.ResourceOptions(providers=providers()))
        role = pod_identity_role(
            "it-role",
            cluster_arn=CLUSTER,
            namespace="kube-system",
            service_account="aws-node",
            policy=policy,
            parent=self,
        )
        self.arn, self.ready = role.arn, role.ready
        self.register_outputs({})


def _role(policy: Managed | Inline) -> Recording:
    return run(lambda: _Owner(policy).arn)


@pytest.mark.parametrize(
    ("policy", "kind", "other"),
    [
        (Managed(arn="arn:aws:iam::aws:policy/X"), aws.iam.RolePolicyAttachment, aws.iam.RolePolicy),
        (Inline(document="{}"), aws.iam.RolePolicy, aws.iam.RolePolicyAttachment),
    ],
)
def test_a_role_has_exactly_one_policy(
    policy: Managed | Inline, kind: type[pulumi.Resource], other: type[pulumi.Resource]
) -> None:
    recording = _role(policy)
    assert set(recording.of(kind)) == {"it-role-policy"}
    assert not recording.of(other)
    assert recording.one(kind).inputs["role"] == recording.one(aws.iam.Role).outputs["name"]
    assert recording.default_provider_users == ()
