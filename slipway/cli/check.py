"""`slipway check STACK...`: check the settings, without the engine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.engine.project import Project, find
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from spec.settings import Loaded, Problem


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("check", help="check the settings of stacks, without the engine")
    parser.add_argument("stacks", nargs="+", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--json", action="store_true", help="print the problems and warnings of every stack as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check each stack in turn. As text, stop at the first one that is refused; JSON has all."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    if options.json:
        results = [_as_data(project, stack, strict=options.strict) for stack in options.stacks]
        print(json.dumps(results, indent=2, default=str))
        return 0 if all(one["valid"] for one in results) else EXIT_REFUSED
    for stack in options.stacks:
        loaded = checked(project, stack, strict=options.strict)
        require_workers(loaded, stack, project)
        require_charts(loaded, stack, project)
        print(describe(stack, loaded))
    return 0


def require_charts(loaded: Loaded, stack: str, project: Project) -> None:
    """Check the stack's directory of charts, if it has one.

    Raises:
        ConfigurationError: With every chart that Helm would not find there.
    """
    if loaded.platform.charts.directory is not None:
        # Evaluates the program, which imports the SDK.
        from slipway.charts import source  # noqa: PLC0415

        source.require(loaded.platform, stack, project.root)


def require_workers(loaded: Loaded, stack: str, project: Project) -> None:
    """Compare a MultiKueue manager with the stacks of its workers.

    Raises:
        ConfigurationError: With everything that the workers lack.
    """
    from spec.settings import ConfigurationError, Platform, load, read_stack  # noqa: PLC0415 - as in `run`
    from spec.settings.workers import mismatches  # noqa: PLC0415 - as above

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
    from spec.settings import ConfigurationError, load, read_stack  # noqa: PLC0415 - as above

    problems: Iterable[Problem] = ()
    warnings: Iterable[Problem] = ()
    try:
        loaded = load(read_stack(stack, project.stacks), stack=stack)
        require_workers(loaded, stack, project)
        require_charts(loaded, stack, project)
        warnings = loaded.warnings
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
