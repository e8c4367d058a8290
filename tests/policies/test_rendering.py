"""The program compared with what the stack file's settings give: a change of the stack file makes no difference."""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any, Final

import pytest
from pulumi import CustomResource, ProviderResource, ResourceOptions

from policies.checks.sameness import Comparison
from policies.resources import tokens
from policies.resources.access import tree
from policies.resources.resource import Resource, Stack
from policies.reviewed import REVIEWED
from policies.rule import AnyRule, Context
from policies.rules.rendering import AS_GIVEN, COMPLETE
from policies.runner import findings
from policies.stack_file import Program, from_configuration, from_platform, program_of
from policies.stack_file import recorded as as_sent
from policies.suppressions import Suppressions
from slipway.cli import policies
from slipway.engine.project import Project
from slipway.render.evaluation import check, resources
from slipway.render.layout import as_data, options_of
from slipway.render.program import record_platform
from slipway.render.recorder import record
from slipway.render.recording import Recording
from slipway.report.plan.compare import Baseline
from spec.settings import load, read_stack
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, platform_of, recorded

CASES: Final = beside(__file__)

ORDINARY: Final[dict[str, dict[str, Any]]] = CASES["ordinary"]
"""Settings by their path; None removes one."""


@cache
def prod() -> Program:
    return program_of(map(as_data, recorded("prod")), recorded("prod").exports.plain)


def edited(changes: Iterable[Mapping[str, Any]]) -> Any:
    """The settings of prod with changes."""
    data: Any = deepcopy(read_stack("prod", FOLDER))
    for change in changes:
        for path, value in change.items():
            *above, last = path.split(".")
            target = data
            for part in above:
                target = target.setdefault(part, {})
            target[last] = value
            if value is None:
                del target[last]
    return data


def compared(recording: Recording, program: Program) -> list[str]:
    """Names of the resources with a difference."""
    stack_file = from_platform(platform_of("prod"), program)
    inputs, outputs = (list(resources(recording, outputs=outputs).values()) for outputs in (False, True))
    context = Context(settings={}, today=TODAY, stack_file=stack_file)
    subjects: list[tuple[AnyRule, Any]] = [(AS_GIVEN, one) for one in inputs]
    found = [
        one
        for rule, subject in [*subjects, (COMPLETE, Stack(tuple(outputs)))]
        for one in findings(rule, subject, context, Suppressions())
    ]
    return [one.urn.rpartition("::")[2] or one.value for one in found]


@pytest.fixture(scope="module")
def changed_program() -> Recording:
    platform = load(edited(ORDINARY.values()), stack="prod", today=TODAY).platform
    return record_platform(platform, stack="prod")


def test_ordinary_changes_of_a_stack_file_are_no_finding(changed_program: Recording) -> None:
    """The pack gets the settings as JSON, from the engine."""
    configuration = {"slipway:platform": json.dumps(edited(ORDINARY.values()))}
    stack_file = from_configuration(configuration, "prod")
    assert stack_file is not None
    assert stack_file.program
    assert compared(changed_program, stack_file.program) == []


@pytest.mark.parametrize("change", ORDINARY)
def test_each_of_them_is_valid(change: str) -> None:
    load(edited([ORDINARY[change]]), stack="prod", today=TODAY)


@pytest.mark.parametrize(("settings", "found"), [
    ({"gpuQueue": "audit"}, {"admission-security-denies"}), ({"jobCost": "off"}, {"admission-security-denies"}),
    ({"teams": {"vision": {"scaleBounds": "off"}}}, {"admission-security-denies"}),
    ({"imageTag": "off", "spotCheckpoint": "warn"}, set()),
])  # fmt: skip
def test_a_rule_that_gives_no_advice_denies_in_prod(settings: Mapping[str, Any], found: set[str]) -> None:
    recording = record_platform(
        load(edited([{"admission": settings}]), stack="prod", today=TODAY).platform, stack="prod"
    )
    assert {one.rule for one in check(recording, TODAY) if one.rule == "admission-security-denies"} == found


def test_no_type_is_added_without_its_name_in_the_settings() -> None:
    stack_file = from_platform(platform_of("prod"), prod())
    context = Context(settings={}, today=TODAY, stack_file=stack_file)
    silent = set()
    for kind in {*REVIEWED, "kubernetes:example.com/v1:Another", "aws:iam/accessKey:AccessKey"}:
        one = Resource(type=kind, name="it", urn=f"urn:pulumi:prod::slipway::{kind}::it", read=dict)
        if not findings(AS_GIVEN, one, context, Suppressions()):
            silent.add(kind.partition(":")[0])
    assert silent == {"slipway", "pulumi"}, "components, and the stack itself"


def test_every_option_is_compared() -> None:
    one = next(one for one in resources(recorded("prod"), outputs=False).values() if one.type == tokens.AWS_PROVIDER)
    context = Context(settings={}, today=TODAY, stack_file=from_platform(platform_of("prod"), prod()))
    fields: Mapping[str, Any] = {"protect": {"protect": True}, "ignoreChanges": {"ignore_changes": ("x",)}}
    for option, before in one.options.items():
        kinds: Mapping[type, Any] = {list: ["x"], dict: {"x": "y"}}
        other = replace(one, options={**one.options, option: kinds.get(type(before), True)}, **fields.get(option, {}))
        found = findings(AS_GIVEN, other, context, Suppressions())
        assert {each.path.partition(".")[0] for each in found} == {option}


def test_an_option_without_a_place_in_a_recording_is_compared_too() -> None:
    def options(**more: Any) -> Mapping[str, Any]:
        def program() -> None:
            opts = ResourceOptions(provider=ProviderResource("command", "commands", {}), **more)
            CustomResource("command:local:Command", "it", {}, opts)

        return options_of(record(program, stack="x").named("it"))

    assert options()["others"] != options(plugin_download_url="https://evil.example")["others"]


def test_an_output_that_the_settings_do_not_give_is_found_and_not_shown() -> None:
    recording = recorded("prod")
    (stack,) = recording.of_type(tokens.STACK)
    exports = replace(stack.outputs, plain={**stack.outputs.plain, "vpcId": "other", "env": {"TOKEN": "hunter2"}})
    leaking = replace(recording, resources={**recording.resources, stack.urn: replace(stack, outputs=exports)})
    assert compared(recording, prod()) == []
    found = check(leaking, TODAY, Suppressions(), program=prod())
    outputs = [one for one in found if one.id == "program-complete/outputs"]
    assert {one.path for one in outputs} == {"env", "vpcId"}
    assert "hunter2" not in str(outputs)


def test_what_the_settings_do_not_give_is_found(changed_program: Recording) -> None:
    """The same program beside the settings before these changes."""
    found = set(compared(changed_program, prod()))
    assert {"pool-batch-node-pool", "kube-prometheus-stack-release"} <= found, sorted(found)
    assert any("Release kubecost-release" in one for one in found)


def test_outputs_may_be_others_than_the_samples_where_the_settings_give_outputs() -> None:
    """AWS answers with IDs of its own, and a literal beside them is found."""
    program = as_sent(recorded("prod"))
    given = next(one for urn, one in program.items() if urn.endswith("::network-flow-logs-vpc"))

    def different(**inputs: str) -> list[str]:
        got = tree({**given.inputs, **inputs})
        return [one.path for one in Comparison(given.outputs, filled=given.filled).maps(given.inputs, got)]

    role = "arn:aws:iam::444455556666:role/slipway-prod-network-flow-logs-role-"
    assert different(vpcId="vpc-0a1b2c3d4e5f67890", iamRoleArn=f"{role}1234567") == []
    assert different(vpcId="vpc-*") == ["vpcId"]
    assert different(iamRoleArn="arn:aws:iam::444455556666:role/another") == ["iamRoleArn"]
    assert different(logDestination="arn:aws:s3:::theirs") == ["logDestination"]
    assert different(maxAggregationInterval="600", logFormat="${all}") == ["logFormat"]


def test_settings_that_the_base_does_not_know_are_compared_as_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both codes render the stack file of the base then, and a reviewer reads it."""
    before = Baseline(name="main (1a2b)", resources=tuple(map(as_data, recorded("dev"))))

    def baseline(_project: Project, _stack: str, _ref: str, settings: Path | None = None) -> Baseline:
        return Baseline(name="main (1a2b)", problem="addons.newer: unknown") if settings else before

    monkeypatch.setattr(policies, "baseline", baseline)
    monkeypatch.setattr(policies, "take_out", lambda _project, _ref, into, *, under: copytree(FOLDER, into / under))
    given = policies.given_by(Project(tmp_path), "dev", "main")
    assert given.program is None
    assert given.settings == platform_of("dev")
    assert given.earlier == program_of(before.resources, before.outputs)
    assert "addons.newer: unknown" in given.note


def test_without_a_rendering_of_the_base_a_reviewer_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "baseline", lambda *_: Baseline(name="main (1a2b)", problem="it ends with 1"))
    given = policies.given_by(Project(tmp_path), "dev", "main")
    assert (given.program, given.settings) == (None, None)
    assert "compared with nothing" in given.note
