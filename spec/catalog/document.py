"""Reading the catalog's data files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

from spec import strict_yaml

FOLDER: Final = "spec/catalog/data"
"""Where the files are in a checkout."""


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
