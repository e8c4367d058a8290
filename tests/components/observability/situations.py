"""Alerts in situations: the cases of `cases.yaml`, in the notation of `promtool test rules`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spec.strict_yaml import read


@dataclass(frozen=True, kw_only=True)
class Case:
    """One alert in one situation."""

    alert: str  # its name
    what: str  # the situation
    series: Mapping[str, str] = field(hash=False)  # values by series
    at: str  # time of the evaluation
    labels: Mapping[str, str] | None = field(default=None, hash=False)
    """Expected labels of the alert, besides the common ones; None if it must not fire."""
    summary: str = ""  # expected summary

    def __str__(self) -> str:
        return f"{self.alert}: {self.what}"


def series(metric: str, values: str = "1", **labels: str) -> dict[str, str]:
    """One series with its values."""
    selector = ",".join([f'{name}="{text}"' for name, text in labels.items()])
    return {f"{metric}{{{selector}}}": values}


def _case(alert: str, row: dict[str, Any]) -> Case:
    parts = [PARTS[name] for name in row.pop("with", [])] + [row.pop("series", {})]
    merged = {name: str(values) for part in parts for name, values in part.items()}
    return Case(alert=alert, series=merged, **row)


_FILE: Final = read(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
PARTS: Final[Mapping[str, Mapping[str, Any]]] = _FILE["parts"]
CASES: Final = tuple(_case(alert, row) for alert, rows in _FILE["cases"].items() for row in rows)
TEAM: Final = {name: str(value) for name, value in PARTS["team"].items()}
