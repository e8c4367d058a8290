"""The workflows of .github: actionlint, zizmor and ShellCheck report nothing; further properties are tested here."""

import fnmatch
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import toolchain
from sandbox.toolchain.tools import TOOLS
from tools import scanners

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted((ROOT / "tools" / "ci").glob("*.sh"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
LOCAL = re.compile(r"uses: \./\.github/workflows/[\w-]+\.yml$")
WRITES = {
    ("comment.yml", "comment"): {"pull-requests"},
    ("drift.yml", "detect"): {"id-token"},
    ("drift.yml", "report"): {"issues"},
    ("deploy.yml", "dev"): {"id-token"},
    ("deploy.yml", "staging"): {"id-token"},
    ("deploy.yml", "prod"): {"id-token"},
    ("deploy-stack.yml", "plan"): {"id-token"},
    ("deploy-stack.yml", "up"): {"id-token"},
    ("release.yml", "publish"): {"attestations", "contents", "id-token"},
    ("site.yml", "publish"): {"id-token", "pages"},
}
"""Every write permission of each job."""


def document(path: Path) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true.
    loaded = {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text()).items()}
    assert {"on", "jobs", "permissions"} <= set(loaded), f"{path.name} lacks a key"
    return loaded


def jobs() -> Iterator[tuple[Path, str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in document(path)["jobs"].items():
            yield path, name, job


JOBS = [pytest.param(*one, id=f"{one[0].stem}-{one[1]}") for one in jobs()]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def scanner(name: str) -> Path:
    path = scanners.find(name)
    if path is None:
        pytest.skip(f"{name} is not installed here: run `make scanners`")
    return path


def actionlint() -> Path:
    path = toolchain.find("actionlint")
    if path is None:
        pytest.skip("actionlint is not here: run `make scanners`")
    return path


def test_there_are_workflows_and_scripts() -> None:
    assert {"binaries", "comment", "deploy", "drift", "preview", "test", "weekly"} <= {path.stem for path in WORKFLOWS}
    assert {"page.sh", "rehearse.sh", "deploy.sh"} <= {path.name for path in SCRIPTS}


def test_actionlint_with_shellcheck_reports_nothing() -> None:
    assert run(actionlint(), "-no-color", "-shellcheck", scanner("shellcheck"), *WORKFLOWS) == ""


def test_actionlint_reports_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yml"
    path.write_text((ROOT / ".github/workflows/preview.yml").read_text().replace("needs: stacks\n", "needs: stack\n"))
    assert "cyclic dependencies" in run(actionlint(), "-no-color", path)


def test_zizmor_reports_nothing() -> None:
    assert run(scanner("zizmor"), "--offline", "--quiet", "--no-progress", "--persona=pedantic", ".github") == ""


def test_zizmor_reports_an_injection(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yml"
    text = (ROOT / ".github/workflows/preview.yml").read_text()
    path.write_text(text.replace("- run: make tools", "- run: echo '${{ github.event.pull_request.title }}'"))
    assert "template-injection" in run(scanner("zizmor"), "--offline", "--quiet", "--no-progress", path)


def test_shellcheck_reports_nothing_in_the_scripts() -> None:
    others = [ROOT / ".ci" / "run", *(ROOT / "tools").glob("*.sh")]
    assert run(scanner("shellcheck"), "-x", "--source-path=SCRIPTDIR", *SCRIPTS, *others) == ""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_valid_shell_and_stops_at_the_first_failure(path: Path) -> None:
    assert run("bash", "-n", path) == ""
    if path.name == "lib.sh":
        return
    assert path.stat().st_mode & 0o100, f"{path.name} is not executable"
    assert "\nset -euo pipefail\n" in path.read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_commit_with_its_version_in_a_comment(path: Path) -> None:
    used = [line.strip().removeprefix("- ") for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not PINNED.fullmatch(line) and not LOCAL.fullmatch(line)] == []


def test_an_action_has_one_version_in_all_workflows() -> None:
    used = {line.partition("uses: ")[2] for path in WORKFLOWS for line in path.read_text().splitlines() if "@" in line}
    names = [line.partition("@")[0] for line in used if line]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_permissions_of_its_own(path: Path) -> None:
    assert document(path)["permissions"] == {}


@pytest.mark.parametrize(("path", "name", "job"), JOBS)
def test_a_job_has_only_the_write_permissions_in_the_table(path: Path, name: str, job: dict[str, Any]) -> None:
    permissions = job["permissions"]
    assert isinstance(permissions, dict), "read-all and write-all are not allowed"
    assert {key for key, value in permissions.items() if value == "write"} == WRITES.get((path.name, name), set())


@pytest.mark.parametrize(("path", "name", "job"), JOBS)
def test_a_job_has_a_timeout_and_no_concurrent_runs(path: Path, name: str, job: dict[str, Any]) -> None:
    if "uses" not in job:
        assert 1 <= job["timeout-minutes"] <= 180
    called = "workflow_call" in document(path)["on"]  # then its caller limits concurrency
    assert called or "concurrency" in job or "concurrency" in document(path)


@pytest.mark.parametrize(("path", "name", "job"), JOBS)
def test_no_checkout_persists_the_token(path: Path, name: str, job: dict[str, Any]) -> None:
    checkouts = [step for step in job.get("steps", []) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize(("path", "name", "job"), JOBS)
def test_scripts_get_values_as_variables_without_interpolation(path: Path, name: str, job: dict[str, Any]) -> None:
    assert [step["run"] for step in job.get("steps", []) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", ["preview.yml", "test.yml"])
def test_workflows_that_run_untrusted_code_have_no_credentials(name: str) -> None:
    path = ROOT / ".github" / "workflows" / name
    text = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
    assert not re.search(r"secrets|github\.token|id-token|environment:|aws-actions|pull_request_target|: write", text)
    assert "pull_request" in document(path)["on"]


def test_only_comment_yml_follows_a_preview_and_it_runs_no_code_of_the_pull_request() -> None:
    started = [path.name for path in WORKFLOWS if "workflow_run" in document(path)["on"]]
    assert started == ["comment.yml"]
    judge, job = document(ROOT / ".github" / "workflows" / "comment.yml")["jobs"].values()
    (checkout, comment) = job["steps"]
    for one in (checkout, judge["steps"][0]):
        assert one["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    assert judge["permissions"] == {"contents": "read"}
    assert [one["run"].split()[0] for one in judge["steps"] if "run" in one][::2] == ["make", "tools/ci/judge.sh"]
    assert comment["run"] == "python3 -m tools.ci.comment"


def test_the_job_that_publishes_the_website_runs_no_code_of_the_repository() -> None:
    build, publish = document(ROOT / ".github" / "workflows" / "site.yml")["jobs"].values()
    assert [step.get("uses", step.get("run", "")).partition("@")[0] for step in publish["steps"]] == [
        "actions/deploy-pages"
    ]
    assert build["permissions"] == {"contents": "read"}
    assert build["steps"][-1]["with"]["path"] == "build/site/html"


def test_the_job_that_publishes_a_release_runs_no_code_of_the_repository() -> None:
    build, tools, publish = document(ROOT / ".github" / "workflows" / "release.yml")["jobs"].values()
    uploads = [one["with"]["name"] for job in (build, tools) for one in job["steps"] if "upload" in one.get("uses", "")]
    download, attest, create = publish["steps"]
    assert [step["uses"].partition("@")[0] for step in (download, attest)] == [
        "actions/download-artifact", "actions/attest-build-provenance"
    ]  # fmt: skip
    assert create["run"].startswith("gh release create ")
    assert attest["with"]["subject-path"] == f"{download['with']['path']}/*"
    assert len(uploads) == 2
    assert all(fnmatch.fnmatch(name, download["with"]["pattern"]) for name in uploads)
    assert publish["needs"] == ["build", "toolchain"]
    assert build["permissions"] == tools["permissions"] == {"contents": "read"}
    assert [step for step in tools["steps"] if "cache" in step.get("uses", "")] == []
    assert "make sbom" in [step.get("run") for step in build["steps"]]
    (wheel,) = [words for step in build["steps"] if "--wheel" in (words := step.get("run", "").split())]
    assert wheel[:2] == [".venv/bin/uv", "build"]
    (upload,) = [step["with"] for step in build["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert wheel[wheel.index("--out-dir") + 1] == upload["path"]


SETUP = "make setup pipeline"
ASSUMES = "aws-actions/configure-aws-credentials@"


def with_role() -> list[Any]:
    return [one for one in JOBS if any(step.get("uses", "").startswith(ASSUMES) for step in steps(one.values[2]))]


def steps(job: Any) -> list[dict[str, Any]]:
    return list(job.get("steps", []))


def test_jobs_that_assume_a_role_are_those_with_a_token() -> None:
    """And those that publish: GitHub Pages and Sigstore ask for a token."""
    with_token = {
        (path, name)
        for path, name, job in jobs()
        if job["permissions"].get("id-token") == "write" and "steps" in job and name != "publish"
    }
    assert {(one.values[0], one.values[1]) for one in with_role()} == with_token


@pytest.mark.parametrize(("path", "name", "job"), with_role())
def test_everything_is_installed_before_a_role_is_assumed(path: Path, name: str, job: dict[str, Any]) -> None:
    place = next(index for index, step in enumerate(job["steps"]) if step.get("uses", "").startswith(ASSUMES))
    assert [step.get("run", "checkout") for step in job["steps"][:place]] == ["checkout", SETUP]
    scripts = [step["run"] for step in job["steps"][place + 1 :] if "run" in step]
    assert scripts
    assert [run for run in scripts if not re.match(r"tools/ci/(deploy|drift)\.sh ", run)] == []


@pytest.mark.parametrize("name", ["deploy.sh", "drift.sh", "lib.sh"])
def test_a_script_with_a_role_installs_nothing(name: str) -> None:
    text = (ROOT / "tools" / "ci" / name).read_text()
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "echo")))
    assert not re.search(r"\b(ensure|curl|wget|pip|uv|make|npm|go build|plugin install)\b", code)
    if name != "lib.sh":
        assert "\nuse_engine\n" in text
    else:
        assert "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true" in text


BUILDS = re.compile(r'make (binaries|tools|test( REST=.*)?|"\$TARGET")$')
TEST_MINUTES = 30
"""All tests on two cores, with binaries and the shared folder (2026-11-23)."""


def building() -> list[Any]:
    return [one for one in JOBS if any(BUILDS.match(step.get("run", "")) for step in steps(one.values[2]))]


def test_jobs_that_build_are_known() -> None:
    assert {f"{one.values[0].stem} {one.values[1]}" for one in building()} == {
        "binaries build", "preview stack", "test test", "weekly run",
    }  # fmt: skip


@pytest.mark.parametrize(("path", "name", "job"), building())
def test_a_job_that_builds_takes_binaries_from_one_cache(path: Path, name: str, job: dict[str, Any]) -> None:
    """By one key, of all that decides what is built."""
    (cache,) = (step for step in job["steps"] if step.get("uses", "").startswith("actions/cache"))
    assert cache["uses"].startswith("actions/cache@" if path.stem == "binaries" else "actions/cache/restore@")
    assert cache["with"]["path"] == "~/.cache/slipway/tools"
    assert set(cache["with"]) == {"path", "key"}, "an older cache would bring old versions along"
    system, patterns = cache["with"]["key"].split("${{ hashFiles(")
    assert system == "binaries-${{ runner.os }}-${{ runner.arch }}-"
    hashed = {file for pattern in re.findall(r"'([^']+)'", patterns) for file in ROOT.glob(pattern)}
    toolchain_files = {*(ROOT / "sandbox/toolchain/go").rglob("*.*"), *(ROOT / "sandbox/toolchain").glob("*.py")}
    assert {file for file in toolchain_files if file.is_file()} - hashed == set()
    assert job["steps"].index(cache) < max(
        index for index, step in enumerate(job["steps"]) if BUILDS.match(step.get("run", ""))
    )


def test_builds_and_tests_end_within_their_limits_though_the_cache_is_empty() -> None:
    minutes = {one.values[0].stem: one.values[2]["timeout-minutes"] for one in building()}
    builds = {tool: tool.go.minutes for tool in TOOLS.values() if tool.go}
    every, sandbox = (
        sum(builds.values()),
        sum(builds[one] for one in builds if not one.in_background and not one.for_tests),
    )
    assert minutes["binaries"] > 1.5 * every
    assert minutes["test"] > 1.25 * (every + TEST_MINUTES)
    assert minutes["preview"] > 1.5 * sandbox + 5


@pytest.mark.parametrize(("path", "name", "job"), with_role())
def test_no_job_with_a_role_takes_anything_from_a_cache(path: Path, name: str, job: dict[str, Any]) -> None:
    assert [step["uses"] for step in job["steps"] if "cache" in step.get("uses", "")] == []


def test_no_workflow_has_a_secret() -> None:
    assert [path.name for path in WORKFLOWS if "secrets." in path.read_text()] == []


@pytest.mark.parametrize(
    ("job", "environment"), [("plan", "${{ inputs.stack }}-preview"), ("up", "${{ inputs.stack }}")]
)
def test_a_deployment_job_uses_the_environment_with_its_reviewers(job: str, environment: str) -> None:
    definition = document(ROOT / ".github" / "workflows" / "deploy-stack.yml")["jobs"][job]
    assert definition["environment"] == environment
    assert definition["steps"][-1]["run"] == f'tools/ci/deploy.sh {job} "$STACK"'


def test_stacks_are_deployed_one_after_the_other() -> None:
    deployments = document(ROOT / ".github" / "workflows" / "deploy.yml")["jobs"]
    assert [(name, job.get("needs"), job["with"]["stack"]) for name, job in deployments.items()] == [
        ("dev", None, "dev"),
        ("staging", "dev", "staging"),
        ("prod", "staging", "prod"),
    ]
    assert {job["concurrency"]["group"] for job in deployments.values()} == {"stack-dev", "stack-staging", "stack-prod"}
