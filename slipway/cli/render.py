"""`slipway report STACK --out|--files DIR`: a report on the stack, or the resources of the program as files."""

import argparse
from pathlib import Path

from slipway.advise.document import Advice
from slipway.cli.advise import verdict
from slipway.cli.check import checked
from slipway.cli.output import say
from slipway.engine.project import find
from slipway.rehearsal import document as rehearsal
from slipway.render import render
from slipway.replay.result import document_of
from slipway.report.advice import Replayed, Scenario
from slipway.report.make import COMMENT, PAGE, ReportRequest, make, prepare, write


def render_stack(options: argparse.Namespace) -> int:
    """Check the settings, then render."""
    project = find(Path.cwd())
    checked(project, options.stack)

    rendering = render(options.stack, options.files, stacks=project.stacks, written_as=options.format)
    count = sum(one.exists for one in rendering.recording)
    print(f"stack {options.stack}: {count} resources rendered to {options.files}")
    return 0


def report_stack(options: argparse.Namespace) -> int:
    """Check the settings, then write the report; findings about the stack do not fail the command."""
    project = find(Path.cwd())
    loaded = checked(project, options.stack)

    prepare(options.out)
    against = f", and comparing with {options.against}" if options.against else ""
    say(f"stack {options.stack}: evaluating the program, its cost and the policies{against}")
    request = ReportRequest(
        stack=options.stack,
        against=options.against,
        plan=options.plan,
        scenarios=_scenarios(options.rehearsal) if options.rehearsal else (),
        replayed=_replayed(options.advice) if options.advice else None,
    )
    made = make(project, loaded, request)
    write(made, options.out)
    print(f"stack {options.stack}: wrote {options.out / PAGE} (the page) and {options.out / COMMENT} (the comment)")
    return 0


def _scenarios(path: Path) -> tuple[Scenario, ...]:
    """What `slipway rehearse --out` wrote."""
    return tuple(
        Scenario(
            name=one.scenario,
            description=one.description,
            how=one.how,
            expectations=tuple((check.sentence, check.status != "failed") for check in one.checks),
        )
        for one in rehearsal.read(path).scenarios
    )


def _replayed(path: Path) -> Replayed:
    """What `slipway replay --advise --json` printed."""
    found = document_of(path, Advice, "document of `slipway replay --advise --json`")
    return Replayed(
        jobs=f"{found.source} ({found.search.jobs + found.held_out.jobs:,} jobs)",
        verdict=". ".join(filter(None, (found.left_out.sentence, verdict(found)))),
        changes=tuple((one.what, one.but) for one in found.steps),
        diff=found.diff if found.advised else "",
    )
