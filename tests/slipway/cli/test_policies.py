"""`slipway policies STACK`: its output and its exit code."""

import argparse
import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml

from policies.runner import Finding
from policies.suppressions import Suppression
from slipway.cli.policies import report
from tests.slipway.conftest import Slipway
from tests.support.day import TODAY

IN = "urn:pulumi:prod::slipway::slipway:addons:Software$kubernetes:karpenter.sh/v1:NodePool"
MANDATORY = Finding(rule="helm-pinned", check="version", urn=f"{IN}::a", path="version", text="[version] a: Pin it.")
ADVISORY = Finding(rule="pod-read-only-root", check="read-only", urn=f"{IN}::b", path="", text="Close it.")


def suppressed(until: date) -> Finding:
    suppression = Suppression(rule="helm-pinned", urn="urn:pulumi:*", reason="A good one.", owner="ml", until=until)
    return Finding(rule="helm-pinned", check="version", urn=f"{IN}::c", path="", text="Pin.", suppression=suppression)


def reported(*findings: Finding, as_json: bool = False, suppressed: bool = False, wide: bool = False) -> int:
    options = argparse.Namespace(stack="prod", json=as_json, suppressed=suppressed, wide=wide)
    return report(options, findings, TODAY, 10)


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([], 0),
        ([ADVISORY], 0),
        ([MANDATORY], 1),
        ([suppressed(TODAY)], 0),
        ([suppressed(TODAY - timedelta(days=1))], 1),
    ],
)
def test_a_mandatory_finding_fails_unless_it_is_suppressed(findings: list[Finding], code: int) -> None:
    assert reported(*findings) == code


def test_findings_go_to_stdout_with_their_level_and_the_total_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    reported(MANDATORY, ADVISORY, suppressed(TODAY), wide=True)
    out, err = capsys.readouterr()
    assert f"mandatory helm-pinned/version {IN}::a\n  [version] a: Pin it." in out
    assert "advisory pod-read-only-root/read-only" in out
    assert "prod::c" not in out
    assert "10 resources, 1 mandatory and 1 advisory findings of 2 checks, 1 suppressed" in err


def test_one_violation_of_several_resources_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    second = replace(MANDATORY, urn=f"{IN}::another", text="[version] another: Pin it.")
    stack = replace(ADVISORY, urn="")
    assert reported(MANDATORY, ADVISORY, second, stack) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "mandatory helm-pinned/version", "  NodePool a", "  NodePool another", "    Pin it.",
        "advisory pod-read-only-root/read-only", "  NodePool b", "  the stack", "    Close it.",
    ]  # fmt: skip
    assert err.rstrip().endswith("--wide shows URNs")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_text_fits_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    long = replace(MANDATORY, urn=f"{IN}::{'a-long-name-' * 6}", text=f"spec.{'template.' * 20}x must be set. " * 3)
    reported(long)
    lines = capsys.readouterr().out.splitlines()
    assert columns - 20 < max(map(len, lines)) <= columns
    assert "".join("".join(lines).split()).count("template." * 20) == 3


def test_suppressed_findings_are_shown_on_request_with_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    reported(suppressed(TODAY), suppressed=True)
    assert "Suppressed: A good one." in capsys.readouterr().out


def test_json_output_has_levels_and_suppressions(capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(MANDATORY, suppressed(TODAY), as_json=True, suppressed=True) == 1
    findings = json.loads(capsys.readouterr().out)
    assert [one["level"] for one in findings] == ["mandatory", "suppressed"]
    assert findings[1]["suppression"] == {"reason": "A good one.", "owner": "ml", "until": TODAY.isoformat()}


def test_the_command_evaluates_the_program_and_manifests(checkout: Path, tmp_path: Path, slipway: Slipway) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"hostPID": True, "containers": []}}
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "pod.yaml").write_text(yaml.safe_dump(pod))
    out = slipway("policies dev --manifests", folder, code=1).out
    mandatory = [line for line in out.splitlines() if line.startswith("mandatory")]
    assert mandatory == ["mandatory pod-isolated/host-pid"]
    assert "mandatory pod-isolated/host-pid\n  Pod x\n" in out
