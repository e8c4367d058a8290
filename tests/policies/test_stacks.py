"""The pack on the real programs of all environments, as a preview and as an update."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, Final

import pytest

from policies import pack
from policies.resources.resource import Resource
from policies.rule import ENVIRONMENTS, AnyRule, ResourceRule
from policies.rules import RULES
from policies.runner import Finding
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from spec.settings import ConfigurationError, Platform, load, read_stack
from spec.settings.checks.addons import key_of
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
from tests.policies.support import BY_NAME
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, recorded

CASES: Final = beside(__file__)
IDLE = set(CASES["idle rules"])
runs = pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
environments = pytest.mark.parametrize("stack", ENVIRONMENTS)


@cache
def findings_in(stack: str, *, preview: bool) -> list[Finding]:
    """All findings, including suppressed ones: half a second for each stack."""
    return check(recorded(stack, preview=preview), TODAY)


@cache
def everything() -> Platform:
    """The example stack with every add-on."""
    return load(read_stack("everything", FOLDER.parent / "examples/stacks"), stack="everything", today=TODAY).platform


@cache
def findings_in_everything() -> list[Finding]:
    """All its findings, as a stack for development."""
    return check(replace(record_platform(everything(), stack="everything"), stack="dev"), TODAY)


NEEDED: dict[str, Any] = {
    "kubeflowPipelines": {"namespaces": ["vision-training"], "database": {"deletionProtection": True, "multiAz": True}},
}
"""Add-ons that prod doesn't have, with what they have to be given there beyond `example` of their settings."""


@cache
def findings_in_prod_with_all_addons() -> list[Finding]:
    """All findings of stack prod with the example's other add-ons."""
    settings: Any = deepcopy(read_stack("prod", FOLDER))
    for key, addon in everything().addons.wanted():
        settings["addons"].setdefault(key, NEEDED.get(key, dict(addon.example)))
    with_all = load(settings, stack="prod", today=TODAY).platform
    return check(record_platform(with_all, stack="prod"), TODAY)


def mandatory(findings: list[Finding], environment: str) -> list[str]:
    """What fails a run at the levels of an environment."""
    return [
        f"{one.id} {one.urn}"
        for one in findings
        if one.counts(TODAY) and BY_NAME[one.rule].levels.of(environment).value == "mandatory"
    ]


@runs
@environments
def test_an_environment_has_no_finding_at_its_own_levels(stack: str, preview: bool) -> None:
    assert [f"{one.id} {one.urn}" for one in findings_in(stack, preview=preview) if one.counts(TODAY)] == []


def test_the_example_with_every_add_on_lacks_only_what_another_excludes() -> None:
    named = {str(field.alias) for field in type(everything().addons).model_fields.values()}
    excluded = {key_of(kind) for _, settings in everything().addons.wanted() for kind in settings.excludes}
    assert named - {key for key, _ in everything().addons.wanted()} == excluded == {"opencost", "volcano", "yunikorn"}


def test_the_example_with_every_add_on_passes_as_a_stack_for_development() -> None:
    assert mandatory(findings_in_everything(), "dev") == []


def test_every_add_on_passes_in_production() -> None:
    assert mandatory(findings_in_prod_with_all_addons(), "prod") == []


def findings_of_all() -> list[Finding]:
    shipped = [each for stack in ENVIRONMENTS for each in findings_in(stack, preview=False)]
    return shipped + findings_in_everything() + findings_in_prod_with_all_addons()


def test_every_suppression_is_used() -> None:
    findings = findings_of_all()
    used = {finding.suppression for finding in findings}
    unused = [one for one in load_suppressions(pack.identities()).all if one not in used]
    assert unused == [], "remove these from policies/suppressions.yaml"


def test_every_accepted_value_is_one_that_a_finding_names() -> None:
    findings = findings_of_all()
    named = {(one.suppression, one.value) for one in findings if one.suppression}
    listed = {(one, value) for one in load_suppressions(pack.identities()).all for value in one.value}
    assert named == listed, "policies/suppressions.yaml: remove the values that no finding names"


@environments
def test_a_preview_reports_the_same_findings_as_an_update(stack: str) -> None:
    def ids(preview: bool) -> set[tuple[str, str]]:
        return {(one.id, one.urn) for one in findings_in(stack, preview=preview)}

    assert ids(True) == ids(False)


def test_rules_apply_to_types_of_the_stacks() -> None:
    """A rule for types that no stack has would always pass; `IDLE` lists the few that are meant."""
    types = {resource.type for stack in ENVIRONMENTS for resource in recorded(stack)}
    idle = [rule.name for rule in RULES if rule.types != ("*",) and not types.intersection(rule.types)]
    assert set(idle) == IDLE, "IDLE has the rules of types that no stack declares, each with its reason"


def test_rules_are_evaluated_fast_for_production() -> None:
    """0.06 s on a laptop of 2026; the bound is for a busy machine, and far below the 2 s for a whole preview."""
    recording = recorded("prod", preview=True)
    start = time.process_time()
    check(recording, TODAY)
    assert time.process_time() - start < 1


def changed_staging(pool: dict[str, Any]) -> Platform:
    data: Any = read_stack("staging", FOLDER)
    return load({**data, "pools": {**data["pools"], "h100": pool}}, stack="staging", today=TODAY).platform


ELASTIC: dict[str, Any] = {"preset": "h100", "max": 2, "zones": ["us-east-1b"], "efa": True}
"""The preset's provisioner is Karpenter."""


def test_elastic_efa_on_two_interfaces_a_card_is_refused_with_two_ways_out() -> None:
    with pytest.raises(ConfigurationError) as error:
        changed_staging(ELASTIC)
    (problem,) = error.value.problems
    assert problem.path == "pools.h100.efa"
    assert "Use `provisioner: managed`" in problem.fix


@runs
def test_elastic_efa_passes_at_the_levels_of_production(preview: bool) -> None:
    """Karpenter selects the fabric's security group by its tags: no resource refers to it."""
    platform = changed_staging({**ELASTIC, "instanceTypes": ["p5en.48xlarge"], "zones": ["us-east-1a"]})
    findings = check(record_platform(platform, stack="staging", preview=preview), TODAY)
    found = {line.partition(" ")[0] for line in mandatory(findings, "prod")}
    # A node of p5en is dearer than the stack's limit.
    known = {one.id for one in findings_in("staging", preview=preview) if one.counts(TODAY)}
    assert found - {"stack-cost-cap/ceiling"} <= known


# Every mutation of the production stack is reported by the checks that it violates, and by no others.


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
