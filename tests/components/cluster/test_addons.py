"""EKS add-ons: selection, phase, version, permissions."""

import json
from typing import Any

import pulumi_aws as aws
import pytest

from components.base.iam import Inline, Managed
from components.cluster.addons import Phase, Scope, chosen, key_of, permissions
from spec.catalog import addons as catalog
from spec.settings.cluster import Addon, AddonName
from tests.components.cluster.support import CONTROL_PLANE, record_cluster
from tests.support.mocks import Recording, Registered, statements
from tests.support.settings import cluster

EARLY = {"vpc-cni", "kube-proxy", "pod-identity-agent", "node-monitoring-agent"}
LATE = {"coredns", "metrics-server", "ebs-csi", "efs-csi", "fsx-csi", "s3-csi"}


def _addons(**more: Any) -> dict[str, Registered]:
    return record_cluster(**more).of(aws.eks.Addon)


def test_every_add_on_of_the_settings_is_in_the_catalog_and_in_one_set() -> None:
    both = [name for phase in Phase for name in chosen(phase, {})]
    assert sorted(both) == sorted(AddonName)


def test_sets_are_split_by_whether_an_add_on_needs_nodes() -> None:
    assert set(_addons()) == {*(f"addons-{key}" for key in EARLY), *(f"addons-late-{key}" for key in LATE)}


def test_nodes_depend_only_on_add_ons_that_they_need() -> None:
    recording = record_cluster()
    nodes, addons = recording.one(aws.eks.NodeGroup), recording.of(aws.eks.Addon)
    waited = {name for name, addon in addons.items() if recording.waits(nodes, addon)}
    assert waited == {"addons-vpc-cni", "addons-kube-proxy", "addons-pod-identity-agent"}
    assert set(recording.returned["cni"]) == {addons[name].urn for name in waited}


def test_only_add_ons_with_deployments_depend_on_nodes() -> None:
    recording = record_cluster()
    nodes, addons = recording.one(aws.eks.NodeGroup), recording.of(aws.eks.Addon)
    assert {name for name, addon in addons.items() if recording.waits(addon, nodes)} == {
        f"addons-late-{key}" for key in LATE
    }


def test_versions_come_from_settings_or_catalog_or_awss_default() -> None:
    addons = _addons(version="1.34", addons={"coredns": {"version": "v1.12.4-eksbuild.99"}})
    assert addons["addons-late-coredns"].inputs["addonVersion"] == "v1.12.4-eksbuild.99"
    assert addons["addons-vpc-cni"].inputs["addonVersion"] == catalog.get("vpc-cni").version("1.34")
    assert catalog.get("eks-node-monitoring-agent").version("1.34") is None
    assert "addonVersion" not in addons["addons-node-monitoring-agent"].inputs


AGENT = "eks-node-monitoring-agent"


@pytest.mark.parametrize(
    ("given", "repaired"),
    [
        ({"version": "1.36"}, True),
        ({"version": "1.35"}, False),
        ({"version": "1.35", "addons": {AGENT: {"version": "v1.6.7-eksbuild.1"}}}, False),
        ({"version": "1.36", "addons": {AGENT: {"version": "v1.7.0-eksbuild.1"}}}, False),
        ({"version": "1.36", "addons": {AGENT: {"enabled": False}}}, False),
        ({"version": "1.36", "repairGpus": False}, False),
        ({"version": "1.35", "repairGpus": True}, True),
        ({"version": "1.36", "existing": {"name": "theirs"}, "addons": {AGENT: {}}}, False),
    ],
)
def test_gpus_are_repaired_where_the_agent_reports_no_healthy_ones(given: dict[str, Any], *, repaired: bool) -> None:
    assert cluster(**given).repairs_gpus is repaired


def test_disabling_an_add_on_changes_no_other() -> None:
    before, after = record_cluster(), record_cluster(addons={"aws-fsx-csi-driver": {"enabled": False}})
    gone = {before.resources[urn].name for urn in before.resources.keys() - after.resources.keys()}
    assert gone == {"addons-late-fsx-csi", "addons-late-role-fsx-csi", "addons-late-role-fsx-csi-policy"}
    assert all(resource.inputs == before.resources[urn].inputs for urn, resource in after.resources.items())


def test_conflicts_are_overwritten_on_create_and_preserved_on_update() -> None:
    for addon in _addons().values():
        assert addon.inputs["resolveConflictsOnCreate"] == "OVERWRITE"
        assert addon.inputs["resolveConflictsOnUpdate"] == "PRESERVE"


def test_each_add_on_that_calls_aws_has_its_own_role_with_one_policy() -> None:
    recording = record_cluster(buckets=("slipway-test-data-*",))
    callers = {key_of(AddonName(name)) for name, facts in catalog.ADDONS.items() if facts.calls_aws}
    roles = {name: role for name, role in recording.of(aws.iam.Role).items() if name.startswith("addons")}
    assert {name.rpartition("role-")[2] for name in roles} == callers
    for role in roles.values():
        assert len(_policies(recording, role)) == 1


def test_an_association_binds_the_role_to_the_service_account_that_the_role_trusts() -> None:
    recording = record_cluster(buckets=("slipway-test-data-*",))
    cluster = recording.of(aws.eks.Cluster)[CONTROL_PLANE]
    bound = [addon for addon in recording.of(aws.eks.Addon).values() if "podIdentityAssociations" in addon.inputs]
    assert bound
    for addon in bound:
        (association,) = addon.inputs["podIdentityAssociations"]
        role = next(r for r in recording.of(aws.iam.Role).values() if r.outputs["arn"] == association["roleArn"])
        (trust,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
        assert trust["Condition"]["StringEquals"] == {
            "aws:RequestTag/eks-cluster-arn": [cluster.outputs["arn"]],
            "aws:RequestTag/kubernetes-namespace": ["kube-system"],
            "aws:RequestTag/kubernetes-service-account": [association["serviceAccount"]],
        }


def test_the_order_in_the_settings_is_irrelevant() -> None:
    off = Addon.model_validate({"enabled": False})
    one = {AddonName.FSX_CSI: off, AddonName.EFS_CSI: off}
    assert chosen(Phase.AFTER_NODES, one) == chosen(Phase.AFTER_NODES, dict(reversed(one.items())))


def _policies(recording: Recording, role: Registered) -> list[Registered]:
    kinds = (aws.iam.RolePolicy, aws.iam.RolePolicyAttachment)
    policies = [policy for kind in kinds for policy in recording.of(kind).values()]
    return [policy for policy in policies if policy.inputs["role"] == role.outputs["name"]]


SCOPE = Scope(partition="aws-us-gov", region="us-gov-west-1", account_id="111122223333", buckets=("team-a-data",))


def _statements(addon: AddonName) -> dict[str, dict[str, Any]]:
    policy = permissions(addon, SCOPE)
    assert isinstance(policy, Inline)
    assert isinstance(policy.document, str)
    return statements(policy.document)


@pytest.mark.parametrize(("addon", "policy"), [
    (AddonName.VPC_CNI, "AmazonEKS_CNI_Policy"),
    (AddonName.EBS_CSI, "AmazonEBSCSIDriverEKSClusterScopedPolicy"),
    (AddonName.EFS_CSI, "service-role/AmazonEFSCSIDriverPolicy"),
])  # fmt: skip
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
