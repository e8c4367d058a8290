"""`slipway statement STACK`: who pays for a replay, or for a month that Prometheus recorded."""

import argparse
import json
from typing import Final

from sandbox.files import write_atomically
from slipway.cli.given import given
from slipway.cli.output import say
from slipway.replay import result
from slipway.replay.text import Source
from slipway.report.make import PAGE, prepare
from slipway.statement import recorded, replayed
from slipway.statement.charges import charges
from slipway.statement.output import Shown, document, page, table, text
from slipway.statement.split import split

CSV: Final = "statement.csv"


def run(options: argparse.Namespace) -> int:
    """Print the sums by team, and write the CSV and the page to `--out`."""
    stack = given(options)
    platform = stack.platform
    if options.replay is not None:
        period = replayed.period(result.read(options.replay), platform, stack.name)
    else:
        period = recorded.period(Source.of(options.prometheus), platform)
    items, unpriced = charges(period, platform, options.bill)
    statement = split(items, period.uses)
    shown = Shown(stack=stack.name, statement=statement, period=period, unpriced=unpriced)
    if options.out is not None:
        prepare(options.out)
        for name, content in ((CSV, table(shown)), (PAGE, page(shown))):
            write_atomically(options.out / name, content, 0o644)
        say(f"wrote {options.out / CSV} (every job) and {options.out / PAGE} (the page)")
    print(json.dumps(document(shown), indent=2) if options.json else text(shown))
    return 0
