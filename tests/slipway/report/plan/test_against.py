"""Another commit is rendered by its own program; failures are reported."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from slipway.engine.project import Project
from slipway.report.plan.against import Baseline, baseline

OWN = """\
import json, pathlib, sys
command, stack, _, out = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parents[1]
assert (command, stack) == ("render", "dev") and pathlib.Path.cwd().resolve() == root
target = pathlib.Path(out)
target.mkdir(parents=True)
(target / "resources.json").write_text(json.dumps([{"urn": (root / "marker").read_text()}]))
"""
BROKEN = "import sys\nsys.exit('this program does not know the stack')\n"


def git(root: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, env={**os.environ, **identity}
    )


def commit(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a change")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"README.md": "empty"})
    git(tmp_path, "tag", "empty")
    settings = "config: {slipway:platform: {}}\n"
    files = {"Pulumi.yaml": "name: slipway\n", "stacks/Pulumi.dev.yaml": settings, "marker": "first"}
    commit(tmp_path, {**files, "slipway/__init__.py": "", "slipway/__main__.py": OWN})
    git(tmp_path, "tag", "first")
    commit(tmp_path, {"marker": "second", "slipway/__main__.py": BROKEN})
    return tmp_path


def base(root: Path, ref: str, stack: str = "dev") -> Baseline:
    return baseline(Project(root), stack, ref)


def test_the_program_of_the_commit_renders_its_own_tree(root: Path) -> None:
    found = base(root, "first")
    assert found.problem == ""
    assert [one["urn"] for one in found.resources] == ["first"]
    assert found.name.startswith("first (")


def test_settings_that_this_program_cannot_read_have_no_cost_estimate(root: Path) -> None:
    assert base(root, "first").estimate is None


def test_the_checkout_is_unchanged(root: Path) -> None:
    (root / "marker").write_text("changed by hand")
    base(root, "first")
    listed = subprocess.run(["git", "-C", str(root), "worktree", "list"], check=True, capture_output=True, text=True)
    assert (root / "marker").read_text() == "changed by hand"
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("nowhere", r"git knows no commit 'nowhere' here; fetch it"),
        ("--output=x", r"git knows no commit '--output=x'"),
        ("empty", r"has no Pulumi.yaml of this project"),
        ("main", r"its program failed to render: this program does not know the stack"),
    ],
)
def test_a_failed_comparison_is_reported(root: Path, ref: str, why: str) -> None:
    found = base(root, ref)
    assert not found.resources
    assert why in found.problem


def test_a_stack_that_did_not_exist_is_new(root: Path) -> None:
    found = base(root, "first", "prod")
    assert (found.new, found.problem, found.resources) == (True, "", ())


def test_a_directory_without_git_is_reported(tmp_path: Path) -> None:
    assert "not a git repository" in base(tmp_path, "main").problem
