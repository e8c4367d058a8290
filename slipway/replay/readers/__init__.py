"""Readers of traces, one file for each format. The format is recognised by the content of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from slipway.replay import jobs
from slipway.replay.jobs import Trace
from slipway.replay.readers import kubernetes, mapped, prometheus, slurm
from slipway.replay.text import Source, TraceError


@dataclass(frozen=True)
class Reader:
    """One format: whether a file is of it, and its trace."""

    recognises: Callable[[Source], bool]
    read: Callable[[Source], Trace]


def _is_csv(source: Source) -> bool:
    """Whether it is any table: the reader names the columns that it lacks."""
    first = source.text.lstrip().partition("\n")[0]
    return first[0] not in "{[<" and any(mark in first for mark in ",;\t")


READERS: Final[Mapping[str, Reader]] = {
    **{form: Reader(partial(mapped.recognises, form), partial(mapped.read, form)) for form in mapped.FORMATS},
    slurm.FORMAT: Reader(slurm.recognises, slurm.read),
    kubernetes.FORMAT: Reader(kubernetes.recognises, kubernetes.read),
    prometheus.FORMAT: Reader(prometheus.recognises, prometheus.read),
    "csv": Reader(_is_csv, jobs.read),
}


def read(path: Path, form: str | None = None, columns: Mapping[str, str] | None = None) -> Trace:
    """The trace of a file.

    Args:
        form: Its format, a key of `READERS`; by default it is recognised.
        columns: Columns of a table by ours, in place of a format.

    Raises:
        TraceError: The file is of no known format, or it is wrong.
    """
    source = Source.of(path)
    if columns:
        return mapped.by_map(source, columns)
    if form is not None:
        return READERS[form].read(source)
    for one in READERS.values():
        if one.recognises(source):
            return one.read(source)
    first = source.text.strip().partition("\n")[0].strip()
    fix = f"Name its format with --format ({', '.join(READERS)}) for the reason, or convert it to the guide's CSV."
    raise TraceError(source.name, "line 1", "the file must be of a known format", first, fix)
