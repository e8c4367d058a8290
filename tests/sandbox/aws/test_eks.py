"""What is specific to EKS: the cluster's security group and API server, and what AWS refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from sandbox.aws.client import AwsError
from sandbox.aws.client import World as Shared
from sandbox.aws.provider import ADDON, AwsProvider
from sandbox.errors import SandboxError
from sandbox.notes import Note, NoteKind, Notes, load_notes
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.fakes import FakeAddons, FakeClusters, FakeNodes, attached
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import PROCESSES

CLUSTER, NODE_GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"


@pytest.fixture
def clusters() -> FakeClusters:
    return FakeClusters()


@pytest.fixture
def nodes() -> FakeNodes:
    return FakeNodes()


@pytest.fixture
def here(world: World, clusters: FakeClusters, nodes: FakeNodes) -> Iterator[World]:
    """The module's account with the test's own ports."""
    with attached(world.aws.clients, clusters, nodes):
        yield world


def cluster(here: World, **more: Any) -> dict[str, Any]:
    return {**SAMPLES[CLUSTER].inputs(here), "name": here.unique("main"), **more}


def test_a_cluster_has_its_own_api_server_issuer_and_security_group(here: World, clusters: FakeClusters) -> None:
    inputs = cluster(here)
    id, outputs = here.objects(CLUSTER).create(inputs)
    assert outputs["endpoint"] == clusters.running[id].server
    assert outputs["certificateAuthority"] == {"data": "Y2E="}
    assert outputs["status"] == "ACTIVE"
    assert outputs["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "172.20.0.0/16"
    _, other = here.objects(CLUSTER).create(cluster(here))
    issuers = {made["identities"][0]["oidcs"][0]["issuer"] for made in (outputs, other)}
    assert len(issuers) == 2
    assert all(issuer.startswith("https://oidc.eks.us-west-2.amazonaws.com/id/") for issuer in issuers)
    group = outputs["vpcConfig"]["clusterSecurityGroupId"]
    found = here.aws.call("ec2", "describe_security_groups", GroupIds=[group])["SecurityGroups"][0]
    assert found["GroupName"].startswith(f"eks-cluster-sg-{id}-")
    assert found["VpcId"] == outputs["vpcConfig"]["vpcId"]
    assert found["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"] == group
    here.objects(CLUSTER).delete(id, outputs)
    assert id not in clusters.running
    with pytest.raises(AwsError, match="NotFound"):
        here.aws.call("ec2", "describe_security_groups", GroupIds=[group])


def test_of_a_cluster_whose_api_server_does_not_start_nothing_is_left(
    here: World, clusters: FakeClusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = cluster(here)
    broken = AwsError("create_cluster", "ServerException", "kube-apiserver exited")
    monkeypatch.setattr(clusters, "create", Mock(side_effect=broken))
    with pytest.raises(ProviderError, match="kube-apiserver exited"):
        here.objects(CLUSTER).create(inputs)
    monkeypatch.undo()
    _, outputs = here.objects(CLUSTER).create(inputs)
    assert outputs["endpoint"] == clusters.running[inputs["name"]].server


@pytest.mark.parametrize("noticed_by", ["refresh", "destroy"])
def test_a_cluster_that_is_deleted_through_eks_takes_its_api_server_with_it(
    noticed_by: str, here: World, clusters: FakeClusters
) -> None:
    inputs = cluster(here)
    lifecycle = here.objects(CLUSTER)
    id, outputs = lifecycle.create(inputs)
    here.aws.call("eks", "delete_cluster", name=id)
    if noticed_by == "refresh":
        assert lifecycle.read(id, outputs, inputs) is None
    else:
        lifecycle.delete(id, outputs)
    assert id not in clusters.running


def test_the_log_group_of_a_deleted_cluster_comes_back_once(here: World) -> None:
    """What makes the next `up` fail on AWS, unless something deletes it: terraform-aws-eks#2763."""
    group, kind = "aws:cloudwatch/logGroup:LogGroup", here.objects(CLUSTER)
    made = {"enabledClusterLogTypes": ["audit"]}
    for more, comes_back in ((made, True), ({"enabledClusterLogTypes": []}, False)):
        inputs = cluster(here, **more)
        logs = {"name": f"/aws/eks/{inputs['name']}/cluster", "retentionInDays": 7}
        written, outputs = here.objects(group).create(logs)
        id, rest = kind.create(inputs)
        kind.delete(id, rest)
        here.objects(group).delete(written, outputs)
        found = here.aws.call("logs", "describe_log_groups", logGroupNamePrefix=written)["logGroups"]
        assert [("retentionInDays" in one) for one in found] == ([False] if comes_back else [])
        if comes_back:
            with pytest.raises(ProviderError, match="ResourceAlreadyExists"):
                here.objects(group).create(logs)
        here.objects(group).delete(written, outputs)
        assert not here.aws.call("logs", "describe_log_groups", logGroupNamePrefix=written)["logGroups"]


def test_a_scheduler_ranks_nodes_as_its_cluster_says(here: World, clusters: FakeClusters) -> None:
    def config(strategy: str) -> dict[str, Any]:
        scoring = {"type": strategy, "resources": [{"name": "nvidia.com/gpu", "weight": 10}]}
        return {"nodeResourcesFit": {"scoringStrategy": scoring}}

    inputs = cluster(here, kubeSchedulerConfig=config("MostAllocated"))
    kind = here.objects(CLUSTER)
    id, outputs = kind.create(inputs)
    described = here.aws.call("eks", "describe_cluster", name=id)["cluster"]
    assert clusters.scheduling[id] == described["kubeSchedulerConfig"] == config("MostAllocated")
    changed = {**inputs, "kubeSchedulerConfig": config("LeastAllocated")}
    kind.update(id, outputs, changed, inputs)
    assert clusters.scheduling[id] == config("LeastAllocated")
    assert not clusters.scheduling.get(kind.create(cluster(here))[0])


def test_a_protected_cluster_is_not_deleted(here: World, clusters: FakeClusters) -> None:
    id, outputs = here.objects(CLUSTER).create(cluster(here, deletionProtection=True))
    with pytest.raises(AwsError, match="has deletion protection: set deletionProtection to false"):
        here.objects(CLUSTER).delete(id, outputs)
    assert id in clusters.running


def test_nodes_follow_the_template_version_in_use(here: World, nodes: FakeNodes) -> None:
    inputs = SAMPLES[NODE_GROUP].inputs(here)
    id, outputs = here.objects(NODE_GROUP).create(inputs)
    template = inputs["launchTemplate"]["id"]
    here.aws.call(
        "ec2", "create_launch_template_version", LaunchTemplateId=template,
        LaunchTemplateData={"InstanceType": "p5en.48xlarge"},
    )  # fmt: skip
    changed = {**inputs, "launchTemplate": {"id": template, "version": "2"}}
    here.objects(NODE_GROUP).update(id, outputs, changed, inputs)
    seen, data = nodes.groups[inputs["clusterName"], "gpu"]
    assert seen["launchTemplate"]["version"] == "2"
    assert data == {"InstanceType": "p5en.48xlarge"}


def test_a_node_group_whose_nodes_do_not_follow_a_change_is_degraded(
    here: World, nodes: FakeNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = SAMPLES[NODE_GROUP].inputs(here)
    id, outputs = here.objects(NODE_GROUP).create(inputs)
    monkeypatch.setattr(nodes, "node_group_changed", Mock(side_effect=SandboxError("no API server")))
    changed = {**inputs, "scalingConfig": {**inputs["scalingConfig"], "desiredSize": 0, "minSize": 0}}
    with pytest.raises(PartialFailureError, match="no API server"):
        here.objects(NODE_GROUP).update(id, outputs, changed, inputs)
    names = {"clusterName": inputs["clusterName"], "nodegroupName": "gpu"}
    assert here.aws.call("eks", "describe_nodegroup", **names)["nodegroup"]["status"] == "DEGRADED"


def test_tags_of_a_scaling_group_reach_its_nodes(here: World, nodes: FakeNodes) -> None:
    names = {"ResourceId": here.scaling_group(), "ResourceType": "auto-scaling-group", "Key": "k8s.io/pool"}
    tag = {**names, "Value": "gpu", "PropagateAtLaunch": True}
    here.aws.call("autoscaling", "create_or_update_tags", Tags=[tag])
    assert nodes.tags == {(names["ResourceId"], "k8s.io/pool"): "gpu"}
    here.aws.call("autoscaling", "delete_tags", Tags=[tag])
    assert nodes.tags == {}


def test_the_version_of_a_cluster_that_does_not_exist_is_not_updated(here: World) -> None:
    with pytest.raises(AwsError, match="ResourceNotFound"):
        here.aws.call("eks", "update_cluster_version", name="nowhere", version="1.35")


# EKS add-ons are records in AWS, and pods in the cluster.


RESOURCE = Resource(f"urn:pulumi:s::p::{ADDON}::cni", ADDON, "cni")


@pytest.fixture
def addons() -> FakeAddons:
    return FakeAddons()


@pytest.fixture
def provider(world: World, addons: FakeAddons, tmp_path: Path) -> Iterator[AwsProvider]:
    with attached(world.aws.clients, addons=addons):
        yield AwsProvider(Shared(world.aws.clients, addons=addons, notes=Notes(tmp_path), processes=PROCESSES))


def test_an_add_on_is_reported_with_its_configuration(
    world: World, provider: AwsProvider, addons: FakeAddons, tmp_path: Path
) -> None:
    cluster = world.cluster()
    inputs = {"clusterName": cluster, "addonName": "vpc-cni", "configurationValues": '{"a": 1}'}
    id, outputs = provider.create(world.aws, RESOURCE, inputs)
    assert addons.present == {(cluster, "vpc-cni"): '{"a": 1}'}
    assert load_notes(tmp_path) == (Note(RESOURCE.urn, NoteKind.INSTALLED, "a chart"),)
    news = {**inputs, "configurationValues": '{"a": 2}'}
    outputs = provider.update(world.aws, RESOURCE, id, outputs, news, inputs)
    assert addons.present == {(cluster, "vpc-cni"): '{"a": 2}'}
    provider.delete(world.aws, RESOURCE, id, outputs, news)
    assert addons.present == {}
    assert load_notes(tmp_path) == ()


def test_an_add_on_of_any_caller_has_its_pods_and_says_why_not(world: World, addons: FakeAddons) -> None:
    names = {"clusterName": world.cluster(), "addonName": "vpc-cni"}
    broken = {**names, "addonName": "coredns"}
    addons.failing.add("coredns")
    with attached(world.aws.clients, addons=addons):
        made = world.aws.call("eks", "create_addon", **names, configurationValues='{"a": 1}')["addon"]
        assert made["status"] == "CREATING"
        assert world.aws.call("eks", "describe_addon", **names)["addon"]["status"] == "ACTIVE"
        assert addons.present == {tuple(names.values()): '{"a": 1}'}
        update = world.aws.call("eks", "update_addon", **names, configurationValues="")["update"]
        assert world.aws.call("eks", "describe_addon", **names)["addon"].get("configurationValues") is None
        assert addons.present == {tuple(names.values()): None}
        done = world.aws.call(
            "eks", "describe_update", name=names["clusterName"], addonName="vpc-cni", updateId=update["id"]
        )
        assert done["update"]["status"] == "Successful"
        world.aws.call("eks", "create_addon", **broken)
        failed = world.aws.call("eks", "describe_addon", **broken)["addon"]
        assert (failed["status"], failed["health"]["issues"][0]["message"]) == ("CREATE_FAILED", "its pods are Pending")
        world.aws.call("eks", "delete_addon", **names, preserve=True)
        assert addons.present != {}


def test_an_add_on_whose_chart_came_later_is_updated_once(
    world: World, provider: AwsProvider, addons: FakeAddons
) -> None:
    inputs = {"clusterName": world.cluster(), "addonName": "vpc-cni"}
    id, outputs = provider.create(world.aws, RESOURCE, inputs)
    assert provider.diff(world.aws, RESOURCE, id, inputs, outputs, inputs).changes == ()
    addons.present.clear()
    addons.came.add("vpc-cni")
    (change,) = provider.diff(world.aws, RESOURCE, id, inputs, outputs, inputs).changes
    assert (change.path, change.replace, change.input) == (("configurationValues",), False, False)
    outputs = provider.update(world.aws, RESOURCE, id, outputs, inputs, inputs)
    assert addons.present == {(inputs["clusterName"], "vpc-cni"): None}
    assert provider.diff(world.aws, RESOURCE, id, inputs, outputs, inputs).changes == ()


def test_an_add_on_that_does_not_become_active_is_an_error(
    world: World, provider: AwsProvider, addons: FakeAddons
) -> None:
    addons.failing.add("coredns")
    inputs = {"clusterName": world.cluster(), "addonName": "coredns"}
    with pytest.raises(PartialFailureError, match="its pods are Pending") as failed:
        provider.create(world.aws, RESOURCE, inputs)
    assert failed.value.outputs["addonName"] == "coredns"


def test_a_configuration_is_checked_at_preview_once_it_is_known(world: World, provider: AwsProvider) -> None:
    inputs = {"clusterName": "c", "addonName": "vpc-cni", "configurationValues": "broken"}
    _, failures = provider.check(world.aws, RESOURCE, inputs, {}, b"")
    assert [(failure.property, failure.reason) for failure in failures] == [("configurationValues", "bad: broken")]
    _, failures = provider.check(world.aws, RESOURCE, {**inputs, "configurationValues": UNKNOWN}, {}, b"")
    assert failures == []
