"""`slipway charts pull|check`: the charts of the platform, and whether they know the values that it gives them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.cli.output import table
from slipway.engine.project import Project, find
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.charts.check import Finding
    from slipway.charts.pull import Pulled
    from slipway.charts.uses import Use
    from slipway.cli.commands import Commands

VARIABLE: Final = "SLIPWAY_CHARTS"
"""Names the folder of charts, here and to the sandbox."""


def add(commands: Commands) -> None:
    """Add the two commands to the parser."""
    group = commands.add_parser("charts", help="get the charts of the add-ons, and check values against them")
    actions = group.add_subparsers(dest="action", required=True, metavar="ACTION")
    pulling = actions.add_parser("pull", help="get every pinned chart from its repository; needs a network")
    pulling.add_argument("charts", nargs="*", metavar="CHART", help="names of charts; all of them where none is given")
    pulling.set_defaults(run=run_pull)
    checking = actions.add_parser("check", help="tell which values of the stacks a chart does not know")
    checking.add_argument("stacks", nargs="*", metavar="STACK", help="names of stacks; all of them where none is given")
    checking.add_argument(
        "--record", action="store_true", help="also over other settings, and write down what was found"
    )
    checking.set_defaults(run=run_check)
    for parser in (pulling, checking):
        parser.add_argument("--dir", type=Path, metavar="DIR", help=f"folder of charts; ${VARIABLE} where not given")


def run_pull(options: argparse.Namespace) -> int:
    """Get charts; 1 if one of them could not be got."""
    from slipway import toolchain  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.charts.pull import pinned, pull  # noqa: PLC0415

    directory = _directory(options.dir)
    helm = toolchain.find("helm")
    if helm is None:
        msg = "helm is not installed: `python -m slipway.toolchain ensure helm` gets it, or put one on PATH"
        raise SlipwayError(msg)
    known = {chart.name: chart for chart in pinned()}
    unknown = sorted(set(options.charts) - set(known))
    if unknown:
        msg = f"{unknown[0]} is no chart of the platform; there are {', '.join(known)}"
        raise SlipwayError(msg)
    pulled = pull(helm, [known[name] for name in options.charts or known], directory)
    print(describe_pulled(pulled, directory))
    return 1 if any(each.problem for each in pulled) else 0


def run_check(options: argparse.Namespace) -> int:
    """Check values; 1 if a chart does not know one of them."""
    directory = _directory(options.dir)
    if not directory.is_dir():
        msg = f"{directory} is no folder: `slipway charts pull --dir {directory}` makes it, where there is a network"
        raise SlipwayError(msg)
    project = find(Path.cwd())
    from slipway.charts import check, uses, verified  # noqa: PLC0415 - imports the SDK

    found = _uses(project, options.stacks or project.stack_names, varied=options.record)
    findings = check.check(uses.together(found), directory)
    print(describe_findings(findings))
    if options.record:
        kept = {**verified.load(), **check.record(findings)}
        used = {finding.chart for finding in findings}
        verified.save({chart: entry for chart, entry in kept.items() if chart in used})
        print(f"written: {verified.FILE}")
    return 1 if any(finding.problems for finding in findings) else 0


def describe_pulled(pulled: Sequence[Pulled], directory: Path) -> str:
    """What is at hand now, and what could not be got and why."""
    got = [each for each in pulled if not each.problem]
    failed = [each for each in pulled if each.problem]
    lines = [f"{len(got)} of {len(pulled)} charts in {directory}"]
    lines += [f"  {each.chart.name} {each.chart.version}" for each in got]
    for each in failed:
        place = each.chart.repository or each.chart.chart
        lines.append(f"not got: {each.chart.name} {each.chart.version} from {place}: {each.problem}")
    if failed:
        lines.append(
            "Whether a repository is reachable, `helm` says best itself; behind a proxy, set HTTPS_PROXY. What was at "
            "hand before is still there."
        )
    else:
        lines.append(f"The sandbox uses them where {VARIABLE}={directory} is set when it starts.")
    return "\n".join(lines)


def describe_findings(findings: Sequence[Finding]) -> str:
    """A line for each chart, then every problem."""
    rows = [(finding.chart, finding.version, _verdict(finding)) for finding in findings]
    problems = [f"  {line}" for finding in findings for line in finding.problems]
    return "\n".join([table(rows), *(["", "Values that no chart takes:", *problems] if problems else [])])


def _verdict(finding: Finding) -> str:
    if finding.at_hand is None:
        return "not at hand: nothing was checked"
    if finding.problems:
        count = len(finding.problems)
        return f"{count} value{'s' if count != 1 else ''} that it does not take"
    other = "" if finding.verified else f", in {finding.at_hand}, which is another version"
    return f"knows every value{other}"


def _uses(project: Project, stacks: Sequence[str], *, varied: bool) -> list[Use]:
    from slipway.charts import uses, variants  # noqa: PLC0415 - imports the SDK
    from slipway.cli.settings import checked  # noqa: PLC0415

    found: list[Use] = []
    for stack in stacks:
        platform = checked(project, stack).platform
        found += uses.of_platform(platform, stack)
        if varied and stack == stacks[0]:
            for other in variants.variants(platform):
                found += uses.of_platform(other, stack)
    return found


def _directory(given: Path | None) -> Path:
    if given is not None:
        return given.absolute()
    named = os.environ.get(VARIABLE)
    if not named:
        msg = f"which folder of charts? Give --dir DIR, or set {VARIABLE}"
        raise SlipwayError(msg)
    return Path(named).absolute()
