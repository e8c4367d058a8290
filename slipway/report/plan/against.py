"""The stack at another commit: its tree is exported from git and rendered by its own program.

This shows changes of the program as well as of the settings; `slipway.cost.baseline` only compares the settings, with
today's program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slipway.engine.commits import take_out
from slipway.engine.project import Project, is_ours
from spec.errors import SlipwayError
from spec.pricing import Estimate, estimate
from spec.settings import ConfigurationError, load, read_stack

_MINUTES: Final = 10
_LINES: Final = 6
"""Lines of a failed rendering's error output that are reported."""


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A stack at another commit.

    Attributes:
        name: Name for readers: `main (1a2b3c4)`.
        resources: Entries of `resources.json`; empty if the stack does not exist there.
        problem: Why there are no resources; empty if there is no problem.
        estimate: Cost of its settings at today's prices; None if this program can't read them.
        new: Whether the commit does not have the stack.
    """

    name: str
    resources: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""
    estimate: Estimate | None = None
    new: bool = False


def baseline(project: Project, stack: str, ref: str) -> Baseline:
    """The stack at a commit, branch or tag; failures are reported in `problem`, never raised."""
    with tempfile.TemporaryDirectory(prefix="slipway-against-") as folder:
        root = Path(folder) / "tree"
        try:
            commit = take_out(project, ref, root)
        except SlipwayError as error:
            return Baseline(name=ref, problem=str(error))
        return _at(Project(root), stack, f"{ref} ({commit})", Path(folder) / "rendering")


def _at(project: Project, stack: str, name: str, out: Path) -> Baseline:
    if not is_ours(project.root / "Pulumi.yaml"):
        return Baseline(name=name, problem="the commit has no Pulumi.yaml of this project")
    if not project.has(stack):
        return Baseline(name=name, new=True)
    price = _price(project, stack)
    environment = {**os.environ, "PYTHONPATH": str(project.root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "slipway", "render", stack, "--out", str(out)]
    try:
        done = subprocess.run(
            command, cwd=project.root, env=environment, capture_output=True, timeout=_MINUTES * 60, check=False
        )
    except subprocess.TimeoutExpired:
        return Baseline(
            name=name, problem=f"its program did not finish rendering within {_MINUTES} minutes", estimate=price
        )
    if done.returncode:
        return Baseline(name=name, problem=f"its program failed to render: {_last(done.stderr)}", estimate=price)
    resources = json.loads((out / "resources.json").read_text(encoding="utf-8"))
    return Baseline(name=name, resources=tuple(resources), estimate=price)


def _price(project: Project, stack: str) -> Estimate | None:
    """Cost of its settings with today's program and prices, so that the difference comes from the change only."""
    try:
        return estimate(load(read_stack(stack, project.stacks), stack=stack).platform)
    except ConfigurationError:
        return None


def _last(output: bytes) -> str:
    """The last lines of a failed command's output."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-_LINES:])
