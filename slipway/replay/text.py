"""The text of a trace's file, its rows and their values: what is no text, is cut or can't be a value is refused, with
file, line and reason.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, NoReturn

from spec import strict_yaml
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.quantities import parse

MOST_BYTES: Final = 512 * 2**20
_MOST_COLUMNS: Final = 1000
_SHOWN: Final = 60
_ARCHIVES: Final[Mapping[bytes, str]] = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
}
"""First bytes of files that a trace is often packed in, from their specifications."""
_ALIKE: Final = 0.6  # likeness of names: of two words of one name and one of the other, one is the same
_ALIKE_WORDS: Final = 0.85  # likeness of words: one letter of seven differs
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
_UNKNOWN: Final = frozenset({"", "unknown", "none", "n/a", "null"})


@cache
def tables() -> Mapping[str, Any]:
    """`tables.yaml`."""
    found: Mapping[str, Any] = strict_yaml.one(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))
    return found


class TraceError(SlipwayError):
    """A trace that is refused: file, line, rule, value, fix."""

    def __init__(self, name: str, place: str, rule: str, value: object, fix: str) -> None:
        shown = repr(value) if isinstance(value, str) else str(value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        where = f"{name}: {place}" if place else name
        super().__init__(f"{where}: {rule} (given: {shown}). {fix}", EXIT_REFUSED)


@dataclass(frozen=True)
class Source:
    """A file, and its text."""

    name: str
    text: str

    @classmethod
    def of(cls, path: Path) -> Source:
        """Read a file.

        Raises:
            TraceError: It is not a file, too large, empty, an archive, or no text in UTF-8.
        """
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise TraceError(str(path), "", "a trace is a file", "something else", "Name a regular file.")
            if status.st_size > MOST_BYTES:
                fix = "Export a shorter period."
                rule = f"a trace has at most {MOST_BYTES // 2**20} MiB"
                raise TraceError(str(path), "", rule, f"{status.st_size // 2**20} MiB", fix)
            data = path.read_bytes()
        except OSError as error:
            fix = "Name a file that you may read."
            raise TraceError(str(path), "", "the file must be readable", error.strerror or str(error), fix) from error
        return cls(str(path), _text(str(path), data))

    def rows(
        self, known: Sequence[str], required: Sequence[str], *, sacct: bool = False, own: bool = False
    ) -> Iterator[Row]:
        """The rows of a table with a header; columns that are not known are left out.

        Args:
            known: Names of its columns.
            required: Those that must be there.
            sacct: Whether it is a table of sacct, with `|` between values and without quotes; otherwise it is CSV.
            own: Whether users name its columns, so that `gpu_count` may be meant where no `gpus` is.

        Raises:
            TraceError: The header lacks a column or has one twice, or a row has too few or too many values.
        """
        file = io.StringIO(self.text, newline="")
        reader = csv.reader(file, quoting=csv.QUOTE_NONE, delimiter="|") if sacct else csv.reader(file, strict=True)
        header: list[str] = []
        try:
            for values in reader:
                if not header:
                    header = self._header(values, known, required, own=own)
                elif values:
                    place = f"line {reader.line_num}"
                    if len(values) != len(header):
                        rule = f"a row has as many values as the header, {len(header)}"
                        fix = "Is the file cut, or does a value have an unquoted delimiter?"
                        raise TraceError(self.name, place, rule, len(values), fix)
                    cells = {name: value.strip() for name, value in zip(header, values, strict=True) if name in known}
                    yield Row(self.name, place, cells)
        except csv.Error as error:
            fix = "Is the file cut inside a quoted value?"
            place = f"line {reader.line_num}"
            raise TraceError(self.name, place, "the table must be valid CSV", str(error), fix) from error

    def _header(self, values: Sequence[str], known: Sequence[str], required: Sequence[str], *, own: bool) -> list[str]:
        if len(values) > _MOST_COLUMNS:
            fix = "Export the columns of the guide."
            raise TraceError(self.name, "line 1", f"a table has at most {_MOST_COLUMNS} columns", len(values), fix)
        header = [value.strip() for value in values]
        if own and len(header) == 1 and (mark := re.search("[;\t]", header[0])):
            raise TraceError(self.name, "line 1", "commas are between values", mark[0], "Export it as CSV with commas.")
        like = _alike([name for name in known if name not in header], [name for name in header if name not in known])
        missing = [name for name in known if name not in header and (name in required or (own and name in like))]
        if missing:
            fix = f"Rename what is meant, and remove what looks alike and is not. The columns are {', '.join(known)}."
            lacks = (name + (f" (looks alike: {', '.join(like[name])})" if name in like else "") for name in missing)
            rule = f"the header must have {', '.join(lacks)}"
            raise TraceError(self.name, "line 1", rule, ",".join(header), fix)
        twice = sorted({name for name in header if name in known and header.count(name) > 1})
        if twice:
            raise TraceError(self.name, "line 1", "a column is there once", ", ".join(twice), "Remove the other.")
        return header

    @cached_property
    def document(self) -> Any:
        """The JSON document.

        Raises:
            TraceError: It is no JSON, is cut, or nested too deep.
        """

        def refuse(text: str) -> NoReturn:
            raise TraceError(
                self.name, "", "numbers in JSON are finite", text, "Remove what the exporter could not say."
            )

        try:
            return json.loads(self.text, parse_constant=refuse)
        except json.JSONDecodeError as error:
            fix = "Is the file cut? Export it again."
            raise TraceError(self.name, f"line {error.lineno}", "the file must be JSON", error.msg, fix) from error
        except (RecursionError, ValueError) as error:
            fix = "Export it again."
            raise TraceError(self.name, "", "the file must be JSON that a reader can hold", str(error), fix) from error


def _alike(missing: Sequence[str], given: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each column that is missing the given ones that look like it, or mean it, more than any other."""
    found: dict[str, list[str]] = {}
    for name in given:
        scores = {column: _likeness(column, name) for column in missing}
        for column in (one for one in missing if scores[one] == max(scores.values()) >= _ALIKE):
            found.setdefault(column, []).append(name)
    return found


def _likeness(column: str, name: str) -> float:
    """The part of the words of both that the other has, too: words are equal if one begins the other, or is a synonym
    of the table, and `numGPUs` is `gpus`, because what only says that it is a number is left out."""
    table = tables()["columns"]
    parts = re.findall("[a-z]+|[A-Z]+s?(?![a-z])|[A-Z][a-z]+", name)
    words = [part.lower() for part in parts if part.lower() not in table["ignored"]]
    every = [(part, *table["words"].get(part, ())) for part in column.lower().split("_")]
    hits = sum(
        any(word.startswith(names) or get_close_matches(word, names, 1, _ALIKE_WORDS) for word in words)
        for names in every
    )
    return 2 * hits / (len(every) + len(words))


def _text(name: str, data: bytes) -> str:
    for start, what in _ARCHIVES.items():
        if data.startswith(start):
            raise TraceError(name, "", "a trace is text: CSV, JSON or a table", what, "Unpack or export it first.")
    if data.startswith(_UTF_16):
        raise TraceError(name, "", "a trace is text in UTF-8", "UTF-16", "Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, fix = data.count(b"\n", 0, error.start) + 1, "Save it as UTF-8."
        raise TraceError(
            name, f"line {line}", "a trace is text in UTF-8", f"byte 0x{data[error.start]:02x}", fix
        ) from error
    if not text.strip():
        raise TraceError(name, "", "a trace has at least one job", "an empty file", "Export it again.")
    if (at := text.find("\0")) >= 0:
        line = text.count("\n", 0, at) + 1
        raise TraceError(
            name, f"line {line}", "text has no zero bytes", "\\0", "Export it again: this is a binary file, or cut."
        )
    return text


@dataclass(frozen=True)
class Row:
    """The values of one job by column: the text of a table's row, or what was taken from an object."""

    name: str  # the file
    place: str  # where in the file: `line 7`, `items[3]`
    cells: Mapping[str, str] = field(default_factory=dict)  # text by column

    def refuse(self, column: str, rule: str, fix: str) -> NoReturn:
        """Refuse the value of a column."""
        raise TraceError(self.name, f"{self.place}, {column}", rule, self.text(column), fix)

    def text(self, column: str) -> str:
        """The value as it is; empty without one."""
        return self.cells.get(column, "")

    def known(self, column: str) -> bool:
        """Whether there is a value: empty, `Unknown` and `None` are none."""
        return self.text(column).lower() not in _UNKNOWN

    def number(self, column: str, *, most: float, least: float = 0.0) -> float:
        """A number of seconds."""
        try:
            value = float(self.text(column))
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or not least <= value <= most or "_" in self.text(column):
            self.refuse(column, f"it must be a number from {least:g} to {most:,.0f}", "Correct it, or remove the row.")
        return value

    def count(self, column: str, *, most: int, least: int = 0, default: int | None = None) -> int:
        """A whole number."""
        text = self.text(column)
        if not text and default is not None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) <= 18 and least <= int(text) <= most):
            fix = "Correct it, or remove the row."
            self.refuse(column, f"it must be a whole number from {least:,} to {most:,}", fix)
        return int(text)

    def quantity(self, column: str, times: int | Decimal, *, most: int, default: int | None = None) -> int:
        """A quantity of Kubernetes, times a factor and rounded up: `500m` of `cpu` times 1000 is 500."""
        text = self.text(column)
        if not text and default is not None:
            return default
        try:
            value = parse(text) * times
        except (ValueError, ArithmeticError):
            self.refuse(column, "it must be a quantity as Kubernetes writes it", "Write it like 500m, 4 or 16Gi.")
        if not 0 <= value <= most:
            limit = f"{most / float(times):,.6g}"
            self.refuse(column, f"it must be from 0 to {limit}", "Correct it, or remove the row.")
        return int(value.to_integral_value(ROUND_CEILING))

    def flag(self, column: str) -> bool | None:
        """True or false; None if empty."""
        text = self.text(column).lower()
        if text not in ("", "true", "false", "yes", "no", "1", "0"):
            self.refuse(column, "it must be true or false", "Leave it empty if it is not known.")
        return None if not text else text in ("true", "yes", "1")

    def moment(self, column: str) -> tuple[float, bool]:
        """Seconds, and whether they are since 1970: a number, or a date and time (in UTC if it doesn't say)."""
        text = self.text(column)
        try:
            value = float(text)
        except ValueError:
            return self.date(column), True
        if not math.isfinite(value) or value < 0 or value > _LATEST.timestamp() or "_" in text:
            self.refuse(column, "it must be seconds from 0, or a date and time", "Correct it, or remove the row.")
        return value, False

    def date(self, column: str) -> float:
        """Seconds since 1970 of a date and time between 2000 and 2100."""
        fix = "Write it like 2026-01-05T09:30:00Z."
        try:
            found = datetime.fromisoformat(self.text(column))
        except ValueError:
            self.refuse(column, "it must be a date and time", fix)
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        try:
            inside = _EARLIEST <= found < _LATEST
        except OverflowError:
            inside = False
        if not inside:
            self.refuse(column, "it must be between 2000 and 2100", fix)
        return found.timestamp()
