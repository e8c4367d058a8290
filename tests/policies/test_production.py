"""Every mutation of the production stack is reported by the checks that it violates, and by no others."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import pytest

from policies.resources.resource import Resource
from policies.rule import AnyRule, ResourceRule
from policies.rules import RULES
from tests.policies.build import FixtureResource
from tests.policies.fixtures import FIXTURES
from tests.policies.mutations import (
    MUTATIONS,
    OF_CHECKS,
    OF_GIVEN_OBJECTS,
    OTHERWISE,
    TEAM_RESOURCES,
    WITHOUT_MUTATION,
    Mutation,
)
from tests.policies.production import Production, changed, differences, nearest

RESOURCE_RULES = [rule for rule in RULES if isinstance(rule, ResourceRule)]
_OPTIONS = ("protect", "ignore_changes", "delete_before_replace", "provider")


@cache
def production() -> Production:
    return Production()


@pytest.mark.parametrize("rule", RESOURCE_RULES, ids=lambda rule: rule.name)
def test_a_violation_of_a_resource_is_reported_by_its_check(rule: AnyRule) -> None:
    """The difference between a bad and a good fixture is applied to a real resource of the type, or to a resource of a
    team if production has none."""
    for key, fixtures in FIXTURES[rule.name].bad.items():
        check = f"{rule.name}/{key}"
        (bad,) = fixtures[0].values()
        row = OF_CHECKS.get(check, OTHERWISE)
        expected = row.also | (set() if row.silent else {check})
        found = new_violations(rule, check, bad)
        assert found - (OF_GIVEN_OBJECTS - expected) == expected, f"{check}: tests/policies/mutations.yaml"


def new_violations(rule: AnyRule, check: str, bad: FixtureResource) -> set[str]:
    """Checks that report new violations once the difference is applied."""
    stack, kind = production(), bad.type or rule.types[0]
    good = nearest(rule, bad)
    row = OF_CHECKS.get(check, OTHERWISE)
    edits = {**row.more, **differences(good.props, bad.props)}
    options = {name: getattr(bad, name) for name in _OPTIONS if getattr(good, name) != getattr(bad, name)}
    options |= row.options
    with subject(stack, check, kind, bad) as pair, ExitStack() as changes:
        assert stack.before is not None
        for one in pair:
            changes.enter_context(changed(one, edits))
            for name, value in options.items():
                changes.callback(object.__setattr__, one, name, getattr(one, name))
                object.__setattr__(one, name, value)
        return stack.new_violations({kind})


@contextmanager
def subject(stack: Production, check: str, kind: str, bad: FixtureResource) -> Iterator[tuple[Resource, ...]]:
    """A real resource, with inputs and with outputs, or a temporary one."""
    assert stack.before is not None
    name = OF_CHECKS.get(check, OTHERWISE).subject
    real = stack.named(name) if name else stack.first(kind)
    if real is not None:
        yield real
        return
    added = resource(kind, TEAM_RESOURCES.get(kind, bad.props))
    with stack.with_resource(added):
        yield (added,)


def resource(kind: str, props: Mapping[str, Any], name: str = "it") -> Resource:
    return Resource(type=kind, name=name, urn=f"urn:pulumi:prod::slipway::{kind}::{name}", read=lambda: props)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.name}-{'-'.join(mutation.violates)}")
def test_a_violation_of_the_stack_is_reported_by_its_checks(mutation: Mutation) -> None:
    found, expected = violations_of(mutation), set(mutation.violates)
    assert found - (OF_GIVEN_OBJECTS - expected) == expected, (
        "`stack` of tests/policies/mutations.yaml lists the checks that find it"
    )


def violations_of(mutation: Mutation) -> set[str]:
    stack = production()
    assert stack.before is not None
    if mutation.adds:
        with stack.with_resource(resource(mutation.adds, {}, mutation.name)):
            return stack.new_violations({mutation.adds})
    pair = stack.named(mutation.name)
    with ExitStack() as changes:
        if mutation.edits is None:
            changes.enter_context(stack.without_resource(mutation.name))
        else:
            for one in pair:
                changes.enter_context(changed(one, mutation.edits))
        return stack.new_violations({pair[0].type})


def test_every_stack_rule_has_a_mutation_or_a_reason() -> None:
    reported = {check.partition("/")[0] for mutation in MUTATIONS for check in mutation.violates}
    without = {rule.name for rule in RULES if not isinstance(rule, ResourceRule)} - reported
    where = "of tests/policies/mutations.yaml"
    assert without - set(WITHOUT_MUTATION) == set(), f"add a change to `stack` {where}, or a reason to `without`"
    assert set(WITHOUT_MUTATION) - without == set(), f"remove these from `without` {where}: they have a change"


@pytest.mark.parametrize("kind", TEAM_RESOURCES)
def test_resources_of_a_team_violate_nothing_but_the_disruption_budget(kind: str) -> None:
    stack = production()
    assert stack.before is not None
    with stack.with_resource(resource(kind, TEAM_RESOURCES[kind])):
        assert stack.new_violations({kind}) <= {"serving-pdb/budget"}
