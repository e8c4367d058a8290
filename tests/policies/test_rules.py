"""Every rule on its own fixtures: asked directly, by the SDK's policy, and by the servicer that the engine talks to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from policies.access import UNKNOWN
from policies.fixtures import Fixture
from policies.rule import AnyRule
from policies.rules import RULES
from policies.runner import Finding
from tests.policies.support import (
    SECRET_SIGNATURE,
    Path,
    by_analyzer,
    by_validate,
    checks,
    diagnosed,
    found_in,
    places,
    removed,
    replaced,
    value_at,
)

GOOD = [pytest.param(rule, good, id=f"{rule.name}-{n}") for rule in RULES for n, good in enumerate(rule.good)]
BAD = [
    pytest.param(rule, key, bad, id=f"{rule.name}-{key}-{n}")
    for rule in RULES
    for key, check in rule.checks.items()
    for n, bad in enumerate(check.bad)
]
rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
WAITS: dict[tuple[str, Path], str] = {
    # Places whose unknown makes a check wait for the update, because what is there decides although no fixture says so.
    ("eks-addon-own-role", ("serviceAccount",)): "the association may be the add-on's",
    ("subnet-ip-headroom", ("availabilityZone",)): "the subnet may be in any zone",
    ("subnet-ip-headroom", ("cidrBlock",)): "the subnet may be large enough for all",
    ("subnet-ip-headroom", ("tags",)): "the subnet may be of pods",
    ("subnet-ip-headroom", ("tags", "karpenter.sh/discovery")): "the subnet may be of nodes",
    ("subnet-ip-headroom", ("tags", "kubernetes.io/role/cni")): "the subnet may be of pods",
    ("vpc-shape", ("mapPublicIpOnLaunch",)): "the subnet may be public, and its zone without nodes",
    ("mig-profile-fits", ("pool", "gpu")): "another GPU may have the profile",
    **{
        ("budget-alarm-exists", ("notifications", n, key)): "it may be the one that is looked for"
        for n in range(4)
        for key in ("notificationType", "threshold")
    },
    **{("budget-alarm-exists", ("notifications", n)): "it may be the one that is looked for" for n in range(4)},
    ("pod-isolated", ("spec", "containers", 0, "securityContext")): "it may go before the pod's",
    ("pod-isolated", ("spec", "template", "spec", "containers", 0, "securityContext")): "it may go before the pod's",
    ("kueue-quota-fits-pool", ("pool", "max")): "it may be large enough",
    ("kueue-quota-fits-pool", ("pool", "resources")): "there may be enough",
    ("kueue-tenant-isolation", ("metadata",)): "it may be the queue that is named",
    ("kueue-tenant-isolation", ("metadata", "name")): "it may be the queue that is named",
    ("kueue-flavor-has-pool", ("pool",)): "it may be the pool that is named",
    ("kueue-flavor-has-pool", ("pool", "name")): "it may be the pool that is named",
    ("gpu-pod-schedulable", ("pool", "resources")): "a node may have as many",
    ("gpu-request-equals-limit", ("spec", "containers", 0, "resources", "limits")): "it may be equal",
    ("serving-pdb", ("metadata",)): "it may be where the budget is",
    ("serving-pdb", ("metadata", "namespace")): "it may be where the budget is",
    ("serving-pdb", ("spec", "template")): "its labels may be those that the budget names",
    ("serving-pdb", ("spec", "template", "metadata", "labels")): "its labels may be those that the budget names",
    **{
        ("cost-tags-complete", ("tagSpecifications", n, "resourceType")): "it may be of what is looked for"
        for n in range(2)
    },
    ("serving-pdb", ("spec", "template", "metadata", "labels", "app")): "it may be the label that the budget names",
    ("cost-tags-complete", ("tagSpecifications", 0)): "it may be of what is looked for",
    ("cost-tags-complete", ("tagSpecifications", 1)): "it may be of what is looked for",
    ("serving-pdb", ("spec", "template", "metadata")): "its labels may be those that the budget names",
    ("gpu-pod-schedulable", ("pool",)): "it may be the pool that is named",
    ("gpu-pod-schedulable", ("pool", "name")): "it may be the pool that is named",
    ("rds-parameters", ("parameters", 0, "name")): "it may be the parameter that is looked for",
    ("rds-parameters", ("parameters", 1, "name")): "it may be the parameter that is looked for",
    ("efa-pool-complete", ("networkInterfaces", 2)): "the interface may be an adapter",
    ("efa-pool-complete", ("networkInterfaces", 2, "interfaceType")): "the interface may be an adapter",
}
Change = Callable[[dict[str, Any], Path], dict[str, Any]]


@pytest.mark.parametrize(("rule", "fixture"), GOOD)
def test_nothing_is_found_in_a_good_fixture(rule: AnyRule, fixture: Fixture) -> None:
    assert found_in(rule, fixture) == []
    assert by_validate(rule, fixture) == set()
    assert diagnosed(by_analyzer(rule, fixture)) == set()


@pytest.mark.parametrize(("rule", "check", "fixture"), BAD)
def test_a_bad_fixture_is_found_by_its_own_check_alone(rule: AnyRule, check: str, fixture: Fixture) -> None:
    assert checks(found_in(rule, fixture)) == {check}
    assert by_validate(rule, fixture) == {check}
    assert diagnosed(by_analyzer(rule, fixture)) == {check}


def test_a_bad_fixture_of_another_environment_is_found_there_alone() -> None:
    for rule in RULES:
        for key, check in rule.checks.items():
            for environment, fixtures in check.elsewhere.items():
                assert all(checks(found_in(rule, fixture, environment)) == {key} for fixture in fixtures)
                assert all(found_in(rule, fixture) == [] for fixture in fixtures)


@rules
def test_every_rule_and_every_check_has_fixtures(rule: AnyRule) -> None:
    assert rule.good
    assert all(check.bad for check in rule.checks.values())


def varied(fixture: Fixture, change: Change) -> list[tuple[str, Path, Fixture]]:
    """The fixture with each of its places changed, one at a time."""
    return [
        (name, path, {**fixture, name: replace(made, props=change(dict(made.props), path))})
        for name, made in fixture.items()
        for path in places(made.props)
        if value_at(made.props, path) is not None
    ]


def to_unknown(props: dict[str, Any], path: Path) -> dict[str, Any]:
    return replaced(props, path, UNKNOWN)


def to_secret(props: dict[str, Any], path: Path) -> dict[str, Any]:
    return replaced(props, path, {**SECRET_SIGNATURE, "value": value_at(props, path)})


def to_another_type(props: dict[str, Any], path: Path) -> dict[str, Any]:
    value = value_at(props, path)
    return replaced(props, path, "text" if isinstance(value, dict | list) else {"of": "another type"})


@pytest.mark.parametrize(("rule", "fixture"), GOOD)
def test_what_is_not_known_is_no_violation_and_stops_no_rule(rule: AnyRule, fixture: Fixture) -> None:
    for name, path, variant in varied(fixture, to_unknown):
        assert found_in(rule, variant) == [], (name, path)


@pytest.mark.parametrize(("rule", "check", "fixture"), BAD)
def test_an_unknown_that_does_not_decide_changes_nothing(rule: AnyRule, check: str, fixture: Fixture) -> None:
    """A place does not decide where the finding stays without it."""
    found = found_in(rule, fixture)
    for name, path, variant in varied(fixture, to_unknown):
        said = checks(found_in(rule, variant))
        assert said <= {check}, (name, path)
        waits = (rule.name, path) in WAITS or any(is_judged(finding, name, path) for finding in found)
        if said == {check} or waits:
            continue
        without = {**fixture, name: replace(fixture[name], props=removed(dict(fixture[name].props), path))}
        decided = checks(found_in(rule, without)) != {check} or decides(rule, fixture, name, path, check)
        assert decided, (name, path)


def is_judged(finding: Finding, name: str, path: Path) -> bool:
    """Whether a finding is about this place, or about something in it."""
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return finding.urn.endswith(f"::{name}") and finding.path.startswith(written)


def decides(rule: AnyRule, fixture: Fixture, name: str, path: Path, check: str) -> bool:
    """Whether some other value would be right there: another of the same type, or one from a good fixture."""
    made = fixture[name]
    value = value_at(made.props, path)
    others: list[Any] = [[], {}, "another", 0, 1, 10**9, True, False, "true", "false"]
    for good in rule.good:
        for twin in good.values():
            if path in places(twin.props):
                others.append(value_at(twin.props, path))
    for other in others:
        if other == value:
            continue
        variant = {**fixture, name: replace(made, props=replaced(dict(made.props), path, other))}
        if check not in checks(found_in(rule, variant)):
            return True
    return False


@pytest.mark.parametrize(("rule", "fixture"), GOOD)
def test_an_unknown_beside_the_rest_is_no_violation(rule: AnyRule, fixture: Fixture) -> None:
    strange = {name: replace(made, props={**made.props, "strange": UNKNOWN}) for name, made in fixture.items()}
    assert diagnosed(by_analyzer(rule, strange)) == set()


@pytest.mark.parametrize(("rule", "check", "fixture"), BAD)
def test_an_unknown_beside_the_rest_hides_nothing(rule: AnyRule, check: str, fixture: Fixture) -> None:
    strange = {name: replace(made, props={**made.props, "strange": UNKNOWN}) for name, made in fixture.items()}
    assert diagnosed(by_analyzer(rule, strange)) == {check}


@pytest.mark.parametrize(("rule", "check", "fixture"), BAD)
def test_a_secret_is_judged_like_anything_else(rule: AnyRule, check: str, fixture: Fixture) -> None:
    for name, path, variant in varied(fixture, to_secret)[:3]:
        assert diagnosed(by_analyzer(rule, variant)) == {check}, (name, path)


@pytest.mark.parametrize(("rule", "fixture"), GOOD)
def test_a_value_of_another_type_never_crashes_a_rule(rule: AnyRule, fixture: Fixture) -> None:
    for _name, _path, variant in varied(fixture, to_another_type):
        found_in(rule, variant)


@pytest.mark.parametrize(("rule", "check", "fixture"), BAD)
def test_a_missing_value_never_crashes_a_rule(rule: AnyRule, check: str, fixture: Fixture) -> None:
    for _name, _path, variant in varied(fixture, removed):
        found_in(rule, variant)


@rules
def test_a_message_names_the_check_the_place_the_value_and_the_mend(rule: AnyRule) -> None:
    for key, check in rule.checks.items():
        message = found_in(rule, check.bad[0])[0].message
        assert message.startswith(f"[{key}] ")
        assert check.asks in message
        assert "; it is " in message
        assert message.endswith(check.mend or rule.mend)
