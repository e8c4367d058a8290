"""Makes the report of a stack: runs the program, prices it, judges it, compares it, and writes the two files."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.engine.project import Project
from slipway.render import evaluation
from slipway.render.layout import as_data
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.report import gather
from slipway.report.markdown import markdown
from slipway.report.model import Report
from slipway.report.page import page
from slipway.report.plan import NOTHING, Plan, engine
from slipway.report.plan.against import Baseline, baseline
from slipway.report.plan.compare import compare
from spec import clock
from spec.pricing import Estimate, estimate
from spec.settings import Loaded

PAGE: Final = "index.html"
COMMENT: Final = "report.md"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to report on.

    Attributes:
        stack: Name of the stack.
        against: Commit, branch or tag to compare with; None for none.
        plan: File of the engine's plan; None for none. It says what changes, `against` what it costs.
    """

    stack: str
    against: str | None = None
    plan: Path | None = None


def make(project: Project, loaded: Loaded, wanted: Wanted) -> Report:
    """The report of valid settings.

    Raises:
        RenderError: The program does not run.
        SlipwayError: The plan's file is none.
    """
    plan = NOTHING if wanted.plan is None else engine.read(wanted.plan)
    recording = record_platform(loaded.platform, stack=wanted.stack)
    today = clock.today()
    before, problem = None, ""
    if wanted.against is not None:
        compared, before, problem = _against(project, wanted.stack, wanted.against, recording)
        plan = plan if wanted.plan is not None else compared
    found = gather.Findings(
        stack=wanted.stack,
        loaded=loaded,
        recording=recording,
        estimate=estimate(loaded.platform, today),
        violations=evaluation.check(recording, today),
        today=today,
        plan=plan,
        before=before,
        before_problem=problem,
        commit=_commit(project),
    )
    return gather.report(found)


def write(report: Report, out: Path) -> None:
    """Write the page and the comment to a folder, which is made where it is not there; its other files stay."""
    out.mkdir(parents=True, exist_ok=True)
    for name, text in ((PAGE, page(report)), (COMMENT, markdown(report))):
        (out / name).write_text(text, encoding="utf-8", newline="\n")


def needs_of(recording: Recording) -> dict[str, Mapping[str, Sequence[str]]]:
    """What each resource takes from which others."""
    return {one.urn: one.options.property_dependencies for one in recording}


def _against(project: Project, stack: str, ref: str, recording: Recording) -> tuple[Plan, Estimate | None, str]:
    """The plan, what it cost there, and why that is not known."""
    there = baseline(project, stack, ref)
    if there.problem:
        plan = Plan(against=there.name, problem=there.problem)
    else:
        plan = compare(there.resources, map(as_data, recording), needs_of(recording), against=there.name)
    return plan, there.estimate, "" if there.estimate else _why(there)


def _why(there: Baseline) -> str:
    """Why it is not known what the stack cost at a commit."""
    if there.new:
        return "the stack is not there yet"
    if there.problem:
        return f"{there.name} can't be compared"
    return f"its settings at {there.name} can't be priced by this program"


def _commit(project: Project) -> str:
    """The commit of the checkout, and whether files differ from it; empty where git knows none."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project.root), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
