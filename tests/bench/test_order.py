"""The numbers of the order: the longest chains of waits."""

from tests.bench.durations import duration_of
from tests.bench.figure import Verdict
from tests.bench.numbers.order import BOUND, absent, software, whole
from tests.bench.samples import recorded, with_wait


def test_prod_keeps_the_bounds() -> None:
    figures = [whole(recorded()), software(recorded()), absent(recorded())]
    assert [figure.verdict for figure in figures] == [Verdict.HELD] * 3


def test_an_unneeded_wait_misses_both_bounds_and_is_named_with_its_cost() -> None:
    program = with_wait("cluster-control-plane", "network-route-nat-a")
    for figure in (whole(program), software(program)):
        assert figure.value is not None
        assert figure.value > BOUND
        # 13 s of VPC and subnet, 1 s of routes, 97 s of gateway, in place of 29 s of key and log group.
        unneeded = [note for note in figure.notes if note.startswith("no need")]
        assert unneeded == ["no need: cluster-control-plane waits for network-route-nat-a (without it 95 s less)"]


def test_a_chart_that_waits_for_another_is_seen_although_a_file_system_takes_longer() -> None:
    program = with_wait("cert-manager-release", "kube-prometheus-stack-release")
    assert whole(program).verdict is Verdict.HELD
    found = software(program)
    assert found.verdict is Verdict.MISSED
    assert any("cert-manager-release waits for kube-prometheus-stack-release" in note for note in found.notes)


def test_a_wait_beside_the_longest_chain_costs_nothing() -> None:
    program = with_wait("addons-late-coredns", "addons-late-metrics-server")
    assert (whole(program).verdict, software(program).verdict) == (Verdict.HELD, Verdict.HELD)


def test_the_first_gpu_waits_for_nothing_but_network_control_plane_node_and_plugin() -> None:
    (note,) = [note for note in software(recorded()).notes if "the first GPU" in note]
    alone = ("cluster-key", "cluster-logs", "cluster-control-plane", "addons-early-vpc-cni", "pool-system-node-group")
    seconds = sum(duration_of(recorded().named(name)).seconds for name in (*alone, "gpu-operator-release"))
    assert f"{seconds:.0f} s" in note


def test_the_use_of_the_default_and_its_effect_on_the_result_are_reported() -> None:
    (note,) = [note for note in whole(recorded()).notes if "take the default of 3 s" in note]
    created = sum(each.custom and not each.type.startswith("pulumi:providers:") for each in recorded())
    assert f"of {created} resources" in note
    assert "with 30 s it would be" in note


def test_missing_waits_are_named_and_miss_a_bound_of_zero() -> None:
    found = absent(recorded())
    assert (found.value, found.bound) == (0, 0)
    assert any("no need asks for" in note for note in found.notes)
