"""NodePools of fallbacks, and idle nodes."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.admission.placement import pools as cel_pools
from components.pools.karpenter import BUFFER_KIND, node_pool, pod_spec
from sandbox.kubernetes.client import ApiError, KubeClient
from spec.pools import resolve_all
from spec.pricing.estimate import estimate
from tests.components.pools.samples import ONE_ZONE, platform, record_fleet, spec
from tests.components.pools.test_karpenter import NODE_CLASS, NODE_POOL
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.mocks import Recording
from tests.support.reconciliation import disagreements

RESERVATION: Final = {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}
FALLBACKS: Final = [
    {"name": "paid", "zones": ONE_ZONE, "max": 2},
    {"name": "spot", "market": "spot", "instanceTypes": ["g6.xlarge", "g6.2xlarge", "g6.4xlarge"], "max": 3},
]
POOLS: Final[dict[str, dict[str, Any]]] = {
    "cpu": {"preset": "cpu", "capacityBuffer": 2},
    "l4": {"preset": "gpu-spot", "max": 4,
        "capacity": {"market": "reserved", "reservation": RESERVATION, "fallbacks": FALLBACKS}},
}  # fmt: skip
BUFFER: Final = "kubernetes:autoscaling.x-k8s.io/v1beta1:CapacityBuffer"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet(POOLS)


def test_karpenter_tries_the_pool_then_its_fallbacks_and_prefers_no_other_pool(recording: Recording) -> None:
    pools = {one.inputs["metadata"]["name"]: one.inputs["spec"] for one in recording.of(NODE_POOL).values()}
    assert {name: body["weight"] for name, body in pools.items()} == {
        "cpu": 100, "l4": 100, "l4-paid": 99, "l4-spot": 98,
    }  # fmt: skip
    markets = {
        name: next(each["values"] for each in body["template"]["spec"]["requirements"] if "capacity" in each["key"])
        for name, body in pools.items()
    }
    assert markets == {"cpu": ["on-demand"], "l4": ["reserved"], "l4-paid": ["on-demand"], "l4-spot": ["spot"]}
    assert {name: body["limits"]["nodes"] for name, body in pools.items() if "l4" in name} == {
        "l4": "4", "l4-paid": "2", "l4-spot": "3",
    }  # fmt: skip


def test_without_fallbacks_no_node_pool_has_a_weight() -> None:
    recording = record_fleet({"cpu": {"preset": "cpu"}, "l4": {"preset": "gpu-spot"}})
    assert not any("weight" in one.inputs["spec"] for one in recording.of(NODE_POOL).values())


def test_workloads_and_queues_see_one_pool(recording: Recording) -> None:
    """A job selects the pool by its label, and tolerates its taints, whichever capacity its node has."""
    of_l4 = [one.inputs["spec"]["template"] for name, one in recording.of(NODE_POOL).items() if "l4" in name]
    assert len(of_l4) == 3
    assert {body["metadata"]["labels"]["platform.slipway/pool"] for body in of_l4} == {"l4"}
    assert all(body["spec"]["taints"] == of_l4[0]["spec"]["taints"] for body in of_l4)
    known = resolve_all(platform(POOLS))
    assert set(known) == {"cpu", "l4", "system"}
    assert [dict(one.node_selector) for one in known["l4"].fallbacks] == [{"platform.slipway/pool": "l4"}] * 2


def test_only_the_capacity_with_the_reservation_launches_into_it(recording: Recording) -> None:
    terms = {
        one.inputs["metadata"]["name"]: one.inputs["spec"].get("capacityReservationSelectorTerms")
        for one in recording.of(NODE_CLASS).values()
    }
    assert terms == {"cpu": None, "l4": [{"id": RESERVATION["id"]}], "l4-paid": None, "l4-spot": None}


def test_a_job_on_a_pool_with_a_spot_fallback_is_treated_as_one_on_spot() -> None:
    known = resolve_all(platform(POOLS))
    assert known["l4"].may_be_spot
    assert not known["cpu"].may_be_spot
    assert [line.split()[:2] for line in cel_pools(known, {}).splitlines()] == [
        ["cpu", "-"],
        ["l4", "spot"],
        ["system", "-"],
    ]


def test_each_fallback_is_a_line_of_the_bill_and_idle_nodes_are_in_its_floor(recording: Recording) -> None:
    priced = estimate(platform(POOLS))
    lines = {(line.pool, line.item): line for line in priced.lines if line.service == "EC2"}
    spot = lines["l4", "nodes, fallback spot"]
    assert [*map(int, (spot.minimum, spot.typical, spot.maximum))] == [0, 0, 3]
    assert spot.usual < lines["l4", "nodes, fallback paid"].usual
    assert lines["cpu", "nodes"].minimum == 2
    declared = [(one.type, one.inputs) for one in recording if one.type == NODE_POOL]
    assert not [each for each in disagreements(priced, declared) if "nodes" in each and "system" not in each]


def test_idle_nodes_are_pods_of_whole_nodes_that_nothing_creates(recording: Recording) -> None:
    (buffer,) = recording.of(BUFFER).values()
    (template,) = recording.of("kubernetes:core/v1:PodTemplate").values()
    assert buffer.inputs["spec"] == {"podTemplateRef": {"name": "idle-cpu"}, "replicas": 2}
    assert template.inputs["metadata"]["namespace"] == buffer.inputs["metadata"]["namespace"]
    (container,) = template.inputs["template"]["spec"]["containers"]
    (smallest,) = {"3420m"}
    assert container["resources"]["requests"]["cpu"] == smallest
    of_gpus = pod_spec(spec(preset="a100", mig={"layout": "all-1g.5gb"}))
    assert of_gpus["containers"][0]["resources"]["requests"]["nvidia.com/mig-1g.5gb"] == "56"
    assert {each["key"] for each in of_gpus["tolerations"]} == {"nvidia.com/gpu", "platform.slipway/pool"}


def test_the_gate_is_on_only_if_a_pool_keeps_idle_nodes(recording: Recording) -> None:
    def gates(one: Recording) -> dict[str, Any]:
        (release,) = (
            each for each in one.of("kubernetes:helm.sh/v3:Release").values() if each.name == "karpenter-release"
        )
        found: dict[str, Any] = release.inputs["values"]["settings"]["featureGates"]
        return found

    assert gates(recording)["capacityBuffer"] is True
    assert gates(recording)["reservedCapacity"] is True
    assert "capacityBuffer" not in gates(record_fleet({"cpu": {"preset": "cpu"}}))


@pytest.mark.sandbox
def test_the_api_server_accepts_buffers_and_weights_and_refuses_a_weight_too_high(
    shared: Path, plane: ControlPlane
) -> None:
    files = sorted((shared / "charts/karpenter-crd/crds").glob("*.yaml"))
    client: KubeClient = plane.client
    define(client, [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files])
    buffer = {"podTemplateRef": {"name": "idle-cpu"}, "replicas": 2}
    metadata = {"name": "work", "namespace": "kube-system"}
    buffers = {"apiVersion": BUFFER_KIND.api_version, "kind": BUFFER_KIND.kind}
    client.apply({**buffers, "metadata": metadata, "spec": buffer}, "t", dry_run=True)
    template = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata}
    client.apply({**template, "template": {"spec": pod_spec(spec(preset="cpu"))}}, "t", dry_run=True)
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "work"}}
    client.apply({**pool, "spec": node_pool(spec(preset="cpu"), 100)}, "t", dry_run=True)
    with pytest.raises(ApiError, match="less than or equal to 100"):
        client.apply({**pool, "spec": node_pool(spec(preset="cpu"), 101)}, "t", dry_run=True)
