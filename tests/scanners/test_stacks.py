"""Checkov reports nothing in the shipped stacks that the pack does not; and what other repositories use.

Checkov reads the Terraform of `slipway report --files`. `test_agreement.py` compares both on misconfigured resources.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from policies import coverage, pack
from policies.suppressions import load as load_suppressions
from sandbox import toolchain
from slipway.render.terraform import document, local_name
from tests.policies.support import BY_NAME
from tests.scanners.checkov import Verdict, scan
from tests.scanners.test_workflows import scanner
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.stacks import NAMES, recorded

CASES: Final = beside(__file__)
NOT_FOR = {
    # Scratch file systems are encrypted with a key of FSx and accept no other (FSx for Lustre User Guide, "Encrypting
    # data at rest", read 2026-11); in prod it is persistent, and Checkov reports nothing there.
    "storage-lustre-files": ("CKV_AWS_190",)
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, frozenset[Verdict]]:
    return scan({stack: document(recorded(stack)) for stack in NAMES}, tmp_path_factory.mktemp("checkov"))


def advisory(stack: str, identity: str) -> bool:
    """Whether a check does not stop a run of the stack, which happens only outside prod."""
    rule = BY_NAME.get(identity.partition("/")[0])
    return stack != "prod" and rule is not None and rule.levels.of(stack).value != "mandatory"


def unexplained(stack: str, failed: set[Verdict], today: date) -> list[str]:
    """Checkov findings that neither a reason in the coverage table nor a suppression explains."""
    ours = [one for one in recorded(stack) if one.type.startswith("aws:")]
    urns: dict[str, list[str]] = {}
    for one in ours:
        # The configuration of a bucket may be in another resource about it, where the pack reports it.
        about = [other.urn for other in ours if one.urn in other.options.property_dependencies.get("bucket", ())]
        urns.setdefault(local_name(one.name), []).extend([one.urn, *about])
    answers, suppressions = coverage.coverage(), load_suppressions(pack.identities())
    lines = []
    for verdict in sorted(failed):
        answer = answers.get(verdict.check, "")
        matching = [suppressions.find(one.strip(), urn) for one in answer.split(",") for urn in urns[verdict.name]]
        suppressed = any(one is not None and one.until >= today for one in matching)
        # Outside prod a rule may be advisory.
        suppressed |= verdict.check in NOT_FOR.get(verdict.name, ())
        suppressed |= any(advisory(stack, one.strip()) for one in answer.split(","))
        if not suppressed and not answer.startswith(coverage.NOT_APPLICABLE):
            lines.append(f"{verdict.check} {verdict.name}: {answer or 'not in policies/external_checks.yaml'}")
    return lines


@pytest.mark.parametrize("stack", NAMES)
def test_checkov_reports_only_suppressed_or_out_of_scope_findings(
    stack: str, verdicts: Mapping[str, frozenset[Verdict]]
) -> None:
    assert {one.passed for one in verdicts[stack]} == {True, False}, "Checkov read nothing, or reports nothing"
    assert unexplained(stack, {one for one in verdicts[stack] if not one.passed}, TODAY) == []


# What other repositories use: the action, the GitLab component, the devcontainer, and the script behind them.


ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/report/action.yml"
COMPONENT = ROOT / "templates/report.yml"
SCRIPT = ROOT / "tools/ci/elsewhere.sh"
WORKFLOW = CASES["workflow"]


def linted(tmp_path: Path, inputs: str, output: str = "folder") -> str:
    """What actionlint says of a workflow that calls the action; it reads the action's metadata."""
    binary = toolchain.find("actionlint")
    if binary is None:
        pytest.skip("actionlint is not here: run `make scanners`")
    root = tmp_path / "repository"
    workflow = root / ".github/workflows/call.yml"
    workflow.parent.mkdir(parents=True)
    action = root / ".github/actions/report/action.yml"
    action.parent.mkdir(parents=True)
    action.write_text(ACTION.read_text(encoding="utf-8"), encoding="utf-8")
    workflow.write_text(WORKFLOW.format(inputs=inputs, output=output), encoding="utf-8")
    (root / ".git").mkdir()
    shell = ("-shellcheck", str(scanner("shellcheck")))
    done = subprocess.run(
        [binary, "-no-color", *shell, workflow], cwd=root, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_actionlint_accepts_a_call_of_the_action(tmp_path: Path) -> None:
    assert linted(tmp_path, "stack: perf, file: Pulumi.perf.yaml") == ""


def test_actionlint_knows_the_inputs_and_outputs(tmp_path: Path) -> None:
    assert 'missing input "file"' in linted(tmp_path / "a", "stack: perf")
    assert 'property "page" is not defined' in linted(tmp_path / "b", "stack: perf, file: x", output="page")


def test_a_stack_of_another_repository_has_a_name_that_is_no_path(tmp_path: Path) -> None:
    command = [str(SCRIPT), "../../x", str(ROOT / "stacks/Pulumi.dev.yaml"), str(tmp_path / "out")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "a stack's name has lower-case letters" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_the_action_interpolates_nothing_into_its_script() -> None:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    (step,) = action["runs"]["steps"]
    assert "${{" not in step["run"]
    assert {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]} <= set(step["env"].values())


def template() -> tuple[dict[str, Any], dict[str, Any]]:
    spec, jobs = yaml.safe_load_all(COMPONENT.read_text(encoding="utf-8"))
    return spec, jobs


def test_the_component_uses_every_input_and_declares_every_one_it_uses() -> None:
    spec, _ = template()
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", COMPONENT.read_text(encoding="utf-8").partition("---")[2]))
    assert used == set(spec["spec"]["inputs"])


def test_the_script_of_the_component_takes_its_inputs_from_variables_and_passes_shellcheck(tmp_path: Path) -> None:
    _, jobs = template()
    (job,) = jobs.values()
    assert not any("$[[" in line for line in job["script"])
    path = tmp_path / "script.sh"
    path.write_text("\n".join(["#!/bin/bash", "# shellcheck disable=SC2154", *job["script"]]) + "\n", encoding="utf-8")
    done = subprocess.run([scanner("shellcheck"), path], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert set(re.findall(r"\$\{?([A-Z]+)", "\n".join(job["script"]))) <= set(job["variables"])


def test_the_devcontainer_has_what_the_project_needs() -> None:
    content = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\S+/python:3\.1[123]-\w+", content["image"])
    go = next(value for name, value in content["features"].items() if "/go:" in name)
    needed = re.search(r"Go ([0-9.]+) or newer", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert needed
    assert go["version"] == needed[1]
    assert content["postCreateCommand"] == "make setup"


def script(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    # The suite may run under `make`, whose flags are not for the script's own.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["bash", SCRIPT, *arguments], env=clean, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("findings", "code"), [("fail", 1), ("report", 0)])
def test_the_script_writes_a_report_and_mandatory_findings_fail_unless_only_reported(
    tmp_path: Path, findings: str, code: int
) -> None:
    file = tmp_path / "any name.yaml"
    text = (ROOT / "stacks/Pulumi.dev.yaml").read_text(encoding="utf-8")
    file.write_text(text.replace("name: dev", "name: perf"), encoding="utf-8")
    done = script("perf", file, tmp_path / "out", findings)
    assert done.returncode == code, done.stderr
    assert {"cost.json", "index.html", "policies.json", "report.md"} <= {
        one.name for one in (tmp_path / "out").iterdir()
    }
    found = json.loads((tmp_path / "out/policies.json").read_text(encoding="utf-8"))
    assert any(one["level"] == "mandatory" for one in found)
    assert json.loads((tmp_path / "out/cost.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("dev", "/nowhere", "out"), "/nowhere is not a file"),
        (("dev", SCRIPT, "out", "maybe"), "fail or report, not maybe"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str | Path, ...], text: str) -> None:
    done = script(*arguments)
    assert done.returncode == 2
    assert text in done.stderr
