"""The record of what was verified: for each chart its version, and every key of ours that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FILE: Final = Path(__file__).with_name("verified.yaml")
_HEAD: Final = """\
# Keys of values that the platform sets, each found in its chart. Made by `slipway charts check --record`, which reads
# the charts; don't edit. A path ends where the chart takes any key.
"""


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What is known of one chart.

    Attributes:
        version: Version in which the keys were found.
        keys: Their paths.
    """

    version: str
    keys: frozenset[str]


def load(file: Path = FILE) -> dict[str, Verified]:
    """The record by name of the chart; empty where there is no file."""
    if not file.is_file():
        return {}
    read: Mapping[str, Mapping[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return {
        chart: Verified(version=str(found["version"]), keys=frozenset(found["keys"])) for chart, found in read.items()
    }


def save(found: Mapping[str, Verified], file: Path = FILE) -> None:
    """Write the record, sorted."""
    body = {chart: {"version": entry.version, "keys": sorted(entry.keys)} for chart, entry in sorted(found.items())}
    file.write_text(_HEAD + yaml.safe_dump(body, sort_keys=False, width=120), encoding="utf-8")
