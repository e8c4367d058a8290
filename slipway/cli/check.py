"""Reads and checks the settings of a stack, which every command does first; `slipway check` does only that."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sandbox.files import write_atomically
from slipway.engine.project import Project, find
from spec.errors import EXIT_REFUSED, SlipwayError, refuse
from spec.settings import ConfigurationError, Loaded, Platform, Problem, load, read_stack
from spec.settings.migrate import migrate
from spec.settings.source import placed
from spec.settings.workers import mismatches


def checked(project: Project, stack: str, *, strict: bool = False) -> Loaded:
    """The settings of a stack; warnings are printed to stderr.

    Raises:
        ConfigurationError: The file is refused; the error lists every problem.
        SlipwayError: There are warnings, and `strict` makes them errors.
    """
    with _placed(project, stack):
        loaded = load(read_stack(stack, project.stacks), stack=stack)
    for warning in placed(loaded.warnings, stack, project.stacks):
        print(f"warning: {warning}", file=sys.stderr)
    if strict and loaded.warnings:
        count = len(loaded.warnings)
        refuse(f"stack {stack}: {count} warning{'s' if count != 1 else ''}, refused because of --strict")
    return loaded


@contextmanager
def _placed(project: Project, stack: str) -> Iterator[None]:
    """Problems have their places in the stack file."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(placed(error.problems, stack, project.stacks), error.source) from None


def run(options: argparse.Namespace) -> int:
    """Check each stack in turn, by default all."""
    project = find(Path.cwd())
    stacks = options.stacks or project.stack_names
    if options.migrate:
        for stack in stacks:
            _migrate(project, stack)
    if options.json:
        results = [_as_data(project, stack, strict=options.strict) for stack in stacks]
        print(json.dumps(results, indent=2, default=str))
        return 0 if all(one["valid"] for one in results) else EXIT_REFUSED
    code = 0
    for stack in stacks:
        try:
            loaded = checked(project, stack, strict=options.strict)
            with _placed(project, stack):
                require_workers(loaded, stack, project)
                require_charts(loaded, stack, project)
            print(describe(stack, loaded), flush=True)
        except SlipwayError as error:
            print(error if error.complete else f"slipway: {error}", file=sys.stderr)
            code = error.exit_code
    return code


def _migrate(project: Project, stack: str) -> None:
    """Write the renamed settings of a stack's file, and print them to stderr. What can't be read, the check reports."""
    file = project.stacks / f"Pulumi.{stack}.yaml"
    with suppress(ConfigurationError):
        read_stack(stack, project.stacks)
        text, found = migrate(file.read_bytes().decode("utf-8-sig"))
        if found:
            write_atomically(file, text, file.stat().st_mode & 0o777)
        for path, new in found:
            print(f"{stack}: {path} is written as {new}", file=sys.stderr)


def require_charts(loaded: Loaded, stack: str, project: Project) -> None:
    """Check the stack's directory of charts, if it has one.

    Raises:
        ConfigurationError: With every chart that Helm would not find there.
    """
    if loaded.platform.charts.directory is not None:
        # Evaluates the program, which imports the SDK.
        from slipway.charts import uses  # noqa: PLC0415

        uses.require(loaded.platform, stack, project.root)


def require_workers(loaded: Loaded, stack: str, project: Project) -> None:
    """Compare a MultiKueue manager with the stacks of its workers.

    Raises:
        ConfigurationError: With everything that the workers lack.
    """

    def platform_of(worker: str) -> Platform | None:
        try:
            return load(read_stack(worker, project.stacks), stack=worker).platform
        except SlipwayError:
            return None

    problems = list(mismatches(loaded.platform, platform_of))
    if problems:
        raise ConfigurationError(problems, f"stack {stack}")


def _as_data(project: Project, stack: str, *, strict: bool) -> dict[str, Any]:
    """The result of one stack as plain values."""
    problems: Iterable[Problem] = ()
    warnings: Iterable[Problem] = ()
    try:
        with _placed(project, stack):
            loaded = load(read_stack(stack, project.stacks), stack=stack)
            require_workers(loaded, stack, project)
            require_charts(loaded, stack, project)
        warnings = placed(loaded.warnings, stack, project.stacks)
    except ConfigurationError as error:
        problems = error.problems
    refused = [asdict(one) for one in problems]
    noted = [asdict(one) for one in warnings]
    return {"stack": stack, "valid": not refused and not (strict and noted), "problems": refused, "warnings": noted}


def describe(stack: str, loaded: Loaded) -> str:
    """One line about a stack with valid settings."""
    platform = loaded.platform
    pools = ", ".join(platform.pools)
    warnings = f", {len(loaded.warnings)} warning(s)" if loaded.warnings else ""
    return (
        f"stack {stack}: valid{warnings}. Account {platform.account.id}, {platform.account.region}; "
        f"cluster {platform.cluster_name}; pools {pools}"
    )
