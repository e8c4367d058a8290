"""Checking out a commit's files, all of them or one folder."""

import os
import subprocess
from pathlib import Path

import pytest

from slipway.engine.project import Project, take_out
from spec.errors import SlipwayError


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
