"""`slipway cost STACK`: floor, expected cost and ceiling of a stack, and what a change of its settings costs."""

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
  slipway cost prod                       every line, and totals by service, pool and team
  slipway cost prod --against main        the cost difference between this checkout's settings and those of main
  slipway cost dev --deployed --sandbox   the cost difference from the last update of the stack in the sandbox

docs/guides/cost.md explains what is counted, how, and where the prices come from.
"""
_NO_PULUMI: Final = "`pulumi` is not on PATH, so the deployed settings can't be read: install it, or add --sandbox"


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cost",
        help="estimate what a stack costs: floor, expected, ceiling",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    baseline = parser.add_mutually_exclusive_group()
    baseline.add_argument(
        "--against", metavar="REF", help="show the difference from the stack file of a commit, branch or tag"
    )
    baseline.add_argument(
        "--deployed", action="store_true", help="show the difference from the last update of the stack"
    )
    parser.add_argument("--sandbox", action="store_true", help="with --deployed: the stack in the sandbox")
    parser.add_argument(
        "--verify", action="store_true", help="also run the program, and check the estimate against its resources"
    )
    parser.add_argument(
        "--wide", action="store_true", help="add counts, unit prices, their dates and notes; more than 80 columns"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--strict", action="store_true", help="treat warnings about the settings as errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Estimate the cost of the settings, and of the baseline they are compared with."""
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
        _show(priced, as_json=options.json, wide=options.wide)
    return 0


def _show(priced: Estimate, *, as_json: bool, wide: bool) -> None:
    from slipway.cost import document, table  # noqa: PLC0415

    shown = json.dumps(document.of_estimate(priced), indent=2) if as_json else table(priced, wide=wide)
    print(shown.rstrip("\n"))


def _compare(options: argparse.Namespace, project: Project, priced: Estimate) -> None:
    from slipway.cost import baseline, changes, difference, document  # noqa: PLC0415
    from spec.pricing import estimate  # noqa: PLC0415

    if options.against:
        name, before = options.against, baseline.at_commit(project, options.stack, options.against)
    else:
        name, before = "what is deployed", _deployed(project, options.stack, sandbox=options.sandbox)
    result = difference(_empty(priced) if before is None else estimate(before), _comparable(priced))
    if options.json:
        print(json.dumps(document.of_difference(result, name), indent=2))
        return
    if before is None:
        print(f"{name} has no stack {options.stack}, so everything is new.\n")
    print(changes.changes(result, name, wide=options.wide), end="")


def _empty(priced: Estimate) -> Estimate:
    return type(priced)(region=priced.region, lines=(), unpriced=())


def _comparable(priced: Estimate) -> Estimate:
    """Without the unpriced resource types: the baseline was priced from its settings alone, so it has none."""
    unpriced = tuple(item for item in priced.unpriced if not item.what.startswith("aws:"))
    return type(priced)(region=priced.region, lines=priced.lines, unpriced=unpriced)


def _against_program(priced: Estimate, platform: Platform, stack: str) -> Estimate:
    """Run the program, and warn where its resources disagree with the lines; unpriced types are added."""
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

    last = history.settings(history_in_sandbox(stack) if sandbox else history_on_aws(project, stack))
    if last is None:
        return None
    if not last.settled:
        print(f"warning: the last update of {stack} failed, so only part of it is deployed", file=sys.stderr)
    return baseline.as_deployed(last.settings, stack)


def history_in_sandbox(stack: str) -> str:
    """The update history of a stack in the sandbox, as JSON."""
    from slipway.cli import offline  # noqa: PLC0415 - imports processes and certificates

    running = offline.find_running()
    if running is None:
        msg = "the sandbox is not running, so nothing is deployed in it: run `slipway up STACK --sandbox` first"
        raise SlipwayError(msg)
    return running.engine(os.environ).history(stack)


def history_on_aws(project: Project, stack: str) -> str:
    """The update history of a stack in your Pulumi backend, as JSON."""
    from slipway.engine import history, process  # noqa: PLC0415
    from slipway.engine.invocation import Invocation  # noqa: PLC0415

    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise SlipwayError(_NO_PULUMI)
    argv = (pulumi, *history.ARGUMENTS, "--stack", stack, "--non-interactive")
    return process.capture(Invocation(argv, os.environ, project.root))
