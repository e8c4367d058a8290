"""Tables of jobs whose columns have other names: public traces by `formats.yaml`, others by `--map`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from slipway.replay import jobs
from slipway.replay.jobs import MOST_SECONDS, Collector, Trace
from slipway.replay.text import Row, Source
from spec import strict_yaml
from spec.errors import refuse
from spec.quantities import written

FORMATS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__, "formats")
NAMES: Final = (*jobs.COLUMNS, "started", "ended")
_THEIRS: Final = re.compile(r"\{([^{}]+)\}")
_STEP: Final = re.compile(r" ([*/]) ")


def recognises(form: str, source: Source) -> bool:
    """Whether the header has the columns by which a format is known."""
    first = source.text.lstrip().partition("\n")[0]
    return set(FORMATS[form]["header"]) <= {name.strip().strip('"') for name in first.split(",")}


def read(form: str, source: Source) -> Trace:
    """The trace of a format. Raises TraceError if a row is wrong, with its line."""
    return _read(source, form, FORMATS[form])


def by_map(source: Source, columns: Mapping[str, str]) -> Trace:
    """The trace of a table whose columns the user names by ours, as in `formats.yaml`.

    Raises SlipwayError, exit code 2, if one of ours is none or is missing, and TraceError if a row is wrong.
    """
    if unknown := sorted(columns.keys() - set(NAMES)):
        refuse(f"--map {unknown[0]}: it must be a column of the guide (given: none of {', '.join(NAMES)})")
    needed = ("job", "submitted", *(("started", "ended") if "ended" in columns else ("duration",)))
    if missing := [one for one in needed if one not in columns]:
        refuse(f"--map: {missing[0]} must be named (needed: {', '.join(needed)}). Add --map {missing[0]}=COLUMN.")
    return _read(source, "csv", {"columns": columns})


def _read(source: Source, form: str, row: Mapping[str, Any]) -> Trace:
    found = Collector(source, form)
    lacks = [one for one in jobs.COLUMNS[:-1] if one not in row["columns"] and one != "duration"]
    trace = jobs.of_rows(found, _rows(source, row, found))
    note = f"the table says nothing of {', '.join(lacks)}: what the guide gives for an empty column is taken"
    return replace(trace, notes=(*trace.notes, note)) if lacks else trace


def _rows(source: Source, form: Mapping[str, Any], found: Collector) -> Iterator[Row]:
    """Rows with our columns."""
    given = {ours: text if "{" in text else f"{{{text}}}" for ours, text in form["columns"].items()}
    theirs = [name for text in given.values() for name in _THEIRS.findall(text)]
    for row in source.rows(theirs, [one for one in theirs if one not in form.get("optional", ())]):
        cells = {ours: _value(row, ours, text) for ours, text in given.items()}
        for ours, words in form.get("words", {}).items():
            cells[ours] = words.get(cells[ours], cells[ours])
        one = Row(row.name, row.place, cells)
        if "ended" in cells:
            if not one.known("started") or not one.known("ended"):
                found.leave_out(form.get("absent", "it never started, or has not ended"))
                continue
            submitted, start, end = (one.moment(name)[0] for name in ("submitted", "started", "ended"))
            if not submitted <= start <= end:
                one.refuse("ended", "a job is submitted, then starts, then ends", "Remove the row.")
            cells |= {"duration": str(min(end - start, MOST_SECONDS)), "waited": str(start - submitted)}
        yield one


def _value(row: Row, ours: str, text: str) -> str:
    """A value of ours: theirs, or what comes of several numbers, in thousandths, rounded up."""
    shown = _THEIRS.sub(lambda found: row.text(found[1]), text)
    first, *steps = _STEP.split(shown)
    if not steps:
        return shown
    try:
        number = Fraction(first)
        for sign, other in zip(steps[::2], steps[1::2], strict=True):
            number = number * Fraction(other) if sign == "*" else number / Fraction(other)
    except (ValueError, ZeroDivisionError):
        Row(row.name, row.place, {ours: shown}).refuse(ours, "it must be of numbers", "Correct it, or remove the row.")
    return written(Decimal(number.numerator) / Decimal(number.denominator))
