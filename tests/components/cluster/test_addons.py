"""EKS add-ons: selection, phase, version, permissions."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws
import pytest

from components.cluster.addons import Phase, chosen, key_of
from spec.catalog import addons as catalog
from spec.settings.cluster import Addon, AddonName
from tests.components.cluster.support import CONTROL_PLANE, record_cluster
from tests.support.mocks import Recording, Registered

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


def test_disabling_an_add_on_changes_no_other() -> None:
    before, after = record_cluster(), record_cluster(addons={"aws-fsx-csi-driver": {"enabled": False}})
    gone = {before.resources[urn].name for urn in before.resources.keys() - after.resources.keys()}
    assert gone == {"addons-late-fsx-csi", "addons-late-role-fsx-csi", "addons-late-role-fsx-csi-policy"}
    assert all(resource.inputs == before.resources[urn].inputs for urn, resource in after.resources.items())


def test_conflicts_are_overwritten_on_create_and_preserved_on_update() -> None:
    for addon in _addons().values():
        assert addon.inputs["resolveConflictsOnCreate"] == "OVERWRITE"
        assert addon.inputs["resolveConflictsOnUpdate"] == "PRESERVE"


def test_the_network_add_on_has_prefixes_and_network_policy() -> None:
    values = json.loads(_addons()["addons-vpc-cni"].inputs["configurationValues"])
    assert values == {
        "enableNetworkPolicy": "true",
        "env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"},
    }


def test_the_monitoring_agent_does_not_report_gpus_by_default() -> None:
    """It reports healthy GPUs as broken, and node repair terminates their nodes."""
    values = json.loads(_addons()["addons-node-monitoring-agent"].inputs["configurationValues"])
    assert values == {"nodeAgent": {"monitors": {"nvidia": {"enabled": False}}}}


def test_where_gpus_are_repaired_dcgm_runs_on_tainted_nodes() -> None:
    values = json.loads(_addons(repairGpus=True)["addons-node-monitoring-agent"].inputs["configurationValues"])
    assert values == {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}


def test_volumes_have_the_platforms_tags() -> None:
    values = json.loads(_addons()["addons-late-ebs-csi"].inputs["configurationValues"])
    assert values == {"controller": {"extraVolumeTags": {"environment": "test", "owner": "ml-platform"}}}


def test_buckets_can_be_mounted_on_tainted_nodes() -> None:
    values = json.loads(_addons()["addons-late-s3-csi"].inputs["configurationValues"])
    assert values == {"node": {"tolerateAllTaints": True}}


def test_an_add_on_with_default_configuration_has_no_values() -> None:
    assert "configurationValues" not in _addons()["addons-late-coredns"].inputs


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


def test_a_further_service_account_has_a_role_of_its_own() -> None:
    recording = record_cluster(more_roles={AddonName.EFS_CSI: {"efs-csi-node-sa": "mounts"}})
    addon = recording.of(aws.eks.Addon)["addons-late-efs-csi"]
    roles = {one["serviceAccount"]: one["roleArn"] for one in addon.inputs["podIdentityAssociations"]}
    assert roles == {
        "efs-csi-controller-sa": recording.of(aws.iam.Role)["addons-late-role-efs-csi"].outputs["arn"],
        "efs-csi-node-sa": "arn:aws:iam::111122223333:role/mounts",
    }
    assert set(roles) == set(catalog.get("aws-efs-csi-driver").service_accounts)


@pytest.mark.parametrize(
    ("addon", "role"),
    [
        ("addons-vpc-cni", "addons-role-vpc-cni"),
        ("addons-late-ebs-csi", "addons-late-role-ebs-csi"),
        ("addons-late-fsx-csi", "addons-late-role-fsx-csi"),
    ],
)
def test_an_add_on_depends_on_the_policy_of_its_role(addon: str, role: str) -> None:
    recording = record_cluster()
    (policy,) = _policies(recording, recording.of(aws.iam.Role)[role])
    assert recording.waits(recording.of(aws.eks.Addon)[addon], policy)


def test_add_ons_are_deleted_with_their_cluster() -> None:
    recording = record_cluster()
    cluster = recording.of(aws.eks.Cluster)[CONTROL_PLANE]
    assert {addon.deleted_with for addon in recording.of(aws.eks.Addon).values()} == {cluster.urn}


def test_without_buckets_the_s3_driver_has_no_permissions() -> None:
    assert "podIdentityAssociations" not in _addons()["addons-late-s3-csi"].inputs


def test_a_first_preview_declares_the_same_resources() -> None:
    assert {resource.urn for resource in record_cluster(preview=True)} == {
        resource.urn for resource in record_cluster()
    }


def test_every_resource_has_an_explicit_provider() -> None:
    assert record_cluster().default_provider_users == ()


@pytest.mark.parametrize(
    ("addon", "key"), [("aws-ebs-csi-driver", "ebs-csi"), ("eks-pod-identity-agent", "pod-identity-agent")]
)
def test_keys_are_short_and_kebab_case(addon: str, key: str) -> None:
    assert key_of(AddonName(addon)) == key


def test_the_order_in_the_settings_is_irrelevant() -> None:
    off = Addon.model_validate({"enabled": False})
    one = {AddonName.FSX_CSI: off, AddonName.EFS_CSI: off}
    assert chosen(Phase.AFTER_NODES, one) == chosen(Phase.AFTER_NODES, dict(reversed(one.items())))


def _policies(recording: Recording, role: Registered) -> list[Registered]:
    kinds = (aws.iam.RolePolicy, aws.iam.RolePolicyAttachment)
    policies = [policy for kind in kinds for policy in recording.of(kind).values()]
    return [policy for policy in policies if policy.inputs["role"] == role.outputs["name"]]
