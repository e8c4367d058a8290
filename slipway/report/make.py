"""Generates the report on a stack: runs the program, estimates its cost, evaluates the policies, compares it with a
baseline, and writes the two files."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.files import write_atomically
from slipway.engine.project import Project, git
from slipway.render import evaluation
from slipway.render.layout import as_data
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.report import gather
from slipway.report.advice import Replayed, Scenario
from slipway.report.effects import concerned, settings
from slipway.report.markdown import markdown
from slipway.report.model import NONE, Effects, Report
from slipway.report.page import page
from slipway.report.plan import NOTHING, Plan, engine
from slipway.report.plan.compare import Baseline, baseline, compare, finding_name
from spec import clock
from spec.errors import SlipwayError, refuse
from spec.pricing import Estimate, estimate
from spec.settings import Loaded, read_stack

PAGE: Final = "index.html"
COMMENT: Final = "report.md"


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """What to report on."""

    stack: str
    against: str | None = None  # commit, branch or tag to compare with, if any
    plan: Path | None = None
    """File with the engine's plan, if any. The changes come from it, the cost difference from `against`."""
    scenarios: tuple[Scenario, ...] = ()  # what was rehearsed
    replayed: Replayed | None = None  # what was found by replays; None if nothing was replayed


def make(project: Project, loaded: Loaded, request: ReportRequest) -> Report:
    """The report of valid settings.

    Raises:
        RenderError: The program fails.
        SlipwayError: The file of the plan is not valid.
    """
    plan = NOTHING if request.plan is None else engine.read(request.plan)
    recording = record_platform(loaded.platform, stack=request.stack)
    today = clock.today()
    before, problem, effects = None, "", NONE
    data = read_stack(request.stack, project.stacks)
    violations = evaluation.check(recording, today)
    if request.against is not None:
        base = baseline(project, request.stack, request.against, judged=True)
        compared, before, problem = _compared(base, recording)
        found = frozenset((one.id, finding_name(one.urn)) for one in violations if one.counts(today))
        effects = _effects(base, recording, compared, data, found)
        plan = plan if request.plan is not None else compared
    inputs = gather.Inputs(
        stack=request.stack,
        loaded=loaded,
        recording=recording,
        estimate=estimate(loaded.platform, today),
        violations=violations,
        today=today,
        plan=plan,
        before=before,
        effects=effects,
        before_problem=problem,
        commit=_commit(project),
        data=data if isinstance(data, Mapping) else {},
        scenarios=request.scenarios,
        replayed=request.replayed,
    )
    return gather.report(inputs)


def prepare(out: Path) -> None:
    """Create the folder of a report, so that one that can't be written is refused before the program runs.

    Raises:
        SlipwayError: The folder can't be created or written; exit code 2.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        refuse(f"--out {out}: the folder must be writable ({error.strerror}). Choose another one.", error)


def write(report: Report, out: Path) -> None:
    """Write the page and the comment to a folder, which is created if needed; its other files are kept."""
    prepare(out)
    for name, text in ((PAGE, page(report)), (COMMENT, markdown(report))):
        write_atomically(out / name, text, 0o644)


def needs_of(recording: Recording) -> dict[str, Mapping[str, Sequence[str]]]:
    """Property dependencies by URN: the URNs that each property of a resource comes from."""
    return {one.urn: one.options.property_dependencies for one in recording}


def _effects(
    base: Baseline, recording: Recording, plan: Plan, data: object, findings: frozenset[tuple[str, str]]
) -> Effects:
    """What the change does to whom; of a stack that is new or can't be compared nothing is said."""
    if base.new or base.problem:
        return NONE
    assert recording.platform is not None  # noqa: S101 - of our program
    pools = {*recording.platform.pools, *(base.settings.get("pools") or ())}
    return Effects(
        settings=settings(base.settings, data) if isinstance(data, Mapping) and base.settings else (),
        to=concerned(base.resources, map(as_data, recording), plan, pools),
        new=None if base.findings is None else findings - base.findings,
        gone=tuple(sorted((base.findings or frozenset()) - findings)),
    )


def _compared(base: Baseline, recording: Recording) -> tuple[Plan, Estimate | None, str]:
    """The plan, the cost estimate of the baseline, and why there is none."""
    if base.problem:
        plan = Plan(against=base.name, problem=base.problem)
    else:
        plan = compare(base.resources, map(as_data, recording), needs_of(recording), against=base.name)
    return plan, base.estimate, "" if base.estimate else _why(base)


def _why(base: Baseline) -> str:
    """Why the baseline has no cost estimate."""
    if base.new:
        return "the stack is new"
    if base.problem:
        return f"{base.name} can't be compared"
    return f"this program can't price the settings at {base.name}"


def _commit(project: Project) -> str:
    """The commit of the checkout, marked if files differ from it; empty if git knows none."""
    try:
        done = git(project, "describe", "--always", "--dirty", "--exclude=*")
    except SlipwayError:
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""
