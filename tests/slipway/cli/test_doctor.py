"""`slipway doctor`: its findings, and when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from slipway.cli import checks, doctor, machine, main, offline
from slipway.cli.status import Condition, Status
from slipway.engine.project import Project
from slipway.findings import Finding, Level
from slipway.toolchain import ToolError, build, locate
from slipway.toolchain.build import Go
from slipway.toolchain.tools import TOOLS, Tool

GO = Go(Path("/usr/bin/go"), (99, 0), switches=False)
OLD_GO = Go(Path("/usr/bin/go"), (1, 10), switches=False)


def found(tool: Tool) -> locate.Found:
    return locate.Found(Path("/opt") / tool.name, tool.version, "PATH")


def missing_tools(monkeypatch: pytest.MonkeyPatch, *names: str, go: Go | None, system: str = "linux") -> list[Finding]:
    monkeypatch.setattr(locate, "search", lambda tool: None if tool.name in names else found(tool))
    monkeypatch.setattr(build, "go_command", lambda: go)
    monkeypatch.setattr("slipway.toolchain.cache.system", lambda: system)
    return machine.tools()


def of(findings: list[Finding], what: str) -> Finding:
    return next(finding for finding in findings if finding.what == what)


def test_installed_tools_are_shown_with_version_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = missing_tools(monkeypatch, go=None)
    assert {finding.level for finding in findings} == {Level.OK}
    assert of(findings, "pulumi").state == f"{TOOLS['pulumi'].version} (PATH: /opt/pulumi)"
    assert of(findings, "Go").state == "not installed; not needed"


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
    assert of(machine.tools(), "pulumi").level is Level.FAILED
    assert machine.engine_and_sdk().level is Level.OK


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10, 1), Level.FAILED), ((3, 12, 0), Level.OK), ((3, 14, 0), Level.FAILED)]
)
def test_an_unsupported_python_version_fails(
    version: tuple[int, int, int], level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    assert machine.python().level is level


def test_an_engine_version_other_than_the_sdk_s_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "search", lambda tool: locate.Found(Path("/p"), "3.999.0", "PATH"))
    assert machine.engine_and_sdk().level is Level.NOTE
    monkeypatch.setattr(locate, "search", found)
    assert machine.engine_and_sdk().level is Level.OK


def test_a_cache_that_is_not_writable_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "not" / "yet" / "there"))
    assert machine.cache().level is Level.OK
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "file" / "below"))
    assert machine.cache().level is Level.FAILED
    assert "SLIPWAY_CACHE" in machine.cache().fix


@pytest.mark.parametrize(
    ("free", "missing", "level"), [(2, (), Level.OK), (2, ("pulumi",), Level.FAILED), (0, (), Level.FAILED)]
)
def test_disk_space_is_required_for_tools_that_must_be_built(
    free: int, missing: tuple[str, ...], level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "search", lambda tool: None if tool.name in missing else found(tool))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free * 2**30})())
    assert machine.disk().level is level


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
    assert checks.sandbox(Status(condition, Path("/home/me/sandbox"))).level is level


def test_an_invalid_stack_file_is_reported_beside_the_valid_ones(checkout: Path) -> None:
    (checkout / "stacks/Pulumi.dev.yaml").write_text("config: {slipway:platform: {}}\n")
    findings = checks.stack_files(Project(checkout))
    assert [(finding.what, finding.level) for finding in findings] == [
        ("stack dev", Level.FAILED),
        ("stack prod", Level.OK),
        ("stack staging", Level.OK),
    ]
    assert "slipway check dev" in findings[0].fix


def test_a_checkout_without_stack_files_fails(tmp_path: Path) -> None:
    (finding,) = checks.stack_files(Project(tmp_path))
    assert finding.level is Level.FAILED


def test_aws_variables_are_listed_without_their_values() -> None:
    finding = checks.aws_variables({"AWS_SECRET_ACCESS_KEY": "hunter2", "HOME": "/"})
    assert "AWS_SECRET_ACCESS_KEY" in finding.state
    assert "hunter2" not in finding.state


def test_the_exit_code_reports_whether_the_sandbox_can_be_used(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "tools", lambda: [Finding(Level.NOTE, "helm", "missing", "make it")])
    monkeypatch.setattr(offline, "status", lambda: Status(Condition.STOPPED, Path("/home/me/sandbox")))
    assert main(["doctor"]) == 0
    assert "To do:\n  - helm: make it" in capsys.readouterr().out
    monkeypatch.setattr(machine, "tools", lambda: [Finding(Level.FAILED, "etcd", "missing")])
    assert main(["doctor"]) == 1


def test_a_report_without_fixes_is_only_the_table() -> None:
    assert doctor.report([Finding(Level.OK, "Python", "3.12.0")]) == "ok  Python  3.12.0"
