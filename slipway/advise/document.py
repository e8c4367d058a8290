"""The result of a search as a document: `slipway replay --advise --json`. Its JSON Schema is `advice.schema.json`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from slipway.advise.measure import Figures, saved
from slipway.advise.search import Found, Half
from slipway.advise.stack import Stack
from slipway.replay.result import Document, LeftOut
from spec.settings.schema import write_or_check

SCHEMA: Final = Path(__file__).with_name("advice.schema.json")


class Days(Document):
    """The stack on one half of the trace, as it is and with the changes."""

    days: int
    jobs: int
    before: Figures
    after: Figures | None
    """None without changes, or if they were not replayed on these days."""

    @property
    def saved(self) -> float:
        """Part of the cost of an hour of work that the changes save."""
        return saved(self.before, self.after) if self.after else 0.0


class Step(Document):
    """A change that was found."""

    kind: str
    what: str
    but: str
    """What it costs otherwise, and what no replay shows."""
    saved: float
    """Part of the cost of an hour of work that it saves together with those before it, on the days of the search."""


class Steady(Document):
    """Nodes on demand that run most of the time, on the days of the search, in the stack as it is."""

    pool: str
    nodes: int
    runs: float
    """Part of the time that the last of them runs: a commitment to it pays from a discount of the rest."""


class Advice(Document):
    """What is advised for a stack."""

    version: Literal[1] = 1
    stack: str
    left_out: LeftOut
    """Jobs that the stack as it is leaves out, on all days."""
    source: str
    """The trace."""
    format: str
    advised: bool
    """Whether the changes save on the days that the search has not seen, too, and no job waits longer there."""
    objections: list[str]
    """What is against them on those days."""
    search: Days
    held_out: Days
    steps: list[Step]
    diff: str
    """The changes of the stack file, for `git apply`."""
    steady: list[Steady]
    replays: int
    refused: dict[str, int]
    """Changes that `check` or a mandatory policy refuses, by reason."""
    ended: str
    """Why the search ended early; empty if nothing was left to try."""


def document(found: Found, stack: Stack, halves: tuple[Half, Half], source: str) -> Advice:
    """The document of a search."""
    search, other = halves
    after = found.after if found.adopted else None
    return Advice(
        stack=stack.name,
        left_out=found.before.left_out + found.before_held.left_out,
        source=source,
        format=search.trace.format,
        advised=found.advised,
        objections=list(found.objections),
        search=Days(days=search.days, jobs=len(search.trace.jobs), before=found.before, after=after),
        held_out=Days(days=other.days, jobs=len(other.trace.jobs), before=found.before_held, after=found.after_held),
        steps=[
            Step(
                kind=one.change.kind,
                what=one.change.what,
                but=one.change.but,
                saved=saved(found.before, one.figures),
            )
            for one in found.adopted
        ],
        diff=stack.diff(found.edits) if found.adopted else "",
        steady=[Steady(pool=name, nodes=nodes, runs=runs) for name, (nodes, runs) in sorted(found.steady.items())],
        replays=found.replays,
        refused=dict(found.refused.most_common()),
        ended=found.ended,
    )


def main(arguments: Sequence[str]) -> int:
    """`python -m slipway.advise.document`: write the schema, or with `--check` compare it; the exit code."""
    return write_or_check(arguments, file=SCHEMA, text=Advice.schema_text(), module="slipway.advise.document")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
