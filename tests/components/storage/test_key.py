"""The KMS key of the data: access and protection."""

from __future__ import annotations

import json

import pulumi_aws as aws

from components.storage.key import key_policy
from components.storage.permissions import data_key_use, key_alias, volume_key_use
from spec.catalog import regions
from tests.components.storage.support import record, statements

PLACE = {"cluster": "slipway-test", "region": "us-east-1", "account_id": "111122223333"}


def test_it_rotates_and_is_protected_and_retained_with_its_data() -> None:
    key = record({"environment.protect": True, "storage.keyDeletionDays": 12}).one(aws.kms.Key)
    assert key.inputs["enableKeyRotation"] is True
    assert key.inputs["deletionWindowInDays"] == 12
    assert (key.protect, key.retain_on_delete) == (True, True)


def test_without_lustre_only_volumes_have_a_statement_of_their_own() -> None:
    by_sid = statements(key_policy(regions.get("us-east-1"), "111122223333", lustre=False))
    assert list(by_sid) == ["AccountAdministration", "Volumes"]


def test_volumes_are_encrypted_only_through_ec2_by_principals_of_the_account() -> None:
    by_sid = statements(key_policy(regions.get("us-gov-west-1"), "111122223333", lustre=False))["Volumes"]
    assert by_sid["Condition"] == {
        "StringEquals": {
            "kms:CallerAccount": ["111122223333"],
            "kms:ViaService": ["ec2.us-gov-west-1.amazonaws.com"],
        }
    }
    assert "kms:CreateGrant" in by_sid["Action"]
    assert "kms:*" not in by_sid["Action"]


def test_conditions_select_only_the_roles_of_lustre() -> None:
    by_sid = statements(key_policy(regions.get("us-gov-west-1"), "111122223333", lustre=True))["LustreLinks"]
    (role,) = by_sid["Condition"]["ArnLike"]["aws:PrincipalArn"]
    assert role.startswith("arn:aws-us-gov:iam::111122223333:role/aws-service-role/s3.data-source.lustre.fsx.")
    assert by_sid["Condition"]["StringEquals"] == {
        "kms:CallerAccount": ["111122223333"],
        "kms:ViaService": ["s3.us-gov-west-1.amazonaws.com"],
    }
    assert not any("CreateGrant" in action or action == "kms:*" for action in by_sid["Action"])


def test_statements_select_the_key_by_alias_and_one_service() -> None:
    alias = record().one(aws.kms.Alias)
    assert alias.inputs["name"] == key_alias("slipway-test")
    statement = data_key_use(**PLACE).render()
    assert statement["Condition"] == {
        "ForAnyValue:StringEquals": {"kms:ResourceAliases": [alias.inputs["name"]]},
        "StringEquals": {"kms:ViaService": ["s3.us-east-1.amazonaws.com"]},
    }


def test_grants_are_only_for_the_service() -> None:
    use, grant = (statement.render() for statement in volume_key_use("ec2", **PLACE))
    assert grant["Action"] == ["kms:CreateGrant"]
    assert grant["Condition"]["Bool"] == {"kms:GrantIsForAWSResource": ["true"]}
    assert "kms:CreateGrant" not in use["Action"]
    assert json.dumps(grant["Condition"]).count("ec2.us-east-1.amazonaws.com") == 1
