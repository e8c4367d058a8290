"""The `pulumi` on PATH in a shell of the sandbox."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from sandbox import asked
from slipway.engine import shim
from slipway.engine.project import Project, take_out
from slipway.engine.stacks import Overlay
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.slipway.engine.fake import FakePulumi
from tests.support.cases import beside

CASES: Final = beside(__file__)

STACK_FILE = "config:\n  slipway:platform: {}\n"


@pytest.mark.parametrize(("line", "changed"), CASES["only runs that would write a salt are changed"])
def test_only_runs_that_would_write_a_salt_are_changed(line: str, *, changed: bool) -> None:
    assert shim.concerns(line.split()) is changed


@pytest.mark.parametrize(("line", "environment", "stack"), CASES["the stack is found where the cli finds it"])
def test_the_stack_is_found_where_the_cli_finds_it(line: str, environment: dict[str, str], stack: str | None) -> None:
    assert shim.named_stack(line.split(), environment) == stack


def test_a_path_without_shims_keeps_everything_else() -> None:
    path = os.pathsep.join(["/a", f"/home/project/{shim.DIRECTORY}", "/b"])
    assert shim.off_path(path) == os.pathsep.join(["/a", "/b"])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "stacks").mkdir(parents=True)
    (root / "infra").mkdir()
    (root / "Pulumi.yaml").write_text("name: slipway\nruntime: python\n")
    (root / "stacks/Pulumi.dev.yaml").write_text(STACK_FILE)
    return root


def run(
    fake: FakePulumi, tmp_path: Path, directory: Path, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    overlay = Overlay(tmp_path / "home" / "project")
    overlay.make()
    installed = shim.install(overlay, fake.path)
    environment = {
        "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}",
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}",
        **more,
    }
    return subprocess.run(
        ["pulumi", *arguments], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )


def test_plain_pulumi_up_makes_the_stack_and_uses_the_copy(fake: FakePulumi, tmp_path: Path, checkout: Path) -> None:
    done = run(fake, tmp_path, checkout / "infra", "up", "-s", "dev", "--yes")
    assert done.returncode == 0, done.stderr
    copy = tmp_path / "home/project/stacks/Pulumi.dev.yaml"
    assert [call["arguments"] for call in fake.calls] == [
        ["stack", "select", "--create", "--stack", "dev", "--non-interactive"],
        ["up", "-s", "dev", "--yes", "--config-file", str(copy)],
    ]
    assert fake.calls[-1]["directory"] == str(checkout / "infra")
    assert (checkout / "stacks/Pulumi.dev.yaml").read_text() == STACK_FILE
    assert "encryptionsalt" in copy.read_text()


def test_plain_pulumi_asks_the_sandbox_for_the_charts_of_its_environment(
    fake: FakePulumi, tmp_path: Path, checkout: Path
) -> None:
    (tmp_path / "charts").mkdir()
    done = run(fake, tmp_path, checkout, "preview", "-s", "dev", SLIPWAY_CHARTS=str(tmp_path / "charts"))
    assert f"slipway: charts: those of {tmp_path / 'charts'} from now on" in done.stderr
    assert asked.charts(tmp_path / "home") == tmp_path / "charts"
    done = run(fake, tmp_path, checkout, "preview", "-s", "dev", SLIPWAY_CHARTS="nowhere")
    assert done.returncode == EXIT_REFUSED
    assert "it must be a folder of charts" in done.stderr


def test_the_selected_stack_is_read_from_the_cli(fake: FakePulumi, tmp_path: Path, checkout: Path) -> None:
    fake.tell("selected", "dev\n")
    assert run(fake, tmp_path, checkout, "preview").returncode == 0
    assert fake.calls[-1]["arguments"][:2] == ["preview", "--config-file"]


@pytest.mark.parametrize("arguments", [["stack", "export"], ["up", "-s", "unknown"], ["up"]])
def test_other_commands_go_to_the_cli_unchanged(
    fake: FakePulumi, tmp_path: Path, checkout: Path, arguments: list[str]
) -> None:
    run(fake, tmp_path, checkout, *arguments)
    assert fake.calls[-1]["arguments"] == arguments


def test_runs_of_another_project_are_unchanged(fake: FakePulumi, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: other\nruntime: go\n")
    run(fake, tmp_path, tmp_path, "up", "-s", "dev")
    assert [call["arguments"] for call in fake.calls] == [["up", "-s", "dev"]]


def test_the_exit_code_is_the_engines(fake: FakePulumi, tmp_path: Path, checkout: Path) -> None:
    fake.tell("exit", "255")
    assert run(fake, tmp_path, checkout, "up", "-s", "dev").returncode == 255


def test_the_shim_reports_that_the_sandbox_was_stopped(fake: FakePulumi, tmp_path: Path, checkout: Path) -> None:
    overlay = Overlay(tmp_path / "home" / "project")
    overlay.make()
    installed = shim.install(overlay, tmp_path / "gone" / "pulumi")
    done = subprocess.run(
        [installed / "pulumi", "up"], cwd=checkout, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the sandbox was stopped" in done.stderr
    assert "Traceback" not in done.stderr


# Checking out a commit's files, all of them or one folder.


def git(root: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-c", "commit.gpgsign=false", *arguments]
    environment = {**os.environ, **identity}
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, env=environment).stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project in a folder of its repository, changed since its one commit."""
    root = tmp_path / "repository" / "platform"
    for name in ("stacks/Pulumi.dev.yaml", "stacks-old/Pulumi.dev.yaml", "Pulumi.yaml", "../other.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("committed")
    git(root.parent, "init", "-q", "-b", "main")
    git(root.parent, "add", ".")
    git(root.parent, "commit", "-q", "-m", "all of it")
    (root / "Pulumi.yaml").write_text("changed")
    return Project(root)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_files_are_those_of_the_commit_whose_id_is_returned(project: Project, tmp_path: Path) -> None:
    commit = take_out(project, "main", tmp_path / "out")
    assert git(project.root, "rev-parse", "main").startswith(commit)
    assert len(commit) == 10
    assert files(tmp_path / "out") == {"Pulumi.yaml", "stacks/Pulumi.dev.yaml", "stacks-old/Pulumi.dev.yaml"}
    assert (tmp_path / "out" / "Pulumi.yaml").read_text() == "committed"


@pytest.mark.parametrize(("under", "names"), [("stacks", {"stacks/Pulumi.dev.yaml"}), ("nothing", set())])
def test_a_single_folder_comes_without_the_rest(project: Project, tmp_path: Path, under: str, names: set[str]) -> None:
    take_out(project, "main", tmp_path / "out", under=under)
    assert files(tmp_path / "out") == names


@pytest.mark.parametrize("ref", ["nowhere", "--output=x", "", "main:Pulumi.yaml"])
def test_an_unknown_commit_is_reported_by_name(project: Project, tmp_path: Path, ref: str) -> None:
    with pytest.raises(SlipwayError, match=rf"git knows no commit '{ref}' here; fetch it"):
        take_out(project, ref, tmp_path / "out")


def test_a_folder_outside_a_repository_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="not a git repository"):
        take_out(Project(tmp_path), "main", tmp_path / "out")


def test_a_missing_git_is_reported(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlipwayError, match="git can't be run"):
        take_out(project, "main", tmp_path / "out")
