"""Verdicts on a replay that was recorded, `events.ndjson`, whose sums are worked out by hand; and rules of traffic."""

from typing import Any, Final

import pytest

from slipway.rehearsal.evaluation import checks
from slipway.rehearsal.traffic import Pod, Traffic, selects
from slipway.replay.fold import Fold
from slipway.replay.result import Result
from slipway.trial.clock import ClockExpectation, Job, Variant
from slipway.trial.evaluation import Status
from tests.slipway.replay.examples import events, planned
from tests.support.cases import beside

CASES: Final = beside(__file__)


def result() -> Result:
    fold = Fold(planned(), stack="dev", source="trace.csv", form="csv", every=True)
    for event in events():
        fold.add(event)
    return fold.result()


def variant(subject: str, expected: dict[str, Any], breaks: dict[str, str] | None = None) -> Variant:
    jobs = {name: Job(team="vision", runs="1h") for name in ("train", "sweep", "notebook", "data", "huge")}
    return Variant(
        name="bad" if breaks else "",
        description="",
        start="2026-01-05T00:00:00Z",
        seconds=1.0,
        change={},
        kueue={},
        jobs=jobs,
        expect={subject: ClockExpectation.model_validate(expected)},
        breaks={subject: breaks} if breaks else {},
    )


MET: list[tuple[str, dict[str, Any], str]] = CASES["met"]
UNMET: list[tuple[str, dict[str, Any], str]] = CASES["unmet"]


@pytest.mark.parametrize(("subject", "expected", "says"), MET)
def test_what_is_met(subject: str, expected: dict[str, Any], says: str) -> None:
    found = checks(variant(subject, expected), result())
    assert [one.status for one in found] == [Status.PASSED] * len(expected)
    assert says in found[0].detail


@pytest.mark.parametrize(("subject", "expected", "says"), UNMET)
def test_what_is_not_met_is_said_in_the_words_of_the_layer(subject: str, expected: dict[str, Any], says: str) -> None:
    (found,) = checks(variant(subject, expected), result())
    assert found.status is Status.FAILED
    assert says in found.detail


@pytest.mark.parametrize(("subject", "expected", "says"), UNMET)
def test_a_bad_variant_is_as_expected_if_it_breaks_with_the_right_words(
    subject: str, expected: dict[str, Any], says: str
) -> None:
    (field,) = expected
    assert checks(variant(subject, expected, {field: says}), result())[0].status is Status.PASSED
    (other,) = checks(variant(subject, expected, {field: "another layer"}), result())
    assert other.status is Status.FAILED
    assert "does not hold" in other.expected
    assert "because another layer" in other.expected


def test_a_bad_variant_that_breaks_nothing_has_failed() -> None:
    (found,) = checks(variant("pool/h100", {"costsAtMost": 24}, {"costsAtMost": "idle"}), result())
    assert found.status is Status.FAILED


def test_a_subject_that_the_stack_lacks_has_failed() -> None:
    for subject in ("pool/b200", "team/nobody"):
        (found,) = checks(variant(subject, {"costsAtMost": 1}), result())
        assert (found.status, found.detail) == (Status.FAILED, f"the stack has no {subject}")


# What network policies allow, by the rules that were rendered.


SPACES = {"a": {"team": "x"}, "b": {"team": "x"}, "c": {"team": "y"}}
RANK = Pod(namespace="a", labels={"app": "rank"})
OTHER = Pod(namespace="b", labels={"app": "server"})
FOREIGN = Pod(namespace="c", labels={"app": "server"})
DENY = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
TEAM = {"namespaceSelector": {"matchLabels": {"team": "x"}}}


def traffic(**policies: Any) -> Traffic:
    """Policies `NAMESPACE_NAME`."""
    return Traffic(
        policies=[
            {"metadata": {"name": key.partition("_")[2], "namespace": key.partition("_")[0]}, "spec": spec}
            for key, spec in policies.items()
        ],
        spaces=SPACES,
    )


def test_without_policies_everything_is_allowed() -> None:
    assert traffic().blocked(RANK, FOREIGN, 1) == ""


def test_each_side_may_forbid_it_and_is_named() -> None:
    assert traffic(a_deny=DENY).blocked(RANK, OTHER, 29500) == (
        "egress of namespace a: none of its network policies (deny) allows port 29500 to pods of b"
    )
    assert traffic(b_deny=DENY).blocked(RANK, OTHER, 29500) == (
        "ingress of namespace b: none of its network policies (deny) allows port 29500 from pods of a"
    )


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ({"to": [TEAM]}, True),
        ({"to": [TEAM], "ports": [{"port": 443}]}, False),
        ({"to": [TEAM], "ports": [{"port": 29000, "endPort": 30000}]}, True),
        ({"to": [TEAM], "ports": [{"port": 29500, "protocol": "UDP"}]}, False),
        ({"to": [TEAM], "ports": [{"port": "http"}]}, False),
        ({"to": [{**TEAM, "podSelector": {"matchLabels": {"app": "server"}}}]}, True),
        ({"to": [{**TEAM, "podSelector": {"matchLabels": {"app": "rank"}}}]}, False),
        ({"to": [{"podSelector": {}}]}, False),  # of the policy's own namespace
        ({"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}, False),  # of what is outside the cluster
        ({}, True),
    ],
)
def test_what_a_rule_allows(rule: dict[str, Any], allowed: bool) -> None:
    policies = traffic(a_deny=DENY, a_some={"podSelector": {}, "policyTypes": ["Egress"], "egress": [rule]})
    assert (policies.blocked(RANK, OTHER, 29500) == "") is allowed


def test_a_policy_is_for_the_pods_that_it_selects_and_for_its_types() -> None:
    others = {"podSelector": {"matchLabels": {"app": "other"}}, "policyTypes": ["Egress"]}
    assert traffic(a_others=others).blocked(RANK, OTHER, 1) == ""
    assert traffic(a_in={"podSelector": {}, "policyTypes": ["Ingress"]}).blocked(RANK, OTHER, 1) == ""
    # Without types it is for ingress, and for egress if it has rules for it.
    assert traffic(a_in={"podSelector": {}}).blocked(RANK, OTHER, 1) == ""
    assert "ingress of namespace a" in traffic(a_in={"podSelector": {}}).blocked(OTHER, RANK, 1)


def test_selectors_have_expressions() -> None:
    found = {"app": "rank"}
    for operator, values, met in (
        ("In", ["rank"], True), ("In", ["x"], False), ("NotIn", ["rank"], False), ("NotIn", ["x"], True),
        ("Exists", None, True), ("DoesNotExist", None, False),
    ):  # fmt: skip
        assert selects({"matchExpressions": [{"key": "app", "operator": operator, "values": values}]}, found) is met
