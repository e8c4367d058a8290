"""`slipway doctor`, and the day on which stacks are evaluated."""

import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from sandbox.kubernetes import serving
from sandbox.kubernetes.serving import Unanswered
from sandbox.toolchain import ToolError, locate, obtain
from sandbox.toolchain.obtain import Go
from sandbox.toolchain.tools import TOOLS, Tool
from slipway.account.context import Diagnosis, Level
from slipway.cli import cluster, doctor, main, offline
from slipway.cli.offline import Condition, Status
from slipway.engine.project import Project
from spec import clock
from spec.catalog import ageing, kubernetes
from spec.settings import load, read_stack
from tests.slipway.conftest import Slipway
from tests.support.day import TODAY

# `slipway doctor`: its findings, and when it fails.


GO = Go(Path("/usr/bin/go"), (99, 0), switches=False)
OLD_GO = Go(Path("/usr/bin/go"), (1, 10), switches=False)


def found(tool: Tool) -> locate.Found:
    return locate.Found(Path("/opt") / tool.name, tool.version, "PATH")


def missing_tools(
    monkeypatch: pytest.MonkeyPatch, *names: str, go: Go | None, system: str = "linux"
) -> list[Diagnosis]:
    monkeypatch.setattr(locate, "search", lambda tool: None if tool.name in names else found(tool))
    monkeypatch.setattr(obtain, "go_command", lambda: go)
    monkeypatch.setattr("sandbox.toolchain.cache.system", lambda: system)
    return doctor.tools()


def of(findings: list[Diagnosis], what: str) -> Diagnosis:
    return next(finding for finding in findings if finding.what == what)


def test_installed_tools_are_shown_with_version_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = missing_tools(monkeypatch, go=None)
    assert {finding.level for finding in findings} == {Level.OK}
    assert of(findings, "pulumi").state == f"{TOOLS['pulumi'].version} (PATH: /opt/pulumi)"
    assert of(findings, "Go").state == "not installed; not needed"


def test_controllers_of_addons_are_listed_and_go_is_needed_for_those_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = of(missing_tools(monkeypatch, go=None), "controllers")
    assert whole.level is Level.OK
    for name in ("kueue", "karpenter", "jobset"):
        assert f"{name} {TOOLS[name].version}" in whole.state
    findings = missing_tools(monkeypatch, "kueue", "jobset", go=GO)
    assert "missing: jobset, kueue" in of(findings, "controllers").state.replace("kueue, jobset", "jobset, kueue")
    assert "python -m sandbox.toolchain ensure " in of(findings, "controllers").fix
    assert of(findings, "Go").level is Level.OK
    assert "builds" in of(findings, "Go").state
    without = missing_tools(monkeypatch, "kueue", go=None)
    for what in ("controllers", "Go"):
        # The sandbox itself starts without them.
        assert of(without, what).level is Level.NOTE
        assert "Go is not installed" in of(without, what).fix
    assert of(without, "Go").state == "not installed; needed for kueue"


@pytest.mark.parametrize(
    ("missing", "go", "system", "tool_level", "go_level"),
    [
        ("pulumi", GO, "linux", Level.NOTE, Level.OK),
        ("pulumi", None, "linux", Level.NOTE, Level.NOTE),
        ("pulumi", OLD_GO, "linux", Level.NOTE, Level.NOTE),
        # Kubernetes publishes server binaries for Linux only.
        ("kube-apiserver", None, "darwin", Level.FAILED, Level.FAILED),
        ("kube-apiserver", GO, "darwin", Level.NOTE, Level.OK),
        ("etcd", GO, "linux", Level.FAILED, Level.OK),
        ("helm", None, "darwin", Level.NOTE, Level.OK),
    ],
)
def test_a_missing_tool_fails_only_if_it_cannot_be_installed(
    missing: str, go: Go | None, system: str, tool_level: Level, go_level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = missing_tools(monkeypatch, missing, go=go, system=system)
    assert of(findings, missing).level is tool_level
    assert of(findings, "Go").level is go_level
    assert of(findings, missing).fix


def test_a_variable_that_names_no_binary_is_reported_as_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(tool: Tool) -> locate.Found | None:
        if tool.name == "pulumi":
            message = "SLIPWAY_PULUMI=/x is not an executable file"
            raise ToolError(message)
        return found(tool)

    monkeypatch.setattr(locate, "search", search)
    assert of(doctor.tools(), "pulumi").level is Level.FAILED
    assert doctor.engine_and_sdk().level is Level.OK


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10, 1), Level.FAILED), ((3, 12, 0), Level.OK), ((3, 14, 0), Level.FAILED)]
)
def test_an_unsupported_python_version_fails(
    version: tuple[int, int, int], level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    assert doctor.python().level is level


def test_an_engine_version_other_than_the_sdk_s_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "search", lambda tool: locate.Found(Path("/p"), "3.999.0", "PATH"))
    assert doctor.engine_and_sdk().level is Level.NOTE
    monkeypatch.setattr(locate, "search", found)
    assert doctor.engine_and_sdk().level is Level.OK


def test_a_cache_that_is_not_writable_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "not" / "yet" / "there"))
    assert doctor.cache().level is Level.OK
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "file" / "below"))
    assert doctor.cache().level is Level.FAILED
    assert "SLIPWAY_CACHE" in doctor.cache().fix


@pytest.mark.parametrize(
    ("free", "missing", "level"), [(2, (), Level.OK), (2, ("pulumi",), Level.FAILED), (0, (), Level.FAILED)]
)
def test_disk_space_is_required_for_tools_that_must_be_built(
    free: int, missing: tuple[str, ...], level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "search", lambda tool: None if tool.name in missing else found(tool))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free * 2**30})())
    assert doctor.disk().level is level


@pytest.mark.parametrize(
    ("condition", "level"),
    [
        (Condition.RUNNING, Level.OK),
        (Condition.STOPPED, Level.OK),
        (Condition.STALE, Level.NOTE),
        (Condition.DAMAGED, Level.FAILED),
    ],
)
def test_only_a_damaged_sandbox_fails(condition: Condition, level: Level) -> None:
    assert doctor.sandbox(Status(condition, Path("/home/me/sandbox"))).level is level


def test_webhooks_that_nobody_answers_fail_with_the_deployment_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "names_of", lambda _: ["slipway-dev", "slipway-prod"])
    monkeypatch.setattr(cluster, "client_of", lambda _, name: name)
    scale = "`kubectl -n kueue-system scale deployment manager --replicas=1`"
    why = Unanswered("Deployment kueue-system/manager is scaled to zero", scale)
    blocked = dict.fromkeys(("mjob.kb.io", "vjob.kb.io", "mpod.kb.io"), why)
    monkeypatch.setattr(serving, "blocking", lambda name: blocked if name == "slipway-dev" else {})
    (finding,) = doctor.webhooks(Status(Condition.RUNNING, tmp_path))
    assert (finding.level, finding.what, finding.fix) == (Level.FAILED, "webhooks of slipway-dev", scale)
    assert finding.state == f"{why.cause}, so mjob.kb.io, vjob.kb.io and 1 more block objects"
    assert doctor.webhooks(Status(Condition.STOPPED, tmp_path)) == []


def test_an_invalid_stack_file_is_reported_beside_the_valid_ones(checkout: Path) -> None:
    (checkout / "stacks/Pulumi.dev.yaml").write_text("config: {slipway:platform: {}}\n")
    findings = doctor.stack_files(Project(checkout))
    assert [(finding.what, finding.level) for finding in findings] == [
        ("stack dev", Level.FAILED),
        ("stack prod", Level.OK),
        ("stack staging", Level.OK),
    ]
    assert "slipway check dev" in findings[0].fix


def test_a_checkout_without_stack_files_fails(tmp_path: Path) -> None:
    (finding,) = doctor.stack_files(Project(tmp_path))
    assert finding.level is Level.FAILED


def test_aws_variables_are_listed_without_their_values() -> None:
    finding = doctor.aws_variables({"AWS_SECRET_ACCESS_KEY": "hunter2", "HOME": "/"})
    assert "AWS_SECRET_ACCESS_KEY" in finding.state
    assert "hunter2" not in finding.state


def test_the_exit_code_reports_whether_the_sandbox_can_be_used(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.setattr(doctor, "tools", lambda: [Diagnosis(Level.NOTE, "helm", "missing", "make it")])
    monkeypatch.setattr(offline, "status", lambda: Status(Condition.STOPPED, Path("/home/me/sandbox")))
    assert "To do:\n  - helm: make it" in slipway("doctor").out
    monkeypatch.setattr(doctor, "tools", lambda: [Diagnosis(Level.FAILED, "etcd", "missing")])
    assert main(["doctor"]) == 1


def test_a_report_without_fixes_is_only_the_table() -> None:
    assert doctor.report([Diagnosis(Level.OK, "Python", "3.12.0")]) == "ok  Python  3.12.0"


# `SLIPWAY_TODAY`: a stack as it will be on another day.


def test_a_check_at_another_day_names_what_goes_out_of_support_by_then(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    version = load(read_stack("dev", checkout / "stacks"), stack="dev").platform.cluster.version
    end = kubernetes.VERSIONS[version].standard_until
    slipway("check dev --strict")
    monkeypatch.setenv(clock.VARIABLE, (end + timedelta(days=1)).isoformat())
    assert f"standard support ended on {end}" in slipway("check dev").err


def test_doctor_shows_a_day_that_is_not_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "current", lambda: TODAY)
    assert doctor.day(TODAY).level is Level.OK
    finding = doctor.day(date(2027, 4, 1))
    assert finding.level is Level.NOTE
    assert finding.state == "2027-04-01, by SLIPWAY_TODAY"
    assert "unset SLIPWAY_TODAY" in finding.fix


def test_doctor_names_files_with_old_facts_and_fails_for_none() -> None:
    assert doctor.catalog([]).level is Level.OK
    finding = doctor.catalog(ageing.ageing(date(2100, 1, 1)))
    assert finding.level is Level.NOTE
    assert "kubernetes.yaml" in finding.state
    assert "prices.yaml" in finding.state
    assert "slipway catalog prices" in finding.fix
