"""`slipway cost STACK`: what the stack costs, at its least, as expected, at its most; and what a change of it costs."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.engine.project import Project, find
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.cli.commands import Commands
    from spec.pricing import Estimate
    from spec.settings import Platform

EPILOG: Final = """\
  slipway cost prod                       every line, and sums by service, pool and team
  slipway cost prod --against main        what this checkout's settings add to those of main, line by line
  slipway cost dev --deployed --sandbox   against the settings that the stack was last brought up with

docs/guides/cost.md has what is counted, how, and from where the prices are.
"""
_NO_PULUMI: Final = "no `pulumi` on PATH to ask what is deployed: install it, or add --sandbox"


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cost",
        help="what a stack costs, at its least, as expected and at its most",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    baseline = parser.add_mutually_exclusive_group()
    baseline.add_argument(
        "--against", metavar="REF", help="what differs from the stack file of a commit, branch or tag"
    )
    baseline.add_argument("--deployed", action="store_true", help="what differs from the last update of the stack")
    parser.add_argument("--sandbox", action="store_true", help="with --deployed: the stack of the sandbox")
    parser.add_argument("--verify", action="store_true", help="run the program too, and hold its resources against it")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--strict", action="store_true", help="take warnings about the settings for errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Price the settings, and what they are compared with."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    platform = checked(project, options.stack, strict=options.strict).platform
    from spec.pricing import estimate  # noqa: PLC0415 - reads the catalog; a wrong file needs none of it

    priced = estimate(platform)
    if options.verify:
        priced = _against_program(priced, platform, options.stack)
    if options.against or options.deployed:
        _compare(options, project, priced)
    else:
        _show(priced, as_json=options.json)
    return 0


def _show(priced: Estimate, *, as_json: bool) -> None:
    from slipway.cost import document, table  # noqa: PLC0415

    print(json.dumps(document.of_estimate(priced), indent=2) if as_json else table(priced).rstrip("\n"))


def _compare(options: argparse.Namespace, project: Project, priced: Estimate) -> None:
    from slipway.cost import baseline, changes, difference, document  # noqa: PLC0415
    from spec.pricing import estimate  # noqa: PLC0415

    if options.against:
        name, before = options.against, baseline.at_commit(project, options.stack, options.against)
    else:
        name, before = "what is deployed", _deployed(project, options.stack, sandbox=options.sandbox)
    found = difference(_empty(priced) if before is None else estimate(before), _comparable(priced))
    if options.json:
        print(json.dumps(document.of_difference(found, name), indent=2))
        return
    if before is None:
        print(f"There is no {options.stack} in {name}: all of it is new.\n")
    print(changes.changes(found, name), end="")


def _empty(priced: Estimate) -> Estimate:
    return type(priced)(region=priced.region, lines=(), unpriced=())


def _comparable(priced: Estimate) -> Estimate:
    """Without what only the program's resources told: the other side was priced from settings alone."""
    told = tuple(item for item in priced.unpriced if not item.what.startswith("aws:"))
    return type(priced)(region=priced.region, lines=priced.lines, unpriced=told)


def _against_program(priced: Estimate, platform: Platform, stack: str) -> Estimate:
    """Run the program, and say where its resources and the lines do not agree."""
    from slipway.cost import reconciliation  # noqa: PLC0415
    from slipway.render.program import record_platform  # noqa: PLC0415 - imports the SDK, 1 s

    resources = [(each.type, each.inputs.plain) for each in record_platform(platform, stack=stack)]
    for line in reconciliation.disagreements(priced, resources):
        print(f"warning: {line}", file=sys.stderr)
    unpriced = (*priced.unpriced, *reconciliation.unpriced_types(resources))
    return type(priced)(region=priced.region, lines=priced.lines, unpriced=unpriced)


def _deployed(project: Project, stack: str, *, sandbox: bool) -> Platform | None:
    from slipway.cost import baseline  # noqa: PLC0415
    from slipway.engine import history  # noqa: PLC0415

    found = history.settings(history_in_sandbox(stack) if sandbox else history_on_aws(project, stack))
    if found is None:
        return None
    if not found.settled:
        print(f"warning: the last update of {stack} failed: only a part of it stands", file=sys.stderr)
    return baseline.as_deployed(found.settings, stack)


def history_in_sandbox(stack: str) -> str:
    """What the engine remembers of a stack of the sandbox, as JSON."""
    from slipway.cli import offline  # noqa: PLC0415 - imports processes and certificates

    running = offline.find_running()
    if running is None:
        msg = "no sandbox is running, so nothing is deployed in it: `slipway up STACK --sandbox` first"
        raise SlipwayError(msg)
    return running.engine(os.environ).history(stack)


def history_on_aws(project: Project, stack: str) -> str:
    """What the engine remembers of a stack on your backend, as JSON."""
    from slipway.engine import history, process  # noqa: PLC0415
    from slipway.engine.invocation import Invocation  # noqa: PLC0415

    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise SlipwayError(_NO_PULUMI)
    argv = (pulumi, *history.ARGUMENTS, "--stack", stack, "--non-interactive")
    return process.capture(Invocation(argv, os.environ, project.root))
