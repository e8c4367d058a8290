"""Values of the Karpenter chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.addons.karpenter.values import Gates, values
from tests.components.addons.charts import own_values, unknown_keys
from tests.components.pools.samples import spec

GATES = Gates(node_repair=True, node_overlay=True, reserved_capacity=False)
RESERVED = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}


def chart_values(**more: Any) -> dict[str, Any]:
    arguments = {"cluster": "ml", "queue": "q", "gates": GATES, "isolated": False, "pods_apart": False, **more}
    return values(**arguments)


def test_feature_gates_are_enabled_if_a_pool_needs_them() -> None:
    cpu, sliced = spec(preset="cpu", nodeRepair=False), spec(preset="a100", mig={"layout": "all-1g.5gb"})
    assert Gates.of([cpu]) == Gates(node_repair=False, node_overlay=False, reserved_capacity=False)
    assert Gates.of([cpu, sliced]) == Gates(node_repair=True, node_overlay=True, reserved_capacity=False)
    assert chart_values(gates=Gates.of([cpu]))["settings"]["featureGates"] == {
        "nodeOverlay": False,
        "nodeRepair": False,
        "reservedCapacity": False,
        "spotToSpotConsolidation": True,
    }


def test_open_reservations_are_used_unless_a_pool_names_a_reservation() -> None:
    cpu, reserved = spec(preset="cpu"), spec(preset="h100", capacity=RESERVED)
    for pools, named in (([cpu], False), ([cpu, reserved], True)):
        gates = chart_values(gates=Gates.of(pools))["settings"]["featureGates"]
        assert gates["reservedCapacity"] is named


def test_it_reads_the_interruption_queue() -> None:
    assert chart_values(queue="interruptions")["settings"]["interruptionQueue"] == "interruptions"


def test_one_interface_is_reserved_if_pods_have_their_own_subnets() -> None:
    assert chart_values(pods_apart=True)["settings"]["reservedENIs"] == "1"
    assert chart_values(pods_apart=False)["settings"]["reservedENIs"] == "0"


def test_two_replicas_run_on_the_system_pool_without_cluster_dns() -> None:
    assert chart_values()["replicas"] == 2
    assert chart_values()["nodeSelector"] == {"platform.slipway/role": "system"}
    assert chart_values()["dnsPolicy"] == "Default"


def test_every_value_exists_in_the_chart(shared: Path) -> None:
    # Requests and limits are a free-form map in the chart; all other keys must exist in it.
    assert list(unknown_keys(chart_values(), own_values(shared, "karpenter"))) == []
    typed_wrong = {**chart_values(), "setings": {}}
    assert list(unknown_keys(typed_wrong, own_values(shared, "karpenter"))) == ["setings"]
