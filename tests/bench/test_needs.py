"""The table of needs: prod and its variants have every wait, and a removed wait is reported."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from components.pools.managed import ManagedPool, ManagedPoolArgs
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from tests.bench.needs import NEEDS, Pair, all_needed, missing, pairs, shortest
from tests.bench.numbers.order import absent
from tests.bench.samples import recorded, with_every_add_on, without_nat
from tests.bench.waits import closure, waits
from tests.support import stacks

NO_NAT = "nodes after the endpoints where there is no NAT"
OVERLAY = "a NodePool after its overlay"
Waits = Mapping[str, frozenset[str]]


def program_of(need: str) -> Recording:
    """A program that has the need."""
    if need == NO_NAT:
        return without_nat()
    return stacks.recorded("dev") if need == OVERLAY else recorded()


def lacking(recording: Recording, changed: Waits) -> list[Pair]:
    return missing(pairs(recording), closure(changed))


def one_of_each_type(recording: Recording, need: str, asked: list[Pair]) -> Iterator[Pair]:
    """A pair of the need for each two types of resources that have it."""
    seen: set[tuple[str, str]] = set()
    for pair in asked:
        assert pair.earlier is not None
        types = (recording.resources[pair.later].type, recording.resources[pair.earlier].type)
        if pair.need == need and types not in seen:
            seen.add(types)
            yield pair


@pytest.mark.parametrize("stack", stacks.NAMES)
def test_no_stack_of_the_project_lacks_a_wait(stack: str) -> None:
    recording = stacks.recorded(stack)
    assert [pair.describe(recording) for pair in lacking(recording, waits(recording))] == []


def test_no_other_settings_lack_a_wait() -> None:
    for recording in (without_nat(), *with_every_add_on()):
        assert [pair.describe(recording) for pair in lacking(recording, waits(recording))] == []


@pytest.mark.parametrize("need", NEEDS)
def test_a_resource_that_no_longer_waits_is_reported(need: str) -> None:
    """As if `depends_on` of the later resource had lost what leads to the earlier one."""
    recording = program_of(need)
    asked, direct = pairs(recording), waits(recording)
    before = closure(direct)
    examples = list(one_of_each_type(recording, need, asked))
    assert examples
    for pair in examples:
        assert pair.earlier is not None
        kept = {urn for urn in direct[pair.later] if urn != pair.earlier and pair.earlier not in before[urn]}
        assert pair in missing(asked, closure({**direct, pair.later: frozenset(kept)}))


@pytest.mark.parametrize("need", NEEDS)
def test_a_resource_that_nothing_waits_for_any_more_is_reported(need: str) -> None:
    """As if a component had left it out of its `ready`."""
    recording = program_of(need)
    asked, direct = pairs(recording), waits(recording)
    for pair in one_of_each_type(recording, need, asked):
        without = {urn: before - {pair.earlier} for urn, before in direct.items()}
        assert pair in missing(asked, closure(without))


def test_a_node_group_that_does_not_wait_for_its_role_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself with `*args.node_role.ready` taken out of the node group's `depends_on`: nodes may not join,
    and on the way down the policies go before the nodes."""
    make = ManagedPool._make_node_group

    def without_role(pool: ManagedPool, name: str, args: ManagedPoolArgs, template: Any) -> Any:
        return make(pool, name, replace(args, node_role=replace(args.node_role, ready=())), template)

    monkeypatch.setattr(ManagedPool, "_make_node_group", without_role)
    found = absent(record_platform(stacks.platform_of("dev"), stack="dev"))
    assert found.result == "missed by 3 waits"
    assert {note.partition(": ")[2] for note in found.notes[:-1]} == {"a node group after the policies of its role"}


def test_a_custom_resource_that_waits_for_another_release_than_its_own_is_reported() -> None:
    recording = recorded()
    queue, other = recording.named("queues-cohort").urn, recording.named("cert-manager-release").urn
    found = lacking(recording, {**waits(recording), queue: frozenset({other})})
    assert {(pair.need, pair.earlier) for pair in found} >= {
        ("a custom resource after its own CRD", recording.named("kueue-release").urn)
    }


def test_a_custom_resource_whose_crd_nothing_installs_is_reported() -> None:
    recording = recorded()
    release = recording.named("kueue-release")
    alone = replace(recording, resources={urn: each for urn, each in recording.resources.items() if each != release})
    lost = {urn: before - {release.urn} for urn, before in waits(recording).items() if urn != release.urn}
    pair = Pair("a custom resource after its own CRD", recording.named("queues-cohort").urn, None)
    assert pair in lacking(alone, lost)
    assert "finds nothing to wait for" in pair.describe(recording)


@pytest.mark.parametrize(
    ("later", "earlier", "needed"),
    [
        ("karpenter-release", "cluster-control-plane", True),
        ("addons-late-coredns", "pool-system-node-group", True),
        ("addons-late-coredns", "pool-h100-node-group", False),
        ("cluster-control-plane", "network-route-nat-a", False),
        ("karpenter-queue", "cluster-control-plane", False),
        ("kserve-release", "cert-manager-release", True),
        ("kserve-release", "jobset-release", False),
        ("cert-manager-release", "kube-prometheus-stack-release", False),
        ("kueue-release", "kube-prometheus-stack-crds", True),
        ("pool-h100-node-group", "network-route-private-default-b", True),
        ("pool-h100-node-group", "network-route-private-default-a", False),
        ("space-vision-training-raw", "addons-late-fsx-csi", True),
        ("space-vision-training-raw", "addons-late-efs-csi", False),
    ],
)
def test_a_need_follows_by_way_of_any_number_of_others(later: str, earlier: str, needed: bool) -> None:
    recording = recorded()
    assert (recording.named(earlier).urn in all_needed(recording)[recording.named(later).urn]) is needed


def test_the_shortest_way_to_software_is_control_plane_network_add_on_system_nodes_and_what_runs_on_them() -> None:
    recording = recorded()
    goal = recording.named("kserve-runtime-triton").urn
    links = [recording.resources[urn].name for urn in shortest(recording).until([goal]).longest().links]
    assert links[links.index("cluster-control-plane") :] == [
        "cluster-control-plane",
        "addons-early-vpc-cni",
        "pool-system-node-group",
        "cert-manager-release",
        "kserve-release",
        "kserve-runtime-triton",
    ]
