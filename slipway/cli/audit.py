"""`slipway why --audit FILE...`: what admission rules that warn or audit would have refused."""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.why.audit import grouped, read
from spec.errors import EXIT_FAILURE, refuse

STANDARD_INPUT: Final = "-"


def run(options: argparse.Namespace) -> int:
    """Print the violations by team and rule; 1 if there are any."""
    names = options.what or [STANDARD_INPUT]
    violations = itertools.chain.from_iterable(
        read("standard input" if name == STANDARD_INPUT else name, lines_of(name)) for name in names
    )
    groups = grouped(violations, _teams(options.stack) if options.stack else {})
    if options.json:
        print(json.dumps([one.document() for one in groups], indent=2))
        return EXIT_FAILURE if groups else 0
    for team, own in itertools.groupby(groups, key=lambda one: one.team):
        print(f"{team}:")
        for one in own:
            print(one.text())
    requests = sum(one.requests for one in groups)
    what = f"{requests} request{'' if requests == 1 else 's'} would have been refused"
    print(what if groups else "nothing would have been refused")
    return EXIT_FAILURE if groups else 0


def lines_of(name: str) -> Iterator[str]:
    """Lines of a log, or of the standard input."""
    try:
        if name == STANDARD_INPUT:
            yield from sys.stdin
            return
        with Path(name).open(encoding="utf-8") as lines:
            yield from lines
    except UnicodeDecodeError as error:
        refuse(f"{name}: not UTF-8 ({error.reason} at byte {error.start}): export the log as text", error)


def _teams(stack: str) -> Mapping[str, str]:
    """The team of each namespace of a stack."""
    teams = checked(find(Path.cwd()), stack).platform.teams
    return {space: f"team {name}" for name, team in teams.items() for space in team.namespaces_of(name)}
