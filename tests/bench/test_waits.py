from graphlib import CycleError

import pytest

from slipway.render.recording import Options, RecordedResource, Values
from tests.bench.waits import Graph, closure, waits_of

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
