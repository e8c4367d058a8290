"""`slipway render|report STACK --out DIR`: the resources of the program as files, and a report on the stack."""

import argparse
from pathlib import Path

from slipway.cli.check import checked
from slipway.cli.output import say
from slipway.engine.project import find
from slipway.render import render
from slipway.report.make import COMMENT, PAGE, Request, make, prepare, write


def render_stack(options: argparse.Namespace) -> int:
    """Check the settings, then render."""
    project = find(Path.cwd())
    checked(project, options.stack, strict=options.strict)

    rendering = render(options.stack, options.out, stacks=project.stacks, written_as=options.format)
    count = sum(one.exists for one in rendering.recording)
    print(f"stack {options.stack}: {count} resources rendered to {options.out}")
    return 0


def report_stack(options: argparse.Namespace) -> int:
    """Check the settings, then write the report; findings about the stack do not fail the command."""
    project = find(Path.cwd())
    loaded = checked(project, options.stack, strict=options.strict)

    prepare(options.out)
    against = f", and comparing with {options.against}" if options.against else ""
    say(f"stack {options.stack}: evaluating the program, its cost and the policies{against}: about 10 s")
    made = make(project, loaded, Request(stack=options.stack, against=options.against, plan=options.plan))
    write(made, options.out)
    print(f"stack {options.stack}: wrote {options.out / PAGE} (the page) and {options.out / COMMENT} (the comment)")
    return 0
