"""Permissions of EKS add-ons: AWS's narrowest managed policy, or a narrower inline document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.base.iam import Inline, Managed
from components.cluster.addon_permissions import Scope, permissions
from spec.settings.cluster import AddonName

SCOPE = Scope(partition="aws-us-gov", region="us-gov-west-1", account_id="111122223333", buckets=("team-a-data",))


def _statements(addon: AddonName) -> dict[str, dict[str, Any]]:
    policy = permissions(addon, SCOPE)
    assert isinstance(policy, Inline)
    assert isinstance(policy.document, str)
    return {statement["Sid"]: statement for statement in json.loads(policy.document)["Statement"]}


@pytest.mark.parametrize(
    ("addon", "policy"),
    [
        (AddonName.VPC_CNI, "AmazonEKS_CNI_Policy"),
        (AddonName.EBS_CSI, "AmazonEBSCSIDriverEKSClusterScopedPolicy"),
        (AddonName.EFS_CSI, "service-role/AmazonEFSCSIDriverPolicy"),
    ],
)
def test_aws_managed_policies_are_of_the_partition(addon: AddonName, policy: str) -> None:
    assert permissions(addon, SCOPE) == Managed(arn=f"arn:aws-us-gov:iam::aws:policy/{policy}")


@pytest.mark.parametrize(
    "addon", [AddonName.KUBE_PROXY, AddonName.POD_IDENTITY_AGENT, AddonName.COREDNS, AddonName.METRICS_SERVER]
)
def test_an_add_on_that_does_not_call_aws_has_no_permissions(addon: AddonName) -> None:
    assert permissions(addon, SCOPE) is None


def test_the_fsx_driver_can_delete_only_its_own_file_systems() -> None:
    statements = _statements(AddonName.FSX_CSI)
    change = statements["ChangeOwn"]
    assert change["Action"] == ["fsx:DeleteFileSystem", "fsx:UpdateFileSystem"]
    assert change["Condition"] == {"Null": {"aws:ResourceTag/CSIVolumeName": ["false"]}}
    assert change["Resource"] == ["arn:aws-us-gov:fsx:us-gov-west-1:111122223333:file-system/*"]


def test_every_write_permission_of_the_fsx_driver_has_a_condition() -> None:
    open_to_all = [s for s in _statements(AddonName.FSX_CSI).values() if "Condition" not in s]
    assert [s["Action"] for s in open_to_all] == [["fsx:DescribeFileSystems"]]


def test_the_s3_driver_has_access_only_to_the_named_buckets_of_this_account() -> None:
    statements = _statements(AddonName.S3_CSI)
    assert statements["List"]["Resource"] == ["arn:aws-us-gov:s3:::team-a-data"]
    assert statements["Read"]["Resource"] == ["arn:aws-us-gov:s3:::team-a-data/*"]
    for statement in statements.values():
        assert statement["Condition"] == {"StringEquals": {"aws:ResourceAccount": ["111122223333"]}}


def test_the_s3_driver_only_reads() -> None:
    actions = [action for statement in _statements(AddonName.S3_CSI).values() for action in statement["Action"]]
    assert sorted(actions) == ["s3:GetObject", "s3:ListBucket"]


def test_no_statement_allows_every_action() -> None:
    for addon in (AddonName.FSX_CSI, AddonName.S3_CSI):
        actions = [action for statement in _statements(addon).values() for action in statement["Action"]]
        assert not any("*" in action for action in actions)
