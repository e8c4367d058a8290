"""Whatever goes wrong with the real production stack is told by the checks that it concerns, and by no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import pytest

from policies.resource import Resource
from policies.rule import AnyRule, ResourceRule
from policies.rules import RULES
from tests.policies.fixtures import FIXTURES
from tests.policies.fixtures.build import FixtureResource
from tests.policies.mutations import BESIDES, MORE, NEWCOMERS, OPTIONS, ROWS, SILENT, SPARED, SUBJECTS, Row
from tests.policies.production import Production, changed, differences, nearest

OF_A_RESOURCE = [rule for rule in RULES if isinstance(rule, ResourceRule)]
_OPTIONS = ("protect", "ignore_changes", "delete_before_replace", "provider")


@cache
def production() -> Production:
    return Production()


@pytest.mark.parametrize("rule", OF_A_RESOURCE, ids=lambda rule: rule.name)
def test_a_violation_of_a_resource_is_told_by_its_check(rule: AnyRule) -> None:
    """What makes a bad fixture of a good one is done to a real resource of its type; where production has none of that
    type, to one that a team might bring."""
    for key, fixtures in FIXTURES[rule.name].bad.items():
        check = f"{rule.name}/{key}"
        (made,) = fixtures[0].values()
        told = {check, *BESIDES.get(check, ())} - set(SILENT)
        assert news(rule, check, made) == told, check


def news(rule: AnyRule, check: str, made: FixtureResource) -> set[str]:
    """Checks that tell what they did not tell before, once the violation is there."""
    world, kind = production(), made.type or rule.types[0]
    good = nearest(rule, made)
    edits = {**MORE.get(check, {}), **differences(good.props, made.props)}
    options = {name: getattr(made, name) for name in _OPTIONS if getattr(good, name) != getattr(made, name)}
    options |= OPTIONS.get(check, {})
    with subject(world, check, kind, made) as pair, ExitStack() as stack:
        assert world.before is not None
        for one in pair:
            stack.enter_context(changed(one, edits))
            for name, value in options.items():
                stack.callback(object.__setattr__, one, name, getattr(one, name))
                object.__setattr__(one, name, value)
        return world.news({kind})


@contextmanager
def subject(world: Production, check: str, kind: str, made: FixtureResource) -> Iterator[tuple[Resource, ...]]:
    """A real resource, as both kinds of rules see it, or a new one for a while."""
    assert world.before is not None
    real = world.named(SUBJECTS[check]) if check in SUBJECTS else world.first(kind)
    if real is not None:
        yield real
        return
    props = NEWCOMERS.get(kind, made.props)
    one = newcomer(kind, props)
    with world.plus(one):
        yield (one,)


def newcomer(kind: str, props: Mapping[str, Any], name: str = "it") -> Resource:
    return Resource(type=kind, name=name, urn=f"urn:pulumi:prod::slipway::{kind}::{name}", read=lambda: props)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}-{'-'.join(row.finds)}")
def test_a_violation_of_the_stack_is_told_by_its_checks(row: Row) -> None:
    assert news_of(row) == set(row.finds)


def news_of(row: Row) -> set[str]:
    world = production()
    assert world.before is not None
    if row.adds:
        with world.plus(newcomer(row.adds, {}, row.name)):
            return world.news({row.adds})
    pair = world.named(row.name)
    with ExitStack() as stack:
        if row.edits is None:
            stack.enter_context(world.minus(row.name))
        else:
            for one in pair:
                stack.enter_context(changed(one, row.edits))
        return world.news({pair[0].type})


def test_every_rule_of_the_stack_has_a_row_or_a_reason() -> None:
    told = {check.partition("/")[0] for row in ROWS for check in row.finds}
    assert {rule.name for rule in RULES if not isinstance(rule, ResourceRule)} - told == set(SPARED)


@pytest.mark.parametrize("kind", NEWCOMERS)
def test_what_a_team_might_bring_is_good_by_itself(kind: str) -> None:
    world = production()
    assert world.before is not None
    with world.plus(newcomer(kind, NEWCOMERS[kind])):
        assert world.news({kind}) <= {"serving-pdb/budget"}
