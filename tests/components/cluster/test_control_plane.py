"""The control plane: private, encrypted, logged, protected, with explicit access only."""

import json

import pulumi_aws as aws

from tests.components.cluster.support import CONTROL_PLANE, record_control_plane
from tests.support.mocks import UNKNOWN
from tests.support.settings import CLUSTER_NAME


def test_networks_outside_the_vpc_reach_the_private_endpoint_before_anything_is_applied_in_the_cluster() -> None:
    recording = record_control_plane(clients={"corporate": "10.64.0.0/12", "runners": "10.0.200.0/24"})
    rules = recording.of(aws.vpc.SecurityGroupIngressRule)
    assert {(rule.inputs["cidrIpv4"], rule.inputs["fromPort"], rule.inputs["toPort"]) for rule in rules.values()} == {
        ("10.64.0.0/12", 443, 443),
        ("10.0.200.0/24", 443, 443),
    }
    assert {rule.inputs["securityGroupId"] for rule in rules.values()} == {recording.returned["group"]}
    assert {rule.urn for rule in rules.values()} <= set(recording.returned["access"])


def test_the_cluster_waits_for_its_log_group() -> None:
    recording = record_control_plane()
    cluster, group = recording.of(aws.eks.Cluster)[CONTROL_PLANE], recording.one(aws.cloudwatch.LogGroup)
    assert recording.waits(cluster, group)


def test_the_cluster_depends_on_the_policy_of_its_role() -> None:
    recording = record_control_plane()
    attachment = recording.one(aws.iam.RolePolicyAttachment)
    assert attachment.inputs["policyArn"] == "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    assert recording.waits(recording.of(aws.eks.Cluster)[CONTROL_PLANE], attachment)
    (trust,) = json.loads(recording.one(aws.iam.Role).inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": ["eks.amazonaws.com"]}


def test_cluster_key_and_logs_are_protected_only_if_configured() -> None:
    assert record_control_plane().protected == set()
    assert record_control_plane(protect=True).protected == {CONTROL_PLANE, "cluster-key", "cluster-logs"}


def test_adding_a_zone_does_not_change_the_cluster() -> None:
    cluster = record_control_plane(letters="abc").of(aws.eks.Cluster)[CONTROL_PLANE]
    assert cluster.inputs["vpcConfig"]["subnetIds"] == ["subnet-private-a", "subnet-private-b", "subnet-private-c"]
    assert cluster.ignore_changes == ("vpcConfig.subnetIds",)


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
