"""One report: all mistakes at once, each on its own line, and no secret."""

from datetime import date
from typing import Any

import pytest

from spec.settings import ConfigurationError, load, read_stack
from tests.spec.settings.stack import BASE, DELETE, changed, loaded, problems
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, NAMES


def report(changes: dict[str, object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        loaded(changes)
    return str(caught.value)


def test_mistakes_of_all_parts_are_in_one_report() -> None:
    text = report(
        {
            "account.id": 111122223333,
            "network.zones": ["us-east-1a"],
            "cluster.verison": "1.35",
            "pools.cpu.max": "many",
            "pools.a100.mig.layout": "all-9g",
            "pools.system.min": 1,
            "environment": DELETE,
        }
    )
    lines = text.splitlines()
    assert lines[0] == "stack test: 7 problems, nothing was changed"
    assert [line.split(":")[0].strip(" -") for line in lines[1:]] == [
        "account.id",
        "cluster.verison",
        "environment",
        "network.zones",
        "pools.a100.mig.layout",
        "pools.cpu.max",
        "pools.system.min",
    ]


def test_a_line_has_path_rule_value_and_fix() -> None:
    assert report({"pools.system.min": 4}).splitlines()[1] == (
        "  - pools.system.min: min must be at most max (3) (given: 4). Use 3 or less, or raise max."
    )


def test_an_invalid_pool_hides_no_problem_of_another() -> None:
    found = problems(changed({"pools.cpu.max": 0, "pools.l4.instanceTypes": ["g6.xlarge"], "pools.h100.min": 9}))
    assert [problem.path for problem in found] == ["pools.cpu.max", "pools.h100.min", "pools.l4.instanceTypes"]


def test_an_invalid_part_causes_no_problems_elsewhere() -> None:
    found = problems(changed({"network.cidr": "not a range", "account.region": 3}))
    assert [problem.path for problem in found] == ["account.region", "network.cidr"]


@pytest.mark.parametrize("stack", NAMES)
def test_an_invalid_entry_causes_no_problems_where_it_is_referred_to(stack: str) -> None:
    settings: Any = read_stack(stack, FOLDER)
    for collection in ("pools", "teams"):
        for name, entry in settings[collection].items():
            wrong = {**settings, collection: {**settings[collection], name: {**entry, "nonsense": 1}}}
            found = problems(wrong, stack=stack)
            assert [problem.path for problem in found] == [f"{collection}.{name}.nonsense"]


def test_an_invalid_system_pool_is_not_reported_as_missing() -> None:
    found = problems(changed({"pools.system.max": "3"}))
    assert [problem.path for problem in found] == ["pools.system.max"]


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("environment.owner", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
        ("environment.tokne", "hf_abcdefghijklmnopqrstuvwxyz"),
        ("pools.cpu.max", "AKIAABCDEFGHIJKLMNOP"),
        ("pools.cpu.labels", ["sk-abcdefghijklmnopqrstuvwx"]),
    ],
)
def test_a_secret_is_not_repeated_whatever_else_is_wrong_with_it(path: str, secret: object) -> None:
    text = report({path: secret})
    assert "Revoke it" in text
    assert (secret[0] if isinstance(secret, list) else str(secret)[:20]) not in text


def test_a_long_value_is_shortened() -> None:
    assert max(len(line) for line in report({"environment.owner": "é" * 5000}).splitlines()) < 300


def test_a_value_of_several_shapes_is_one_problem_that_names_them() -> None:
    (problem,) = problems(changed({"pools.cpu.disruption.expireAfter": "sometimes"}))
    assert problem.path == "pools.cpu.disruption.expireAfter"
    assert "hours, minutes or seconds" in problem.rule
    assert "Never" in problem.rule


def test_settings_that_would_have_no_effect_are_refused() -> None:
    found = problems(
        changed({"pools.system.disruption": {"consolidateAfter": "1h"}, "pools.cpu.update": {"force": True}})
    )
    assert [problem.path for problem in found] == ["pools.cpu.update", "pools.system.disruption"]


def test_versions_near_the_end_of_support_are_a_warning() -> None:
    data = changed({"cluster.version": "1.34"})
    warnings = load(data, stack="test", today=date(2026, 11, 21)).warnings
    assert [problem.path for problem in warnings] == ["cluster.version"]
    assert "ends on 2026-12-02, in 11 days" in warnings[0].rule
    assert warnings[0].fix == "Plan the upgrade to 1.35."


@pytest.mark.parametrize(
    ("support", "said"),
    [("extended", "EKS bills extended support"), ("standard", "EKS upgrades the cluster itself")],
)
def test_after_standard_support_the_warning_says_what_eks_does(support: str, said: str) -> None:
    data = changed({"cluster.version": "1.33", "cluster.supportType": support})
    (warning,) = load(data, stack="test", today=date(2026, 11, 21)).warnings
    assert warning.rule == f"standard support ended on 2026-07-29, and {said}"


def test_a_catalog_whose_versions_have_all_ended_says_where_newer_ones_go() -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(changed({}), stack="test", today=date(2100, 1, 1))
    (problem,) = refused.value.problems
    assert problem.path == "cluster.version"
    assert problem.fix == "Add the versions that EKS supports to spec/catalog/data/kubernetes.yaml."


def test_loading_does_not_change_its_input() -> None:
    data = changed({})
    load(data, stack="test", today=TODAY)
    assert data == BASE
