"""JSON output: one document, and of `check` and `doctor` the same results and exit codes as the text."""

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.account.context import Finding, Level
from slipway.cli import doctor, main
from spec.errors import EXIT_REFUSED
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_check_lists_the_problems_of_every_stack(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkout / "stacks/Pulumi.dev.yaml"
    path.write_text(path.read_text().replace("region: us-east-1", "region: us-east-9"))
    assert main(["check", "dev", "prod", "nosuch", "--json"]) == EXIT_REFUSED
    dev, prod, missing = printed(capsys)
    assert (dev["stack"], dev["valid"]) == ("dev", False)
    assert {"path", "rule", "value", "fix"} == dev["problems"][0].keys()
    assert dev["problems"][0]["path"] == "account.region"
    assert dev["problems"][0]["value"] == "us-east-9"
    assert (prod["stack"], prod["valid"], prod["problems"]) == ("prod", True, [])
    assert missing["problems"][0]["rule"] == "the stack file must exist"


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("check dev", ("stack", "dev")),
        ("cost dev", ("region", "us-east-1")),
        ("policies dev", ("level", "advisory")),
        ("fit --model llama-3.1-8b --mode serve --seq 8192", ("mode", "serve")),
    ],
)
def test_the_standard_output_of_a_command_is_one_document(
    line: str, first: tuple[str, str], checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*line.split(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    key, value = first
    found = document[0] if isinstance(document, list) else document.get("workload", document)
    assert found[key] == value


def test_check_of_valid_stacks_ends_with_code_0(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dev", "--json"]) == 0
    assert printed(capsys) == [{"stack": "dev", "valid": True, "problems": [], "warnings": []}]


def test_strict_makes_a_stack_with_warnings_invalid(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # In extended support, which is a warning.
    monkeypatch.setenv("SLIPWAY_TODAY", "2027-06-01")
    assert main(["check", "dev", "--json"]) == 0
    (lenient,) = printed(capsys)
    assert lenient["valid"]
    assert lenient["warnings"]
    assert main(["check", "dev", "--json", "--strict"]) == EXIT_REFUSED
    (strict,) = printed(capsys)
    assert not strict["valid"]
    assert strict["warnings"] == lenient["warnings"]


@pytest.mark.parametrize(("line", "source"), [("doctor", "_machine"), ("doctor --aws dev", "_account")])
def test_doctor_prints_each_finding_with_its_fix(
    line: str, source: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = [Finding(Level.OK, "Python", "3.13"), Finding(Level.FAILED, "disk", "full", "free 3 GiB")]
    monkeypatch.setattr(doctor, source, lambda *_: findings)
    assert main([*line.split(), "--json"]) == 1
    assert printed(capsys) == [
        {"level": "ok", "what": "Python", "state": "3.13", "fix": ""},
        {"level": "failed", "what": "disk", "state": "full", "fix": "free 3 GiB"},
    ]


def test_check_compares_a_multikueue_manager_with_its_worker(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = checkout / "stacks/Pulumi.dev.yaml"
    text = dev.read_text()
    manager = "    queues: {workers: {west: {secret: kubeconfig-west, stack: west}}, remotePools: [h100]}\n    teams:\n"
    as_manager = text.replace("kueue: {replicas: 1}", "kueue: {replicas: 1, multiKueue: manager}")
    dev.write_text(as_manager.replace("    teams:\n", manager))
    assert main(["check", "dev", "--json"]) == EXIT_REFUSED
    (refused,) = printed(capsys)
    assert [one["rule"] for one in refused["problems"]] == ["must be a stack whose file is valid"]
    worker = text.replace("kueue: {replicas: 1}", "kueue: {replicas: 1, multiKueue: worker}")
    (checkout / "stacks/Pulumi.west.yaml").write_text(worker.replace("name: dev", "name: west"))
    assert main(["check", "dev", "west"]) == 0
