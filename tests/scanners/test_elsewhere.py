"""What other repositories use: the action, the GitLab component, the devcontainer, and the script behind them."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import toolchain
from tests.scanners.test_workflows import scanner

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/report/action.yml"
TEMPLATE = ROOT / "templates/report.yml"
SCRIPT = ROOT / "tools/ci/elsewhere.sh"
WORKFLOW = """\
on: push
permissions: {{}}
jobs:
  report:
    runs-on: ubuntu-24.04
    steps:
      - id: report
        uses: ./.github/actions/report
        with: {{{inputs}}}
      - run: ls "$FOLDER"
        env:
          FOLDER: ${{{{ steps.report.outputs.{output} }}}}
"""


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


def test_the_action_interpolates_nothing_into_its_script() -> None:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    (step,) = action["runs"]["steps"]
    assert "${{" not in step["run"]
    assert {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]} <= set(step["env"].values())


def template() -> tuple[dict[str, Any], dict[str, Any]]:
    spec, jobs = yaml.safe_load_all(TEMPLATE.read_text(encoding="utf-8"))
    return spec, jobs


def test_the_component_uses_every_input_and_declares_every_one_it_uses() -> None:
    spec, _ = template()
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", TEMPLATE.read_text(encoding="utf-8").partition("---")[2]))
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
