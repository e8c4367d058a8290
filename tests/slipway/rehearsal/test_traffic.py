"""Network policies, evaluated as Kubernetes defines them."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.rehearsal.traffic import Pod, Traffic, selects

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
