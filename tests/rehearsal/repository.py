"""A scratch git repository with this project's code and one small stack, for made-up pull requests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spec import clock
from spec.catalog import document
from tests.support import price_book

SOURCE: Final = Path(__file__).parents[2]
CONTENT: Final = (
    "Pulumi.yaml", "pyproject.toml", "requirements.lock", ".gitignore",
    "spec", "infra", "components", "policies", "sandbox", "slipway", "stacks", "tools",
)  # fmt: skip
"""Files of a checkout that the workflows' scripts read."""
NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})
KEPT: Final = frozenset({"SLIPWAY_CACHE", clock.VARIABLE})
"""Of our own variables: where the binaries are, and the day."""
STACK_FILE: Final = "stacks/Pulumi.dev.yaml"
STACK: Final = Path(__file__).with_name("stack.yaml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Repository:
    """A checkout of a pull request's merge commit, like that of `actions/checkout`."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> Repository:
        """Copy the present tree and commit it with the small stack, at fixed prices."""
        root.mkdir()
        for name in CONTENT:
            source = SOURCE / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, root / name)
        price_book.write(root / document.FOLDER)
        (root / STACK_FILE).write_text(STACK, encoding="utf-8")
        (root / ".venv" / "bin").mkdir(parents=True)
        (root / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (root / ".venv" / "bin" / "python").chmod(0o755)
        repository = cls(root)
        repository.git("init", "--quiet", "--initial-branch=main")
        repository.commit("the deployed stack")
        return repository

    def pull_request(self, changes: Mapping[str, str], file: str = STACK_FILE, *, link: str = "") -> None:
        """Discard the previous pull request, and check out a merge whose second parent replaces texts in a file, or
        makes it a symbolic link."""
        self.git("checkout", "--quiet", "-B", "change", "main")
        path = self.root / file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for old, new in changes.items():
            assert old in text, f"{file} has no {old!r}"
            text = text.replace(old, new)
        path.parent.mkdir(parents=True, exist_ok=True)
        if link:
            path.unlink(missing_ok=True)
            path.symlink_to(link)
        else:
            path.write_text(text or "new\n", encoding="utf-8")
        self.commit("a change")
        self.git("checkout", "--quiet", "-B", "merge", "main")
        self.git("merge", "--quiet", "--no-ff", "--no-edit", "change")

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def git(self, *arguments: str) -> None:
        name = ("-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@example.com", "-c", "commit.gpgsign=false")
        self.run("git", *name, *arguments, check=True)

    def script(
        self, name: str, *arguments: str, environment: Mapping[str, str] = NO_MORE
    ) -> subprocess.CompletedProcess[str]:
        """Run a script of `tools/ci` like a workflow."""
        return self.run(str(self.root / "tools" / "ci" / name), *arguments, environment=environment)

    def run(
        self, *command: str, check: bool = False, environment: Mapping[str, str] = NO_MORE
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout, without credentials; `stdout` has the output of both streams."""
        kept = {
            key: value
            for key, value in os.environ.items()
            if key in KEPT or not key.startswith(("AWS_", "PULUMI_", "SLIPWAY_", "GIT_"))
        }
        done = subprocess.run(
            command, cwd=self.root, env={**kept, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=900,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout
        return done
