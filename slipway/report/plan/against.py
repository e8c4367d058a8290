"""The stack as it is at another commit: its tree taken out of git, and rendered there by its own program.

A change of the program then shows as well as one of the settings; `slipway.cost.baseline` reads the settings alone,
with today's program.
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
"""Lines of a failed rendering's own words that are passed on."""


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A stack at another commit.

    Attributes:
        name: For a reader: `main (1a2b3c4)`.
        resources: As `resources.json` has them; empty where the stack is not there yet.
        problem: Why there are none; empty where there is no problem.
        estimate: What its settings cost at today's prices; None where they can't be read by this program.
        new: Whether the commit does not have the stack.
    """

    name: str
    resources: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""
    estimate: Estimate | None = None
    new: bool = False


def baseline(project: Project, stack: str, ref: str) -> Baseline:
    """The stack at a commit, branch or tag; what can't be had is said in `problem`, never raised."""
    with tempfile.TemporaryDirectory(prefix="slipway-against-") as folder:
        root = Path(folder) / "tree"
        try:
            commit = take_out(project, ref, root)
        except SlipwayError as error:
            return Baseline(name=ref, problem=str(error))
        return _at(Project(root), stack, f"{ref} ({commit})", Path(folder) / "rendering")


def _at(project: Project, stack: str, name: str, out: Path) -> Baseline:
    if not is_ours(project.root / "Pulumi.yaml"):
        return Baseline(name=name, problem="there is no Slipway there: it has no Pulumi.yaml of this project")
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
        return Baseline(name=name, problem=f"its program had not rendered after {_MINUTES} minutes", estimate=price)
    if done.returncode:
        return Baseline(name=name, problem=f"its program does not render: {_last(done.stderr)}", estimate=price)
    found = json.loads((out / "resources.json").read_text(encoding="utf-8"))
    return Baseline(name=name, resources=tuple(found), estimate=price)


def _price(project: Project, stack: str) -> Estimate | None:
    """Its settings at today's prices by today's program: the difference is then that of the change alone."""
    try:
        return estimate(load(read_stack(stack, project.stacks), stack=stack).platform)
    except ConfigurationError:
        return None


def _last(output: bytes) -> str:
    """The last words of a failed command."""
    found = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(found[-_LINES:])
