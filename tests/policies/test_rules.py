"""Every rule on its fixtures: directly, through the SDK's policy, and through the servicer that the engine calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from policies.resources.access import UNKNOWN
from policies.rule import AnyRule
from policies.rules import MODULES as RULE_MODULES
from policies.rules import RULES
from policies.runner import Finding
from tests.policies.fixtures import FIXTURES, MODULES
from tests.policies.fixtures.build import Fixture
from tests.policies.support import (
    SECRET_SIGNATURE,
    Path,
    by_analyzer,
    by_validate,
    checks,
    diagnosed,
    findings_in,
    paths,
    removed,
    replaced,
    value_at,
)

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
DEFERRED: dict[tuple[str, Path], str] = {
    # Paths whose unknown value defers a check to the update: the value decides, although no fixture shows it.
    ("eks-addon-own-role", ("serviceAccount",)): "the association may be the add-on's",
    ("subnet-ip-headroom", ("availabilityZone",)): "the subnet may be in any zone",
    ("subnet-ip-headroom", ("cidrBlock",)): "the subnet may be large enough for all",
    ("subnet-ip-headroom", ("tags",)): "the subnet may be for pods",
    ("subnet-ip-headroom", ("tags", "karpenter.sh/discovery")): "the subnet may be for nodes",
    ("subnet-ip-headroom", ("tags", "kubernetes.io/role/cni")): "the subnet may be for pods",
    ("vpc-shape", ("mapPublicIpOnLaunch",)): "the subnet may be public, and its zone without nodes",
    ("eks-access-in-stack-file", ("principals",)): "the principal may be among them",
    ("eks-access-in-stack-file", ("principals", 0)): "it may be the principal",
    ("s3-audit-extras", ("rules", 0)): "the rule may be enabled",
    ("s3-audit-extras", ("rules", 0, "status")): "the rule may be enabled",
    ("s3-audit-extras", ("replicationConfiguration", "rules", 0)): "the rule may be enabled",
    ("s3-audit-extras", ("replicationConfiguration", "rules", 0, "status")): "the rule may be enabled",
    ("mig-profile-fits", ("pool", "gpu")): "another GPU may have the profile",
    **{
        ("service-account-own", ("metadata", *path)): "the namespace may be a team's"
        for path in ((), ("name",), ("labels",))
    },
    **{
        ("daemonset-tolerates-pools", ("pool", "taints", n, key)): "it may be a taint that is tolerated"
        for n in range(2)
        for key in ("key", "value", "effect")
    },
    **{
        ("identity-instance-tags", path): "the tag may be among them"
        for path in (("spec",), ("spec", "tags"), ("tagSpecifications",), ("tagSpecifications", 0, "tags"))
    },
    ("identity-instance-tags", ("tagSpecifications", 1, "resourceType")): "they may be tags of instances",
    ("identity-instance-tags", ("tagSpecifications", 0)): "the tag may be among them",
    ("identity-instance-tags", ("tagSpecifications", 1)): "they may be tags of instances",
    ("daemonset-tolerates-pools", ("values", "tolerations", 0)): "it may tolerate every taint",
    **{
        ("karpenter-drift-window", ("spec", "disruption", "budgets", 0, "reasons", n)): "it may be Drifted"
        for n in range(2)
    },
    **{
        ("budget-alarm-exists", ("notifications", n, key)): "it may be the one that the check looks for"
        for n in range(4)
        for key in ("notificationType", "threshold")
    },
    **{("budget-alarm-exists", ("notifications", n)): "it may be the one that the check looks for" for n in range(4)},
    ("pod-isolated", ("spec", "containers", 0, "securityContext")): "it may override the pod's",
    ("pod-isolated", ("spec", "template", "spec", "containers", 0, "securityContext")): "it may override the pod's",
    ("kueue-quota-fits-pool", ("pool", "max")): "it may be large enough",
    ("kueue-quota-fits-pool", ("pool", "resources")): "there may be enough",
    ("kueue-tenant-isolation", ("metadata",)): "it may be the target queue",
    ("kueue-tenant-isolation", ("metadata", "name")): "it may be the target queue",
    ("kueue-flavor-has-pool", ("pool",)): "it may be the selected pool",
    ("kueue-flavor-has-pool", ("pool", "name")): "it may be the selected pool",
    ("gpu-pod-schedulable", ("pool", "resources")): "a node may have enough",
    ("gpu-request-equals-limit", ("spec", "containers", 0, "resources", "limits")): "it may be equal",
    ("serving-pdb", ("metadata",)): "it may be the namespace of the budget",
    ("serving-pdb", ("metadata", "namespace")): "it may be the namespace of the budget",
    ("serving-pdb", ("spec", "template")): "its labels may match the budget",
    ("serving-pdb", ("spec", "template", "metadata", "labels")): "its labels may match the budget",
    **{
        (
            "cost-tags-complete",
            ("tagSpecifications", n, "resourceType"),
        ): "it may be for the resource that the check looks for"
        for n in range(2)
    },
    ("serving-pdb", ("spec", "template", "metadata", "labels", "app")): "the label may match the budget",
    ("cost-tags-complete", ("tagSpecifications", 0)): "it may be for the resource that the check looks for",
    ("cost-tags-complete", ("tagSpecifications", 1)): "it may be for the resource that the check looks for",
    ("serving-pdb", ("spec", "template", "metadata")): "its labels may match the budget",
    ("gpu-pod-schedulable", ("pool",)): "it may be the selected pool",
    ("gpu-pod-schedulable", ("pool", "name")): "it may be the selected pool",
    ("rds-parameters", ("parameters", 0, "name")): "it may be the parameter that the check looks for",
    ("rds-parameters", ("parameters", 1, "name")): "it may be the parameter that the check looks for",
    ("efa-pool-complete", ("networkInterfaces", 2)): "the interface may be an adapter",
    ("efa-pool-complete", ("networkInterfaces", 2, "interfaceType")): "the interface may be an adapter",
}
Change = Callable[[dict[str, Any], Path], dict[str, Any]]


def goods(rule: AnyRule) -> Iterator[tuple[str, Fixture]]:
    """Good fixtures of a rule, each with its name for a failure."""
    yield from ((f"{rule.name}, good fixture {n}", good) for n, good in enumerate(FIXTURES[rule.name].good))


def bads(rule: AnyRule) -> Iterator[tuple[str, str, Fixture]]:
    """Bad fixtures of a rule: name for a failure, check, and fixture."""
    for key, fixtures in FIXTURES[rule.name].bad.items():
        yield from ((f"{rule.name}/{key}, bad fixture {n}", key, bad) for n, bad in enumerate(fixtures))


@rules
def test_a_good_fixture_has_no_violation(rule: AnyRule) -> None:
    for name, fixture in goods(rule):
        assert findings_in(rule, fixture) == [], name
        assert by_validate(rule, fixture) == set(), name
        assert diagnosed(by_analyzer(rule, fixture)) == set(), name


@rules
def test_a_bad_fixture_violates_only_its_check(rule: AnyRule) -> None:
    for name, check, fixture in bads(rule):
        assert checks(findings_in(rule, fixture)) == {check}, name
        assert by_validate(rule, fixture) == {check}, name
        assert diagnosed(by_analyzer(rule, fixture)) == {check}, name


def test_a_bad_fixture_of_another_environment_is_a_violation_only_there() -> None:
    for rule in RULES:
        for key, by_environment in FIXTURES[rule.name].bad_elsewhere.items():
            for environment, fixtures in by_environment.items():
                assert all(checks(findings_in(rule, fixture, environment)) == {key} for fixture in fixtures)
                assert all(findings_in(rule, fixture) == [] for fixture in fixtures)


def test_every_rule_and_every_check_has_fixtures() -> None:
    assert RULES
    assert set(FIXTURES) == {rule.name for rule in RULES}
    assert [name for name, fixtures in FIXTURES.items() if not fixtures.good] == []
    checks_with_fixtures = [
        f"{name}/{key}" for name, fixtures in FIXTURES.items() for key, bad in fixtures.bad.items() if bad
    ]
    assert sorted(checks_with_fixtures) == sorted(f"{rule.name}/{key}" for rule in RULES for key in rule.checks)
    elsewhere = {f"{name}/{key}" for name, fixtures in FIXTURES.items() for key in fixtures.bad_elsewhere}
    assert elsewhere <= set(checks_with_fixtures)


def test_the_fixtures_of_a_module_of_rules_are_in_the_module_of_the_same_name() -> None:
    fixtures = {module.__name__.rpartition(".")[2]: set(module.FIXTURES) for module in MODULES}
    rules_by_module = {
        module.__name__.rpartition(".")[2]: {rule.name for rule in module.RULES}
        for modules in RULE_MODULES.values()
        for module in modules
    }
    assert fixtures == rules_by_module


def varied(fixture: Fixture, change: Change) -> Iterator[tuple[str, Path, Fixture]]:
    """Variants of the fixture with one value changed."""
    for name, resource in fixture.items():
        for path in paths(resource.props):
            if value_at(resource.props, path) is not None:
                yield name, path, {**fixture, name: replace(resource, props=change(dict(resource.props), path))}


@contextmanager
def named(*place: object) -> Iterator[None]:
    """Adds the fixture and the path to an exception or failed assertion."""
    try:
        yield
    except Exception as error:
        error.add_note(f"at {place}")
        raise


def to_unknown(props: dict[str, Any], path: Path) -> dict[str, Any]:
    return replaced(props, path, UNKNOWN)


def to_secret(props: dict[str, Any], path: Path) -> dict[str, Any]:
    return replaced(props, path, {**SECRET_SIGNATURE, "value": value_at(props, path)})


def to_another_type(props: dict[str, Any], path: Path) -> dict[str, Any]:
    value = value_at(props, path)
    return replaced(props, path, "text" if isinstance(value, dict | list) else {"of": "another type"})


@rules
def test_an_unknown_value_in_a_good_fixture_is_no_violation(rule: AnyRule) -> None:
    for fixture_name, fixture in goods(rule):
        for name, path, variant in varied(fixture, to_unknown):
            with named(fixture_name, name, path):
                assert findings_in(rule, variant) == []


@rules
def test_an_unknown_value_that_does_not_decide_changes_nothing(rule: AnyRule) -> None:
    """A value does not decide if the violation remains without it."""
    for fixture_name, check, fixture in bads(rule):
        findings = findings_in(rule, fixture)
        for name, path, variant in varied(fixture, to_unknown):
            reported = checks(findings_in(rule, variant))
            assert reported <= {check}, (fixture_name, name, path)
            deferred = (rule.name, path) in DEFERRED or any(concerns(finding, name, path) for finding in findings)
            if reported == {check} or deferred:
                continue
            without = {**fixture, name: replace(fixture[name], props=removed(dict(fixture[name].props), path))}
            decided = checks(findings_in(rule, without)) != {check} or decides(rule, fixture, name, path, check)
            place = (fixture_name, name, path)
            assert decided, f"{place}: add it to DEFERRED of this file with the reason, if the check has to wait for it"


def concerns(finding: Finding, name: str, path: Path) -> bool:
    """Whether a finding is for a path, or for a path below it."""
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return finding.urn.endswith(f"::{name}") and finding.path.startswith(written)


def decides(rule: AnyRule, fixture: Fixture, name: str, path: Path, check: str) -> bool:
    """Whether another value at the path would be valid: a common one, or one from a good fixture."""
    resource = fixture[name]
    value = value_at(resource.props, path)
    candidates: list[Any] = [[], {}, "another", 0, 1, 10**9, True, False, "true", "false"]
    for good in FIXTURES[rule.name].good:
        for other in good.values():
            if path in paths(other.props):
                candidates.append(value_at(other.props, path))
    for candidate in candidates:
        if candidate == value:
            continue
        variant = {**fixture, name: replace(resource, props=replaced(dict(resource.props), path, candidate))}
        if check not in checks(findings_in(rule, variant)):
            return True
    return False


def with_unknown_property(fixture: Fixture) -> Fixture:
    """The fixture with an additional unknown property in each resource."""
    return {name: replace(resource, props={**resource.props, "added": UNKNOWN}) for name, resource in fixture.items()}


@rules
def test_an_additional_unknown_property_changes_nothing(rule: AnyRule) -> None:
    for name, fixture in goods(rule):
        assert diagnosed(by_analyzer(rule, with_unknown_property(fixture))) == set(), name
    for name, check, fixture in bads(rule):
        assert diagnosed(by_analyzer(rule, with_unknown_property(fixture))) == {check}, name


@rules
def test_a_secret_is_evaluated_like_other_values(rule: AnyRule) -> None:
    for fixture_name, check, fixture in bads(rule):
        for name, path, variant in islice(varied(fixture, to_secret), 3):
            assert diagnosed(by_analyzer(rule, variant)) == {check}, (fixture_name, name, path)


@rules
def test_a_value_of_another_type_or_a_missing_one_never_crashes_a_rule(rule: AnyRule) -> None:
    for fixture_name, fixture in goods(rule):
        for name, path, variant in varied(fixture, to_another_type):
            with named(fixture_name, name, path):
                findings_in(rule, variant)
    for fixture_name, _check, fixture in bads(rule):
        for name, path, variant in varied(fixture, removed):
            with named(fixture_name, name, path):
                findings_in(rule, variant)


def test_a_message_contains_the_check_the_requirement_the_value_and_the_fix() -> None:
    every_check = [(rule, key, check) for rule in RULES for key, check in rule.checks.items()]
    for rule, key, check in every_check:
        message = findings_in(rule, FIXTURES[rule.name].bad[key][0])[0].message
        assert message.startswith(f"[{key}] "), (rule.name, message)
        assert check.asks in message, (rule.name, message)
        assert "; it is " in message, (rule.name, message)
        assert message.endswith(check.fix or rule.fix), (rule.name, message)
