"""Reading the catalog's data files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

# libyaml's loader if PyYAML was built with it: about ten times faster, and every command reads the catalog.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
        document = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both loaders are safe ones
    return document


def source(entry: Mapping[str, Any]) -> Source:
    """Read `source` and `date` of a file or of one entry in it."""
    day = entry["date"]
    return Source(entry["source"], day if isinstance(day, date) else date.fromisoformat(day))
