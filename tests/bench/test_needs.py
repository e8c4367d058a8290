from __future__ import annotations

import pytest

from tests.bench.durations import duration_of
from tests.bench.needs import STEPS, is_true, shortest, step_of
from tests.bench.numbers.order import BOUND, compare
from tests.bench.previews import recorded
from tests.bench.samples import with_wait


def test_every_need_is_a_step() -> None:
    assert {need for step in STEPS.values() for need in step.needs} - STEPS.keys() == set()


@pytest.mark.parametrize("name", STEPS)
def test_every_step_holds_a_resource_of_prod(name: str) -> None:
    assert [found.name for found in recorded() if step_of(found) == name]


def test_the_shortest_way_is_control_plane_network_addon_system_nodes_and_what_runs_on_them() -> None:
    links = shortest(recorded()).longest().links
    assert links[links.index("control plane") :] == (
        "control plane",
        "network add-on",
        "system nodes",
        "foundations",
        "charts on charts",
        "their objects",
    )


@pytest.mark.parametrize(
    ("later", "earlier", "needed"),
    [
        ("karpenter-release", "cluster-control-plane", True),
        ("addons-late-coredns", "pool-system-node-group", True),
        ("addons-late-coredns", "pool-h100-node-group", False),
        ("cluster-control-plane", "network-route-nat-a", False),
        ("karpenter-queue", "cluster-control-plane", False),
        ("kserve-release", "cert-manager-release", True),
        ("kserve-release", "jobset-release", True),
        ("cert-manager-release", "kube-prometheus-stack-release", False),
        ("kueue-release", "kube-prometheus-stack-crds", True),
    ],
)
def test_a_need_is_true_by_way_of_any_number_of_steps(later: str, earlier: str, needed: bool) -> None:
    recording = recorded()
    assert is_true(recording.named(later), recording.named(earlier)) is needed


def test_prod_keeps_the_bound() -> None:
    assert compare(recorded()).value <= BOUND


def test_a_wait_without_need_breaks_the_bound_and_is_named_with_its_cost() -> None:
    found = compare(with_wait("cluster-control-plane", "network-route-nat-a"))
    assert found.value > BOUND
    # 13 s of VPC and subnet, 1 s of routes, 97 s of gateway, in place of 29 s of key and log group.
    blamed = [note for note in found.notes if note.startswith("no true need")]
    assert blamed == ["no true need: cluster-control-plane waits for network-route-nat-a (without it 95 s less)"]


def test_a_wait_for_a_whole_stack_in_place_of_its_definitions_breaks_the_bound() -> None:
    found = compare(with_wait("cert-manager-release", "kube-prometheus-stack-release"))
    assert found.value > BOUND
    assert any("cert-manager-release waits for kube-prometheus-stack-release" in note for note in found.notes)


def test_the_first_gpu_waits_for_nothing_but_network_control_plane_node_and_plugin() -> None:
    (note,) = [note for note in compare(recorded()).notes if note.startswith("until the first GPU")]
    alone = ("cluster-key", "cluster-logs", "cluster-control-plane", "addons-early-vpc-cni", "pool-system-node-group")
    seconds = sum(duration_of(recorded().named(name)).seconds for name in (*alone, "gpu-operator-release"))
    assert f"{seconds:.0f} s" in note


def test_a_wait_beside_the_longest_chain_breaks_nothing() -> None:
    assert compare(with_wait("addons-late-coredns", "addons-late-metrics-server")).value <= BOUND
