"""The table of needs: prod and its variants have every wait, and a removed wait is reported."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError
from typing import Any

import pytest

from components.pools.managed import ManagedPool, ManagedPoolArgs
from slipway.render.program import record_platform
from slipway.render.recording import Options, RecordedResource, Recording, Values
from tests.bench import durations
from tests.bench.durations import (
    ADDON,
    AT_ONCE,
    DEFAULT,
    NODE_GROUP,
    RELEASE,
    SOURCES,
    Duration,
    duration_of,
    seconds_of,
)
from tests.bench.needs import NEEDS, Pair, all_needed, missing, pairs, shortest
from tests.bench.numbers.order import absent
from tests.bench.samples import recorded, with_every_add_on, without_nat
from tests.bench.timing import BUSY, Pairs, Sample, Series, Stopwatch, share_of_others
from tests.bench.waits import Graph, closure, waits, waits_of
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


def resource(type_: str, *, custom: bool = True, **inputs: Any) -> RecordedResource:
    return RecordedResource(
        urn="urn", type=type_, name="r", parent=None, custom=custom, inputs=Values(inputs), options=Options()
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (resource("slipway:network:Network", custom=False), AT_ONCE),
        (resource("pulumi:providers:aws"), AT_ONCE),
        (resource("aws:xray/group:Group"), DEFAULT),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 2.0}), durations.NODES),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 0.0}), durations.NO_NODES),
        (resource(ADDON, addonName="coredns"), durations.ADDONS["coredns"]),
        (resource(ADDON, addonName="new-one"), durations.OTHER_ADDON),
        (resource(RELEASE, chart="oci://public.ecr.aws/karpenter/karpenter-crd"), DEFAULT),
        (resource(RELEASE, chart="kube-prometheus-stack", name="kube-prometheus-stack-crds"), DEFAULT),
        (resource(RELEASE, chart="oci://public.ecr.aws/karpenter/karpenter"), durations.CHART),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_a_resource_takes_as_long_as_the_table_says(given: RecordedResource, expected: Duration) -> None:
    assert duration_of(given) == expected


def test_every_duration_of_the_table_has_a_source_and_every_source_is_used() -> None:
    rows = [
        *durations.BY_TYPE.values(),
        *durations.ADDONS.values(),
        durations.NODES,
        durations.NO_NODES,
        durations.CHART,
    ]
    assert {row.source for row in rows} == set(SOURCES)


def test_the_default_can_be_another_and_changes_no_duration_that_has_a_source() -> None:
    usual, longer = seconds_of(recorded()), seconds_of(recorded(), default=100.0)
    changed = {urn for urn in usual if usual[urn] != longer[urn]}
    assert changed == {each.urn for each in recorded() if duration_of(each) is DEFAULT}
    assert {longer[urn] for urn in changed} == {100.0}


def test_every_type_of_the_table_occurs_in_prod_under_that_name() -> None:
    """A mistyped token would silently take the default."""
    types = {found.type for found in recorded()}
    assert {*durations.BY_TYPE, NODE_GROUP, ADDON, RELEASE} - types == set()


GRAPH = Graph(
    seconds={"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0, "alone": 6.0},
    after={
        "a": frozenset(),
        "b": frozenset({"a"}),
        "c": frozenset({"a"}),
        "d": frozenset({"b", "c"}),
        "alone": frozenset(),
    },
)


def test_the_longest_chain_is_the_one_that_ends_last() -> None:
    chain = GRAPH.longest()
    assert chain.links == ("a", "b", "d")
    assert chain.seconds == 7.0


def test_a_chain_gets_shorter_without_a_wait() -> None:
    assert GRAPH.without("d", "b").longest().seconds == 6.0
    assert GRAPH.without("d", "c").longest() == GRAPH.longest()


def test_until_something_only_what_it_waits_for_has_happened() -> None:
    assert GRAPH.until(["c"]).longest().links == ("a", "c")
    assert GRAPH.until(["alone"]).longest().links == ("alone",)
    assert GRAPH.until(["c", "alone"]).seconds.keys() == {"a", "c", "alone"}


def test_everything_before_a_name_is_found_by_way_of_any_number_of_others() -> None:
    assert closure(GRAPH.after)["d"] == {"a", "b", "c"}
    assert closure(GRAPH.after)["alone"] == frozenset()


def test_nothing_takes_no_time() -> None:
    assert Graph({}, {}).longest().seconds == 0.0


def test_a_cycle_is_refused() -> None:
    cycle = Graph({"a": 1.0, "b": 1.0}, {"a": frozenset({"b"}), "b": frozenset({"a"})})
    with pytest.raises(CycleError):
        cycle.longest()
    with pytest.raises(CycleError):
        closure(cycle.after)


def test_a_resource_waits_for_all_that_the_sdk_resolves_before_it_registers() -> None:
    options = Options(dependencies=("needed",), provider="provider", deleted_with="cluster")
    resource = RecordedResource(
        urn="urn",
        type="aws:sqs/queue:Queue",
        name="q",
        parent="parent",
        custom=True,
        inputs=Values({}),
        options=options,
    )
    assert waits_of(resource) == {"needed", "provider", "cluster", "parent"}


def series(*samples: tuple[float, float], others: float = 0.0) -> Series:
    return Series([Sample(wall, cpu, others) for wall, cpu in samples])


def test_the_clock_counts_on_a_quiet_machine() -> None:
    held = series((3.0, 1.0), (9.0, 1.1), (2.0, 0.9), others=BUSY).held
    assert held.value == 3.0
    assert held.how.endswith("the clock counts")


def test_processor_time_counts_on_a_busy_machine_and_is_reported() -> None:
    held = series((3.0, 1.0), (9.0, 1.1), (2.0, 0.9), others=BUSY + 0.01).held
    assert held.value == 1.0
    assert "which counts: others used 21% of the machine" in held.how


def test_a_ratio_is_the_median_over_pairs_and_not_the_ratio_of_medians() -> None:
    # The machine was slow for the middle pair, which met both.
    pairs = Pairs(series((2.0, 2.0), (20.0, 2.0), (3.0, 3.0)), series((1.0, 1.0), (10.0, 1.0), (2.0, 1.0)))
    assert pairs.ratio.value == 2.0
    assert pairs.difference.value == 1.0


def test_a_pair_is_busy_when_either_was() -> None:
    pairs = Pairs(series((4.0, 3.0)), series((1.0, 1.0), others=0.9))
    assert pairs.ratio.value == 3.0
    assert pairs.difference.value == 2.0


@pytest.mark.parametrize(("busy", "own", "share"), [(8.0, 2.0, 0.75), (2.0, 2.0, 0.0), (1.9, 2.0, 0.0)])
def test_the_share_of_others_is_what_we_did_not_use(busy: float, own: float, share: float) -> None:
    assert share_of_others(busy, own, wall=4.0, processors=2) == share


class Fake:
    def __init__(self) -> None:
        self.own = self.machine = self.clock = 0.0

    def stopwatch(self) -> Stopwatch:
        return Stopwatch(lambda: self.own, lambda: self.machine, lambda: self.clock, processors=2)

    def work(self) -> None:
        self.own, self.machine, self.clock = self.own + 1, self.machine + 3, self.clock + 2


def test_a_block_is_measured_from_its_beginning_to_its_end() -> None:
    fake, samples = Fake(), list[Sample]()
    fake.work()
    with fake.stopwatch().measuring(samples):
        fake.work()
    assert samples == [Sample(wall=2.0, cpu=1.0, others=0.5)]


def fail() -> None:
    msg = "no"
    raise ValueError(msg)


def test_a_block_that_fails_leaves_no_sample() -> None:
    samples: list[Sample] = []
    with pytest.raises(ValueError, match="no"), Fake().stopwatch().measuring(samples):
        fail()
    assert samples == []
