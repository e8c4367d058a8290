"""Which facts of the catalog are old, and what refreshes them.

Old facts are reported and never refused: a price of last year is still the best estimate there is. `slipway doctor`
shows them, and so does the summary of every test run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from typing import Any, Final

from spec.catalog.document import FOLDER, load

LIMIT: Final = timedelta(days=365)
"""Age from which a fact is old. AWS publishes prices without notice, EKS a Kubernetes version every four months or so
and supports each for 14 (`kubernetes.yaml`), so a year-old file lacks some of both."""
_PACKAGES: Final = "update moto and boto3 (pyproject.toml, `make lock`), then `python tools/refresh_catalog.py`"
_KEPT: Final = ", and by hand what it reports as kept"
_REFRESH: Final[Mapping[str, str]] = {
    "prices.yaml": f"`slipway catalog prices`{_KEPT}",
    "ec2-types.json": _PACKAGES,
    "regions.json": _PACKAGES,
    "lifecycle.yaml": "`python tools/refresh_lifecycle.py VERSION` with the Go modules of a newer Kubernetes",
    "software.yaml": "update the versions, then `slipway catalog check --record`",
}


@dataclass(frozen=True)
class Aged:
    """Facts of one file that are old."""

    what: str  # the file, or what the facts are about
    found: str  # how many of its dates are old, and the oldest
    fix: str  # command or step that refreshes them

    def __str__(self) -> str:
        return f"{self.what}: {self.found}. To refresh: {self.fix}."


def ageing(today: date) -> list[Aged]:
    """Everything in the catalog that is old on a day."""
    names = sorted(path.name for path in (files("spec.catalog") / "data").iterdir())
    return [old for name in names if (old := aged(name, load(name), today)) is not None]


def aged(name: str, document: Mapping[str, Any], today: date) -> Aged | None:
    """What is old in a data file; None where nothing is."""
    known = sorted(_days(document))
    old = [day for day in known if today - day > LIMIT]
    # A date that has not come yet is a mistyped one, or the clock of this machine is wrong.
    early = [day for day in known if day > today]
    parts = []
    if old:
        parts.append(f"{len(old)} of {len(known)} dates are more than {LIMIT.days} days ago, the first {old[0]}")
    if early:
        parts.append(f"{len(early)} of {len(known)} dates are after {today}, the last {early[-1]}")
    return Aged(f"{FOLDER}/{name}", "; ".join(parts), refresh(name)) if parts else None


def refresh(name: str) -> str:
    """Command or step that refreshes a data file."""
    if name.startswith("prices-"):
        return f"`slipway catalog prices --region {name.removeprefix('prices-').removesuffix('.yaml')}`{_KEPT}"
    return _REFRESH.get(name, "compare the file with its `source`, then update facts and `date`")


def _days(node: Mapping[str, Any]) -> Iterator[date]:
    """Each `date` of a document, at its top or beside an entry, or the day on which that was still the newest."""
    day = node.get("newestOn", node.get("date"))
    if day is not None:
        yield day if isinstance(day, date) else date.fromisoformat(day)
    for value in node.values():
        if isinstance(value, Mapping):
            yield from _days(value)
