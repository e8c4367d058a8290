"""The arguments of `slipway replay`, and of `advise`, `statement` and `rehearse`, which build on it."""

from pathlib import Path
from typing import Final

from slipway.cli.grammar import (
    JSON,
    STACK,
    Command,
    Group,
    between,
    choice,
    dollars,
    folder,
    number,
    option,
    pair,
    positional,
    repeated,
    share,
    switch,
)

TRACES: Final = ("csv", "openb", "slurm", "kubernetes", "prometheus")
"""Formats that `slipway.replay.readers` reads; a copy, because every command of Slipway reads it."""
JOBS: Final = (
    Group((
        folder("--trace", "the jobs: CSV, openb, sacct, kubectl's or Prometheus' JSON", "FILE"),
        switch("--generate", "generate the jobs"),
    ), required=True),
    choice("--format", TRACES, "format of the trace (default: by its content)"),
    Group(
        (
            option("--load", "SHARE", "GPU time asked for, of what the pools can have (1)", type=share),
            number("--seed", "N", "seed; another one gives other jobs (1)"),
            option("--jobs", "N", "number of jobs (10000)", type=between(1, 200_000)),
            option("--days", "N", "days in which they are submitted (7)", type=between(1, 366)),
        ),
        "generated traces",
        "with --generate, or to resample a trace to a load",
    ),
    repeated("--gpu-type", "FROM=TO", "a GPU type of the trace, and that of the stack; repeatable", type=pair),
    option("--launch-seconds", "N", "seconds that a node takes to start (default: by pool)", type=between(0, 3600)),
    option("--checkpoint-minutes", "N", "minutes of work between checkpoints of jobs for which the trace has none, but "
           "for interactive ones and servers (default: none)", type=between(1, 10_080)),
)  # fmt: skip
"""The arguments that name jobs: a trace, or what generates one."""
REPLAY: Final = Command(
    name="replay",
    summary="replay a cluster's job history, or a generated one, on a stack in virtual time",
    run="slipway.cli.replay:run",
    epilog="""\
  slipway replay prod --trace jobs.json --out out/replay
  slipway replay prod --generate --load 1.3 --seed 7
  slipway replay prod --trace openb_pod_list_default.csv --load 1 --seed 3
  slipway replay prod --trace out/replay/trace.csv --against out/replay/replay.json

docs/guides/replay.md has the formats, what decides, and what is a model.
""",
    arguments=(
        STACK,
        *JOBS,
        option("--until", "SECONDS", "end after that much virtual time", type=between(1, 400 * 86_400)),
        option("--max-minutes", "N", "end after that much real time (10)", type=between(1, 1440), default=10),
        folder("--out", "write the page, the result as JSON, and the jobs as CSV to this folder"),
        folder("--against", "show another replay beside this one", "replay.json"),
        folder("--write-trace", "only write the jobs as CSV", "FILE"),
        JSON,
    ),
)  # fmt: skip
KINDS: Final = (
    *("preemption", "consolidation", "types", "borrowing", "minimum", "topology", "sharing", "quotas"),
    *("maximum", "spot"),
)
"""Names of `slipway.advise.kinds.KINDS`; a copy, as above."""
ADVISE: Final = Command(
    name="advise",
    summary="find changes of a stack file that cost less at equal waits, by replays of a trace",
    run="slipway.cli.advise:run",
    epilog="""\
  slipway advise staging --trace jobs.json
  slipway advise staging --trace jobs.json --without spot --longer 10 --out changes.diff
  slipway advise dev --generate --jobs 1000

Changes are found on the first half of the days, and shown on the other half. docs/guides/advise.md has the rules.
""",
    arguments=(
        STACK,
        *JOBS,
        option("--longer", "PERCENT", "how much longer jobs may wait (0)", type=between(0, 1000), default=0),
        option("--without", "KIND", f"leave out a kind: {', '.join(KINDS)}; repeatable",
               choices=KINDS, action="append", default=[]),
        option("--replays", "N", "replays at most (80)", type=between(4, 10_000), default=80),
        option("--max-minutes", "N", "search for that much real time (10)", type=between(1, 1440), default=10),
        folder("--out", "write the changed stack file; to a name that ends in .diff the changes alone", "FILE"),
        JSON,
    ),
)  # fmt: skip
STATEMENT: Final = Command(
    name="statement",
    summary="split the cost of a replay, or of a month that Prometheus recorded, by team, project and job",
    run="slipway.cli.statement:run",
    epilog="""\
  slipway statement prod --replay out/replay/replay.json --out out/statement
  slipway statement prod --prometheus november.json --bill 48211.07 --out out/november

All columns sum to the bill, to the cent. docs/guides/statement.md has the rule, and the query for Prometheus.
""",
    arguments=(
        STACK,
        Group((
            folder("--replay", "the result of `slipway replay`", "replay.json"),
            folder("--prometheus", "the answer to the guide's query", "FILE"),
        ), required=True),
        folder("--kubecost", "show beside it what Kubecost allocates to each team", "allocation.json"),
        option("--bill", "USD", "the bill of the period; what differs from list prices is shared", type=dollars),
        folder("--out", "write the rows as CSV, and a page, to this folder"),
        JSON,
    ),
)  # fmt: skip
REHEARSE: Final = Command(
    name="rehearse",
    summary="play scenarios on a stack, in the sandbox or replayed: workloads over time, and what is expected",
    run="slipway.cli.rehearse:run",
    epilog="""\
  slipway rehearse dev                                # every file of scenarios/ for the stack
  slipway rehearse dev scenarios/spot-reclaim.yaml
  slipway rehearse dev --replayed                     # those that the clock drives: no sandbox, seconds each

The exit code is 1 if a scenario does not go as expected. docs/guides/rehearse.md describes the files.
""",
    arguments=(
        positional("stack", "STACK", "name of a stack; up in the sandbox, if events drive a scenario"),
        positional(
            "scenarios", "SCENARIO", "a file (default: those of scenarios/ for the stack)", nargs="*", type=Path
        ),
        switch("--replayed", "only scenarios that the clock drives, which are replayed without a sandbox"),
        folder("--out", "write the timeline as a page, and the result as JSON, to this folder"),
        JSON,
    ),
)
