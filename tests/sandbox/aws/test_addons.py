"""EKS add-ons are records in AWS, and pods in the cluster."""

import pytest

from sandbox.aws.client import World as Shared
from sandbox.aws.provider import ADDON, AwsProvider
from sandbox.rpc.errors import PartialFailureError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.fakes import FakeAddons
from tests.sandbox.aws.samples import World

RESOURCE = Resource(f"urn:pulumi:s::p::{ADDON}::cni", ADDON, "cni")


@pytest.fixture
def addons() -> FakeAddons:
    return FakeAddons()


@pytest.fixture
def provider(world: World, addons: FakeAddons) -> AwsProvider:
    return AwsProvider(Shared(world.aws.clients, addons=addons))


def test_an_add_on_is_reported_with_its_configuration(world: World, provider: AwsProvider, addons: FakeAddons) -> None:
    cluster = world.cluster()
    inputs = {"clusterName": cluster, "addonName": "vpc-cni", "configurationValues": '{"a": 1}'}
    id, outputs = provider.create(world.aws, RESOURCE, inputs)
    assert addons.present == {(cluster, "vpc-cni"): '{"a": 1}'}
    news = {"clusterName": cluster, "addonName": "vpc-cni"}
    outputs = provider.update(world.aws, RESOURCE, id, outputs, news, inputs)
    assert addons.present == {(cluster, "vpc-cni"): None}
    provider.delete(world.aws, RESOURCE, id, outputs, news)
    assert addons.present == {}


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


def test_an_add_on_that_does_not_become_active_is_an_error(world: World, provider: AwsProvider) -> None:
    inputs = {"clusterName": world.cluster(), "addonName": "broken"}
    with pytest.raises(PartialFailureError, match="its pods are Pending") as failed:
        provider.create(world.aws, RESOURCE, inputs)
    assert failed.value.outputs["addonName"] == "broken"


def test_a_configuration_is_checked_at_preview_once_it_is_known(world: World, provider: AwsProvider) -> None:
    inputs = {"clusterName": "c", "addonName": "vpc-cni", "configurationValues": "broken"}
    _, failures = provider.check(world.aws, RESOURCE, inputs, {}, b"")
    assert [(failure.property, failure.reason) for failure in failures] == [("configurationValues", "bad: broken")]
    _, failures = provider.check(world.aws, RESOURCE, {**inputs, "configurationValues": UNKNOWN}, {}, b"")
    assert failures == []
