"""The pack uses the levels of the stack that the engine sends."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy
from pulumi_policy import policy as sdk

from infra.boundaries import boundaries
from policies import pack, server
from policies.resources.tokens import NAMESPACE
from policies.rule import ENVIRONMENTS, AnyRule, ResourceRule
from policies.rules import RULES
from policies.rules.boundaries import AS_GIVEN
from policies.suppressions import FILE
from spec.settings import read_stack
from tests.policies.build import Fixture, FixtureResource, edited
from tests.policies.fixtures import FIXTURES
from tests.policies.given import stack_file
from tests.policies.support import analyze_request, stack_resource
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, platform_of

SPACE: Any = boundaries(platform_of("prod")).objects[NAMESPACE, "", "vision-training"]
SDK: Any = sdk._PolicyAnalyzerServicer

LEVELS = {
    EnforcementLevel.ADVISORY: analyzer_pb2.ADVISORY,
    EnforcementLevel.MANDATORY: analyzer_pb2.MANDATORY,
    EnforcementLevel.DISABLED: analyzer_pb2.DISABLED,
}


def reported_levels(stack: str | None) -> dict[str, int]:
    """Levels that the servicer reports to the engine, after the engine has sent a stack."""
    policies = server.policies()
    servicer = sdk._PolicyAnalyzerServicer("slipway", "0.1.0", policies, EnforcementLevel.MANDATORY)
    if stack is not None:
        servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack=stack, tags={"team": "ml"}), None)
    info: Any = servicer.GetAnalyzerInfo(None, None)  # type: ignore[no-untyped-call]
    return {policy.name: policy.enforcementLevel for policy in info.policies}


@pytest.fixture(autouse=True)
def _restore_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "_PolicyAnalyzerServicer", sdk._PolicyAnalyzerServicer)


@pytest.mark.parametrize("stack", [None, *ENVIRONMENTS, "experiment"])
def test_levels_are_those_of_the_stack_that_the_engine_sends(stack: str | None) -> None:
    environment = stack if stack in ENVIRONMENTS else "prod"
    expected = {rule.name: LEVELS[rule.levels.of(environment)] for rule in RULES}
    assert reported_levels(stack) == {
        **expected,
        pack.EXPIRY: analyzer_pb2.MANDATORY,
        pack.REVIEW: analyzer_pb2.ADVISORY,
    }


def test_the_sdk_creates_the_servicer_of_the_pack() -> None:
    """PolicyPack looks the class up by this name when it is constructed."""
    server.policies()
    assert sdk._PolicyAnalyzerServicer is server.StackServicer
    assert "_PolicyAnalyzerServicer" in sdk.PolicyPack.__init__.__code__.co_names


def evaluated(servicer: Any, rule: AnyRule, fixture: Fixture) -> list[str]:
    """Messages of one rule about a fixture, from a servicer with all rules."""
    if isinstance(rule, ResourceRule):
        responses = [
            servicer.Analyze(analyze_request(rule, name, resource), None) for name, resource in fixture.items()
        ]
    else:
        resources = [stack_resource(rule, fixture, name, resource) for name, resource in fixture.items()]
        responses = [servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None)]
    return [one.message for response in responses for one in response.diagnostics if one.policyName == rule.name]


def test_parsing_once_gives_the_same_violations_as_the_sdk() -> None:
    both = [
        servicer("slipway", "0.1.0", pack.policies("prod", lambda: TODAY, stack_file()), EnforcementLevel.MANDATORY)
        for servicer in (server.StackServicer, SDK)
    ]
    for rule in RULES:
        bad = next(iter(FIXTURES[rule.name].bad.values()))[0]
        ours, theirs = (evaluated(servicer, rule, bad) for servicer in both)
        assert ours == theirs, rule.name
        # One of them is suppressed in production, and two are off.
        assert ours or rule.name in {"node-ami-pinned", "gpu-pool-idle-zero", "gpu-premium-approval"}, rule.name


def test_the_suppressions_are_those_of_the_file_that_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the platform don't bind other programs, and theirs are reviewed when they are due."""
    monkeypatch.setattr(server.StackServicer, "suppressions", FILE)
    own = [{**entry, "owner": "theirs", "until": TODAY} for entry in yaml.safe_load(FILE.read_text())[:1]]
    (tmp_path / "suppressions.yaml").write_text(yaml.safe_dump(own))
    servicer = SDK("slipway", "0.1.0", server.policies(tmp_path / "suppressions.yaml"), EnforcementLevel.MANDATORY)
    servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack="lab"), None)
    answer = servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(), None)
    (due,) = [one.message for one in answer.diagnostics if one.policyName == pack.REVIEW]
    assert "theirs must review it" in due


def test_the_stack_file_that_the_engine_sends_is_what_rules_compare_with() -> None:
    def messages(config: dict[str, str]) -> list[str]:
        policies = pack.policies("prod", lambda: TODAY)
        servicer = server.StackServicer("slipway", "0.1.0", policies, EnforcementLevel.MANDATORY)
        servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack="prod", config=config), None)
        namespace = FixtureResource(type=NAMESPACE, props=edited(SPACE, "metadata.labels", {}))
        return evaluated(servicer, AS_GIVEN, {"it": namespace})

    settings = json.dumps(read_stack("prod", FOLDER))
    assert len(messages({"slipway:platform": settings})) == len(SPACE["metadata"]["labels"])
    assert messages({"slipway:other": settings}) == []


def test_no_rule_has_a_remediation_and_the_servicer_returns_none() -> None:
    policies = pack.policies("prod", lambda: TODAY)
    assert not [one.name for one in policies if isinstance(one, ResourceValidationPolicy) and one.has_remediation()]
    servicer: Any = server.StackServicer("slipway", "0.1.0", policies, EnforcementLevel.MANDATORY)
    assert servicer.Remediate(analyzer_pb2.AnalyzeRequest(), None) == analyzer_pb2.RemediateResponse()
