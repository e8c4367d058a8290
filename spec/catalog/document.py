"""Reading the catalog's data files, and the text of data that is generated."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

from spec import strict_yaml

FOLDER: Final = "spec/catalog/data"  # where the files are in a checkout
_WIDTH: Final = 120


@dataclass(frozen=True)
class Source:
    """Source of a fact, and the date on which it was true."""

    text: str
    day: date


@cache
def load(file: str) -> Mapping[str, Any]:
    """Read `data/<file>`, JSON or YAML by its suffix; the result is cached, so don't change it."""
    text = (files("spec.catalog") / "data" / file).read_text(encoding="utf-8")
    if file.endswith(".json"):
        document: Mapping[str, Any] = json.loads(text)
    else:
        document = strict_yaml.read(text)
    return document


def source(entry: Mapping[str, Any]) -> Source:
    """Read `source` and `date` of a file or of one entry in it."""
    day = entry["date"]
    return Source(entry["source"], day if isinstance(day, date) else date.fromisoformat(day))


def laid_out(value: Any, indent: int = 0, used: int = 0) -> str:
    """JSON in which what fits on a line is on one: a reviewer reads an entry, and its change, as a line.

    Args:
        value: What is written.
        indent: Spaces before the line that the value begins on.
        used: Further characters on that line, before and behind the value.
    """
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or indent + used + len(line) <= _WIDTH:
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {laid_out(item, indent + 2, len(key) + 5)}" for key, item in value.items()]
    else:
        parts = [laid_out(item, indent + 2, 1) for item in value]
    rows = ",\n".join(f"{' ' * (indent + 2)}{part}" for part in parts)
    return f"{line[0]}\n{rows}\n{' ' * indent}{line[-1]}"
