"""The control plane: private, encrypted, logged, protected, with explicit access only."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws
import pytest

from tests.components.cluster.support import CONTROL_PLANE, record_control_plane
from tests.support.mocks import UNKNOWN
from tests.support.settings import CLUSTER_NAME

GROUP = f"arn:aws:logs:us-east-1:111122223333:log-group:/aws/eks/{CLUSTER_NAME}/cluster"


def _inputs(**more: Any) -> dict[str, Any]:
    return dict(record_control_plane(**more).of(aws.eks.Cluster)[CONTROL_PLANE].inputs)


def test_the_api_endpoint_is_private_by_default() -> None:
    config = _inputs()["vpcConfig"]
    assert config["endpointPrivateAccess"] is True
    assert config["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in config


def test_a_public_endpoint_allows_only_the_listed_cidrs() -> None:
    config = _inputs(endpoint={"publicAccess": True, "publicAccessCidrs": ["203.0.113.0/24", "198.51.100.0/24"]})[
        "vpcConfig"
    ]
    assert config["endpointPublicAccess"] is True
    assert config["publicAccessCidrs"] == ["198.51.100.0/24", "203.0.113.0/24"]


def test_networks_outside_the_vpc_reach_the_private_endpoint_before_anything_is_applied_in_the_cluster() -> None:
    recording = record_control_plane(clients={"corporate": "10.64.0.0/12", "runners": "10.0.200.0/24"})
    rules = recording.of(aws.vpc.SecurityGroupIngressRule)
    assert {(rule.inputs["cidrIpv4"], rule.inputs["fromPort"], rule.inputs["toPort"]) for rule in rules.values()} == {
        ("10.64.0.0/12", 443, 443),
        ("10.0.200.0/24", 443, 443),
    }
    assert {rule.inputs["securityGroupId"] for rule in rules.values()} == {recording.returned["group"]}
    assert {rule.urn for rule in rules.values()} <= set(recording.returned["access"])


def test_the_creator_of_the_cluster_gets_no_access() -> None:
    assert _inputs()["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }


def test_secrets_are_encrypted_with_a_rotating_key_of_the_cluster() -> None:
    recording = record_control_plane(keyDeletionDays=7)
    cluster, key = recording.of(aws.eks.Cluster)[CONTROL_PLANE], recording.one(aws.kms.Key)
    assert cluster.inputs["encryptionConfig"] == {
        "provider": {"keyArn": key.outputs["arn"]},
        "resources": ["secrets"],
    }
    assert key.inputs["enableKeyRotation"] is True
    assert key.inputs["deletionWindowInDays"] == 7
    assert recording.one(aws.kms.Alias).inputs["name"] == f"alias/{CLUSTER_NAME}"


def test_the_key_is_managed_by_the_account_and_used_by_one_log_group() -> None:
    policy = json.loads(record_control_plane().one(aws.kms.Key).inputs["policy"])
    administration, encryption = policy["Statement"]
    assert administration["Principal"] == {"AWS": ["arn:aws:iam::111122223333:root"]}
    assert encryption["Condition"] == {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": [GROUP]}}


def test_all_logs_go_to_a_log_group_with_retention_and_key() -> None:
    recording = record_control_plane(logRetentionDays=365)
    cluster, group = recording.of(aws.eks.Cluster)[CONTROL_PLANE], recording.one(aws.cloudwatch.LogGroup)
    assert cluster.inputs["enabledClusterLogTypes"] == [
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    ]
    assert group.inputs["name"] == f"/aws/eks/{CLUSTER_NAME}/cluster"
    assert group.inputs["retentionInDays"] == 365
    assert group.inputs["kmsKeyId"] == recording.one(aws.kms.Key).outputs["arn"]
    assert recording.waits(cluster, group)


def test_the_cluster_depends_on_the_policy_of_its_role() -> None:
    recording = record_control_plane()
    attachment = recording.one(aws.iam.RolePolicyAttachment)
    assert attachment.inputs["policyArn"] == "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    assert recording.waits(recording.of(aws.eks.Cluster)[CONTROL_PLANE], attachment)
    (trust,) = json.loads(recording.one(aws.iam.Role).inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": ["eks.amazonaws.com"]}


@pytest.mark.parametrize("protection", [True, False])
def test_deletion_protection_is_as_configured(protection: bool) -> None:
    assert _inputs(deletionProtection=protection)["deletionProtection"] is protection


def test_cluster_key_and_logs_are_protected_only_if_configured() -> None:
    assert record_control_plane().protected == set()
    assert record_control_plane(protect=True).protected == {CONTROL_PLANE, "cluster-key", "cluster-logs"}


@pytest.mark.parametrize(("support", "expected"), [("standard", "STANDARD"), ("extended", "EXTENDED")])
def test_the_support_policy_is_as_configured(support: str, expected: str) -> None:
    assert _inputs(supportType=support)["upgradePolicy"] == {"supportType": expected}


def test_version_service_cidr_and_name_are_as_configured() -> None:
    inputs = _inputs(version="1.34", serviceIpv4Cidr="172.21.0.0/16")
    assert inputs["version"] == "1.34"
    assert inputs["kubernetesNetworkConfig"] == {"ipFamily": "ipv4", "serviceIpv4Cidr": "172.21.0.0/16"}
    assert inputs["name"] == CLUSTER_NAME
    assert inputs["bootstrapSelfManagedAddons"] is False


def test_adding_a_zone_does_not_change_the_cluster() -> None:
    cluster = record_control_plane(letters="abc").of(aws.eks.Cluster)[CONTROL_PLANE]
    assert cluster.inputs["vpcConfig"]["subnetIds"] == ["subnet-private-a", "subnet-private-b", "subnet-private-c"]
    assert cluster.ignore_changes == ("vpcConfig.subnetIds",)


def test_the_cluster_is_deleted_before_its_replacement() -> None:
    assert record_control_plane().of(aws.eks.Cluster)[CONTROL_PLANE].delete_before_replace is True


def test_outputs_have_the_values_from_aws() -> None:
    recording = record_control_plane()
    cluster, outputs = recording.of(aws.eks.Cluster)[CONTROL_PLANE], recording.returned
    assert outputs["arn"] == cluster.outputs["arn"] == f"arn:aws:eks:us-east-1:111122223333:cluster/{CLUSTER_NAME}"
    assert outputs["endpoint"] == cluster.outputs["endpoint"]
    assert outputs["group"] == cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    assert outputs["issuer"] == cluster.outputs["identities"][0]["oidcs"][0]["issuer"]
    config = json.loads(outputs["kubeconfig"])["clusters"][0]["cluster"]
    assert config == {"server": outputs["endpoint"], "certificate-authority-data": outputs["authority"]}


def test_there_is_an_oidc_provider_for_the_clusters_issuer() -> None:
    recording = record_control_plane()
    provider = recording.one(aws.iam.OpenIdConnectProvider)
    assert provider.inputs == {"url": recording.returned["issuer"], "clientIdLists": ["sts.amazonaws.com"]}
    assert recording.returned["oidc"] == provider.outputs["arn"]


def test_in_a_first_preview_only_settings_are_known() -> None:
    recording = record_control_plane(preview=True)
    outputs = recording.returned
    assert outputs["arn"] == f"arn:aws:eks:us-east-1:111122223333:cluster/{CLUSTER_NAME}"
    for key in ("endpoint", "authority", "kubeconfig", "group", "issuer", "oidc"):
        assert outputs[key] == UNKNOWN
    assert {resource.name for resource in recording} == {outputs.name for outputs in record_control_plane()}


def test_every_resource_has_an_explicit_provider_and_the_component_prefix() -> None:
    recording = record_control_plane()
    assert recording.default_provider_users == ()
    names = {resource.name for resource in recording} - {"aws", "kubernetes", "cluster"}
    assert all(name.startswith("cluster-") for name in names)
