"""Karpenter in the cluster: releases, role, and dependencies."""

from __future__ import annotations

import json

import pulumi_aws as aws
import pytest
from pulumi_kubernetes.helm.v3 import Release

from tests.components.pools.samples import record_fleet
from tests.support.mocks import Recording


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet({"cpu": {"preset": "cpu"}})


def test_crds_have_their_own_release_which_comes_first(recording: Recording) -> None:
    releases = recording.of(Release)
    assert releases["karpenter-crd"].inputs["chart"] == "oci://public.ecr.aws/karpenter/karpenter-crd"
    assert releases["karpenter-release"].inputs["skipCrds"] is True
    assert recording.waits(releases["karpenter-release"], releases["karpenter-crd"])


def test_both_releases_are_in_kube_system_with_upstreams_names(recording: Recording) -> None:
    releases = recording.of(Release)
    assert {releases[name].inputs["namespace"] for name in ("karpenter-crd", "karpenter-release")} == {"kube-system"}
    assert releases["karpenter-release"].inputs["name"] == "karpenter"


def test_the_controller_depends_on_its_permissions(recording: Recording) -> None:
    release = recording.of(Release)["karpenter-release"]
    for before in (
        recording.of(aws.eks.PodIdentityAssociation)["karpenter-association"],
        recording.of(aws.iam.RolePolicy)["karpenter-controller-policy"],
        recording.one(aws.sqs.Queue),
    ):
        assert recording.waits(release, before)


def test_the_values_name_the_interruption_queue(recording: Recording) -> None:
    release = recording.of(Release)["karpenter-release"]
    assert recording.one(aws.sqs.Queue).urn in release.input_sources["values"]
    assert release.inputs["values"]["settings"]["clusterName"] == "slipway-test"


def test_the_role_is_for_one_service_account_of_one_cluster(recording: Recording) -> None:
    association = recording.of(aws.eks.PodIdentityAssociation)["karpenter-association"].inputs
    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "karpenter")
    trust = recording.of(aws.iam.Role)["karpenter-controller"].inputs["assumeRolePolicy"]
    (statement,) = json.loads(trust)["Statement"]
    assert statement["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] == ["karpenter"]


def test_the_policy_names_the_role_of_its_nodes_and_its_queue(recording: Recording) -> None:
    policy = recording.of(aws.iam.RolePolicy)["karpenter-controller-policy"]
    nodes = recording.of(aws.iam.Role)["karpenter-nodes-role"]
    assert {nodes.urn, recording.one(aws.sqs.Queue).urn} <= set(policy.input_sources["policy"])
