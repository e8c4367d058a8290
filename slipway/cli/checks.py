"""Findings of `slipway doctor` about the checkout and the shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from slipway.cli.status import Condition, Status
from slipway.engine.project import Project
from slipway.findings import Finding, Level
from spec import clock
from spec.catalog.ageing import Aged
from spec.settings import ConfigurationError, load, read_stack


def stack_files(project: Project) -> list[Finding]:
    """Whether each stack file of the checkout is accepted."""
    names = project.stack_names
    if not names:
        return [Finding(Level.FAILED, "stacks", f"no file in {project.stacks}", "add one, see stacks/README.md")]
    return [_stack_file(project, name) for name in names]


def _stack_file(project: Project, stack: str) -> Finding:
    what = f"stack {stack}"
    try:
        loaded = load(read_stack(stack, project.stacks), stack=stack)
    except ConfigurationError as error:
        count = len(error.problems)
        problems = f"{count} problem{'s' if count != 1 else ''}"
        return Finding(Level.FAILED, what, problems, f"run `slipway check {stack}`, which lists each with its fix")
    if loaded.warnings:
        count = len(loaded.warnings)
        return Finding(Level.NOTE, what, f"valid, {count} warning{'s' if count != 1 else ''} (slipway check {stack})")
    return Finding(Level.OK, what, "valid")


def day(today: date) -> Finding:
    """On which day the stacks are evaluated, which a forgotten variable changes without a word."""
    current = clock.current()
    if today == current:
        return Finding(Level.OK, "day", f"{today} (UTC)")
    fix = f"unset {clock.VARIABLE} to evaluate on the current day, {current}"
    return Finding(Level.NOTE, "day", f"{today}, by {clock.VARIABLE}", fix)


def catalog(aged: Sequence[Aged]) -> Finding:
    """Whether facts that stacks are evaluated by are old."""
    if not aged:
        return Finding(Level.OK, "catalog", "no fact is old")
    fix = 'CONTRIBUTING.md, "Dated facts"; prices: `slipway prices refresh`'
    return Finding(Level.NOTE, "catalog", f"old facts: {', '.join(one.what.rpartition('/')[2] for one in aged)}", fix)


def sandbox(status: Status) -> Finding:
    """The state of the sandbox. A stopped one is fine: the next command starts it."""
    level = {Condition.DAMAGED: Level.FAILED, Condition.STALE: Level.NOTE}.get(status.condition, Level.OK)
    memory = f", {status.memory >> 20} MiB" if status.healthy else ""
    return Finding(level, "sandbox", f"{status.condition}{memory}, in {status.home}", status.fix)


def aws_variables(environment: Mapping[str, str]) -> Finding:
    """Which AWS variables a run on AWS would see; the sandbox sees none of them."""
    names = sorted(name for name in environment if name.startswith("AWS_"))
    state = f"set: {', '.join(names)} (not passed to the sandbox)" if names else "none set (the sandbox needs none)"
    return Finding(Level.OK, "AWS_* variables", state)
