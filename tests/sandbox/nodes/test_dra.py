"""GPUs by claims of devices: what nodes publish, and what the real scheduler and controllers make of it."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import delete, until
from sandbox.nodes import dra
from sandbox.nodes.machine import Machine
from sandbox.nodes.spec import NodeSpec, NodeWriter
from spec.pools.keys import DRA, GPU_ALLOCATION
from tests.sandbox.living import living_plane
from tests.sandbox.plane import CLUSTER, ControlPlane, existing
from tests.support.cases import beside
from tests.support.patience import SECONDS
from tests.support.quotas import until_refused

CASES: Final = beside(__file__)
LABELS: Final = {GPU_ALLOCATION: DRA}
GPU: Final = "nvidia.com/gpu"
SPACE: Final = "claims"
OF_CLASS: Final = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
# karpenter-provider-aws v1.15.0, pkg/providers/drametadata/zz_generated_gpu_metadata.go: number of GPUs, product,
# architecture, compute capability, memory, and PCIe root of the last GPU.
KNOWN: Final = CASES["known devices"]


@pytest.mark.parametrize("instance_type", KNOWN)
def test_a_type_has_the_devices_that_karpenter_knows_of_it(instance_type: str) -> None:
    count, product, architecture, capability, memory, root = KNOWN[instance_type]
    found = list(dra.devices(instance_type))
    assert [each["name"] for each in found] == [f"gpu-{index}" for index in range(count)]
    assert found[-1]["attributes"] == {
        "type": {"string": "gpu"},
        "brand": {"string": "Nvidia"},
        "productName": {"string": product},
        "architecture": {"string": architecture},
        "cudaComputeCapability": {"version": capability},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{root}"},
    }
    assert all(each["capacity"] == {"memory": {"value": memory}} for each in found)


def test_a_node_offers_its_gpus_once() -> None:
    machine = Machine("g6.12xlarge")
    assert machine.allocatable({})[GPU] == "4"
    assert GPU not in machine.allocatable(LABELS)
    assert list(dra.devices("m7i.xlarge")) == list(dra.devices("g4ad.xlarge")) == []


def test_a_gpu_with_mig_instances_is_published_as_those() -> None:
    found = list(dra.devices("p4d.24xlarge", "all-balanced"))
    # As `ToCanonicalName` of the driver writes them: GPU, profile, its ID, first memory slice.
    of_first = [f"gpu-0-mig-{each}" for each in ("3g20gb-9-4", "2g10gb-14-0", "1g5gb-19-2", "1g5gb-19-3")]
    assert sorted(each["name"] for each in found[:4]) == sorted(of_first)
    assert len(found) == 8 * 4
    (large,) = (each for each in found if each["name"] == of_first[0])
    assert large["attributes"]["type"] == {"string": "mig"}
    assert large["attributes"]["profile"] == {"string": "3g.20gb"}
    assert large["attributes"]["resource.kubernetes.io/pcieRoot"] == {"string": "pci0000:10"}
    assert sorted(large["capacity"]) == ["memory", *(f"memorySlice{at}" for at in range(4, 8))]
    media = dra.devices("p5.4xlarge", "slipway-1x1g.10gb.me")
    assert [each["name"] for each in media] == ["gpu-0-mig-1g10gb-me-20-0"]
    assert [each["name"] for each in dra.devices("p5.4xlarge", "all-disabled")] == ["gpu-0"]


def node(name: str) -> NodeSpec:
    machine = Machine("g6.12xlarge")
    size = machine.allocatable(LABELS)
    return NodeSpec(
        name=name, owner="test", instance_type=machine.name, arch="amd64", kubernetes="1.36", capacity=size,
        allocatable=size, labels=LABELS, zone="us-east-1a",
    )  # fmt: skip


def template(count: int = 1, name: str = "", **exactly: Any) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count, **exactly}}
    made = Ref(dra.API, "ResourceClaimTemplate", name or f"gpu-{count}", SPACE).as_object()
    return {**made, "spec": {"spec": {"devices": {"requests": [request]}}}}


def pod(name: str, *claims: Object, **limits: str) -> Object:
    named = [{"name": f"c{at}", **one} for at, one in enumerate(claims)]
    resources = {"limits": {GPU: limits["gpus"]} if limits else {}, "claims": [{"name": one["name"]} for one in named]}
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}]
    made = Ref("v1", "Pod", name, SPACE).as_object()
    return {**made, "spec": {"containers": containers, "resourceClaims": named, "terminationGracePeriodSeconds": 0}}


def by_template(name: str) -> Object:
    return {"resourceClaimTemplateName": name}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Two nodes with four GPUs each, by claims."""
    with living_plane(tmp_path_factory.mktemp("dra"), version="1.36") as plane:
        writer = NodeWriter(plane.targets.of_cluster)
        for name in ("claimed-0", "claimed-1"):
            assert writer.write(CLUSTER, node(name))
        plane.client.apply(Ref("v1", "Namespace", SPACE).as_object(), "test")
        for count in (1, 4, 5):
            plane.client.apply(template(count), "test")
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    yield plane.client
    for kind, version in (("ResourceQuota", "v1"), ("Pod", "v1"), ("ResourceClaim", dra.API)):
        for each in plane.client.list(plane.client.discovery.find(version, kind), SPACE):
            delete(plane.client, Ref.of({**each, "apiVersion": version, "kind": kind}))
    until(lambda: not claims(plane.client) or None, SECONDS, "claims are left")


def claims(client: KubeClient) -> list[Object]:
    return list(client.list(client.discovery.find(dra.API, "ResourceClaim"), SPACE))


def runs(client: KubeClient, name: str) -> str:
    """Wait until a pod runs, and return its node."""

    def look() -> str | None:
        found = existing(client, Ref("v1", "Pod", name, SPACE))
        return str(found["spec"]["nodeName"]) if found["status"].get("phase") == "Running" else None

    return until(look, SECONDS, f"{name} does not run")


def unschedulable(client: KubeClient, name: str) -> str:
    """Wait until the scheduler says why a pod has no node."""

    def look() -> str | None:
        found = existing(client, Ref("v1", "Pod", name, SPACE))["status"].get("conditions") or ()
        return next((one["message"] for one in found if one["type"] == "PodScheduled" and one.get("message")), None)

    return until(look, SECONDS, f"the scheduler says nothing of {name}")


def allocated(client: KubeClient) -> list[tuple[str, str]]:
    """Node and device of all that is allocated."""
    results = [((one.get("status") or {}).get("allocation") or {}).get("devices", {}) for one in claims(client)]
    return sorted((each["pool"], each["device"]) for one in results for each in one.get("results", ()))


@pytest.mark.sandbox
def test_a_slice_names_its_node_and_goes_with_it(plane: ControlPlane) -> None:
    writer, gone = NodeWriter(plane.targets.of_cluster), Ref(dra.API, "ResourceSlice", "gone-0-gpu.nvidia.com")
    writer.write(CLUSTER, node("gone-0"))
    assert existing(plane.client, gone)["spec"]["nodeName"] == "gone-0"
    writer.remove(CLUSTER, "gone-0")
    until(lambda: plane.client.get(gone) is None or None, SECONDS, "the slice is left")


@pytest.mark.sandbox
def test_claims_are_allocated_until_the_devices_are_used_up_and_freed_with_their_pods(client: KubeClient) -> None:
    for name in ("a", "b"):
        client.create(pod(name, by_template("gpu-4")), "user")
    assert {runs(client, "a"), runs(client, "b")} == {"claimed-0", "claimed-1"}
    assert len(set(allocated(client))) == 8
    client.create(pod("c", by_template("gpu-1")), "user")
    assert "cannot allocate all claims" in unschedulable(client, "c")
    delete(client, Ref("v1", "Pod", "a", SPACE))
    assert runs(client, "c") in ("claimed-0", "claimed-1")
    assert len(allocated(client)) == 5


@pytest.mark.sandbox
def test_more_devices_than_a_node_has_are_never_allocated(client: KubeClient) -> None:
    client.create(pod("large", by_template("gpu-5")), "user")
    assert "cannot allocate all claims" in unschedulable(client, "large")


@pytest.mark.sandbox
def test_two_pods_share_a_claim(client: KubeClient) -> None:
    made = Ref(dra.API, "ResourceClaim", "shared", SPACE).as_object()
    client.create({**made, "spec": template()["spec"]["spec"]}, "user")
    for name in ("a", "b"):
        client.create(pod(name, {"resourceClaimName": "shared"}), "user")
    assert runs(client, "a") == runs(client, "b")
    assert len(allocated(client)) == 1


@pytest.mark.sandbox
def test_a_selector_is_evaluated_on_what_nodes_publish(client: KubeClient) -> None:
    of = "device.attributes['gpu.nvidia.com']"
    for name, expression in (
        ("fits", f"{of}.productName == 'NVIDIA L4' && {of}.cudaComputeCapability.isGreaterThan(semver('8.0.0'))"),
        ("other", "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) > 0"),
    ):
        client.apply(template(name=name, selectors=[{"cel": {"expression": expression}}]), "test")
        client.create(pod(name, by_template(name)), "user")
    assert runs(client, "fits").startswith("claimed-")
    assert "cannot allocate all claims" in unschedulable(client, "other")


@pytest.mark.sandbox
def test_a_request_of_nvidia_gpus_gets_devices_of_the_class_and_both_share_a_quota(client: KubeClient) -> None:
    quota = Ref("v1", "ResourceQuota", "team", SPACE).as_object()
    client.apply({**quota, "spec": {"hard": {f"requests.{GPU}": "3", OF_CLASS: "3"}}}, "test")
    client.create(pod("request", gpus="2"), "user")
    assert runs(client, "request").startswith("claimed-")
    assert len(allocated(client)) == 2

    def used(**expected: str) -> None:
        def look() -> bool | None:
            found = (existing(client, Ref("v1", "ResourceQuota", "team", SPACE)).get("status") or {}).get("used") or {}
            return (found.get(f"requests.{GPU}"), found.get(OF_CLASS)) == (
                expected["requests"],
                expected["claims"],
            ) or None

        until(look, SECONDS, f"the quota does not count {expected}")

    # A request's own claim is in the quota of the class, and not a second time in that of requests.
    used(requests="2", claims="2")
    client.create(pod("claim", by_template("gpu-1")), "user")
    assert runs(client, "claim").startswith("claimed-")
    used(requests="3", claims="3")
    until_refused(client, pod("more", gpus="1"), f"exceeded quota: team, requested: requests.{GPU}=1")
    direct = {**Ref(dra.API, "ResourceClaim", "more", SPACE).as_object(), "spec": template()["spec"]["spec"]}
    with pytest.raises(ApiError, match="exceeded quota: team"):
        client.create(direct, "user")
