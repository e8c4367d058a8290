"""The pack follows the stack that the engine names."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy
from pulumi_policy import policy as sdk

from policies import levels, pack, server
from policies.fixtures import Fixture
from policies.rule import AnyRule, Check, ResourceRule
from policies.rules import RULES
from tests.policies.support import analyze_request, stack_resource
from tests.support.day import TODAY

SDK: Any = sdk._PolicyAnalyzerServicer

LEVELS = {
    EnforcementLevel.ADVISORY: analyzer_pb2.ADVISORY,
    EnforcementLevel.MANDATORY: analyzer_pb2.MANDATORY,
    EnforcementLevel.DISABLED: analyzer_pb2.DISABLED,
}


def told(stack: str | None) -> dict[str, int]:
    """Levels that the engine is told of, after it has named a stack."""
    policies = server.policies()
    servicer = sdk._PolicyAnalyzerServicer("slipway", "0.1.0", policies, EnforcementLevel.MANDATORY)
    if stack is not None:
        servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack=stack, tags={"team": "ml"}), None)
    info: Any = servicer.GetAnalyzerInfo(None, None)  # type: ignore[no-untyped-call]
    return {policy.name: policy.enforcementLevel for policy in info.policies}


@pytest.fixture(autouse=True)
def _sdk_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "_PolicyAnalyzerServicer", sdk._PolicyAnalyzerServicer)


@pytest.mark.parametrize("stack", [None, *levels.ENVIRONMENTS, "experiment"])
def test_levels_are_those_of_the_stack_that_the_engine_names(stack: str | None) -> None:
    environment = stack if stack in levels.ENVIRONMENTS else "prod"
    expected = {rule.name: LEVELS[rule.levels.of(environment)] for rule in RULES}
    assert told(stack) == {**expected, pack.EXPIRY: analyzer_pb2.MANDATORY}


def test_the_sdk_makes_the_servicer_that_follows_the_stack() -> None:
    """PolicyPack looks the class up by this name when it is constructed."""
    server.policies()
    assert sdk._PolicyAnalyzerServicer is server.StackServicer
    assert "_PolicyAnalyzerServicer" in sdk.PolicyPack.__init__.__code__.co_names


def evaluated(servicer: Any, rule: AnyRule, fixture: Fixture) -> list[str]:
    """What a servicer with all rules says of a fixture by one of them."""
    if isinstance(rule, ResourceRule):
        answers = [servicer.Analyze(analyze_request(rule, name, made), None) for name, made in fixture.items()]
    else:
        resources = [stack_resource(rule, fixture, name, made) for name, made in fixture.items()]
        answers = [servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None)]
    return [one.message for answer in answers for one in answer.diagnostics if one.policyName == rule.name]


def test_reading_once_finds_what_reading_anew_for_each_rule_does() -> None:
    both = [
        servicer("slipway", "0.1.0", pack.policies("prod", lambda: TODAY), EnforcementLevel.MANDATORY)
        for servicer in (server.StackServicer, SDK)
    ]
    for rule in RULES:
        check: Check[Any] = next(iter(rule.checks.values()))
        ours, theirs = (evaluated(servicer, rule, check.bad[0]) for servicer in both)
        assert ours == theirs, rule.name
        # One of them is excused in production, and one is off.
        assert ours or rule.name in {"node-ami-pinned", "gpu-pool-idle-zero", "gpu-premium-approval"}, rule.name


def test_no_rule_changes_a_resource_so_the_servicer_need_not_read_for_remediations() -> None:
    policies = pack.policies("prod", lambda: TODAY)
    assert not [one.name for one in policies if isinstance(one, ResourceValidationPolicy) and one.has_remediation()]
    servicer: Any = server.StackServicer("slipway", "0.1.0", policies, EnforcementLevel.MANDATORY)
    assert servicer.Remediate(analyzer_pb2.AnalyzeRequest(), None) == analyzer_pb2.RemediateResponse()
