"""Slurm's accounting: the output of `sacct --parsable2` (Slurm 25.05, sacct(1), "Job Accounting Fields")."""

import re
from dataclasses import replace
from typing import Final

from slipway.replay.jobs import MOST_MEBIBYTES, MOST_MILLIS, MOST_PODS, MOST_SECONDS, Collector, Job, Trace, name_in
from slipway.replay.text import Row, Source

FORMAT: Final = "slurm"
COMMAND: Final = (
    "sacct --allusers --parsable2 --starttime=2026-10-01 --endtime=2026-10-31 "
    "--format=JobID,Account,QOS,Partition,Submit,Start,End,NNodes,AllocTRES,State"
)
COLUMNS: Final = (
    *("JobID", "User", "Account", "Partition", "QOS", "Submit", "Start", "End", "NNodes", "AllocTRES", "State"),
)
_REQUIRED: Final = ("JobID", "Submit", "Start", "End", "AllocTRES")
_TYPED: Final = re.compile(r"gres/gpu:([A-Za-z0-9_.-]+)")
_MIG: Final = re.compile(r"([0-7])g\.[0-9]+gb")
_MEMORY: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?[KMGTP]?")
"""Sizes of memory have binary prefixes without the `i`, and MiB without a letter (sacct(1), `--units`)."""


def recognises(source: Source) -> bool:
    """Whether the header is that of a table of sacct."""
    return len({"JobID", "Submit", "AllocTRES"} & set(source.text.partition("\n")[0].strip().split("|"))) > 1


def read(source: Source) -> Trace:
    """The trace: a job's steps are part of it, a job that never ran is left out.

    Raises:
        TraceError: A row is wrong, with its line.
    """
    found = Collector(source, FORMAT)
    for row in source.rows(COLUMNS, _REQUIRED, sacct=True):
        if "." in row.text("JobID"):
            continue
        if not row.known("Start"):
            found.leave_out("it never started")
            continue
        if not row.known("End"):
            found.leave_out("it has not ended")
            continue
        start, end = row.date("Start"), row.date("End")
        if start > end or end - start > MOST_SECONDS:
            row.refuse("End", "a job starts before it ends, at most a year later", "Remove the row.")
        found.add(replace(_job(row, end - start), waited=max(0.0, start - row.date("Submit"))), row.place)
    return found.trace(absolute=True)


def _job(row: Row, duration: float) -> Job:
    resources = _resources(row)
    of = Row(row.name, f"{row.place}, AllocTRES", resources)
    nodes = of.count("node", most=MOST_PODS, least=1, default=row.count("NNodes", most=MOST_PODS, least=1, default=1))
    cpu = of.quantity("cpu", 1000, most=MOST_MILLIS * nodes, default=1000 * nodes)
    memory = of.quantity("mem", 1, most=MOST_MEBIBYTES * nodes, default=1024 * nodes)
    typed = {match[1]: of.count(name, most=10_000_000) for name in resources if (match := _TYPED.fullmatch(name))}
    gpus = of.count("gres/gpu", most=MOST_MILLIS * nodes, default=sum(typed.values()))
    # An instance of MIG, `a100_3g.20gb`, is its part of a GPU's seven.
    sliced = {name: int(match[1]) for name in typed if (match := _MIG.search(name))}
    whole = gpus - sum(typed[name] for name in sliced)
    slices = sum(typed[name] * size for name, size in sliced.items())
    return Job(
        name=name_in(row, "JobID", required=True),
        team=name_in(row, "Account") or name_in(row, "User"),
        kind=name_in(row, "QOS") or name_in(row, "Partition"),
        submitted=row.date("Submit"),
        duration=duration,
        pods=nodes,
        cpu_millis=-(-cpu // nodes),
        memory_mib=-(-memory // nodes),
        gpu_millis=-(-whole // nodes) * 1000 + -(-1000 * slices // (7 * nodes)),
        gpu_types=tuple(sorted(typed)),
    )


def _resources(row: Row) -> dict[str, str]:
    """`cpu=8,mem=64G,gres/gpu=2` by name; memory in MiB as a plain number."""
    found: dict[str, str] = {}
    for part in filter(None, row.text("AllocTRES").split(",")):
        name, equals, value = part.partition("=")
        if not equals or name in found:
            row.refuse("AllocTRES", "it must be name=value, each name once", "Export it with --parsable2.")
        found[name] = value
    if "mem" in found:
        if not _MEMORY.fullmatch(found["mem"]):
            row.refuse("AllocTRES", "mem must be a size such as 64G", "Correct it, or remove the row.")
        number, unit = (found["mem"][:-1], found["mem"][-1]) if found["mem"][-1].isalpha() else (found["mem"], "M")
        found["mem"] = str(-(-int(float(number) * 1024 ** ("KMGTP".index(unit) + 1)) // 2**20))
    return found
