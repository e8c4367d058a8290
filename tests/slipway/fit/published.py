"""Published figures, and the samples that other tests use."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.fit import Architecture, Memory, Workload, architectures, memory, problems
from slipway.fit.architectures import dense

# Workloads for tests.


GPT = dense(name="gpt", params=12.6e9, layers=40, hidden=5120, heads=40, ffn=20480, vocab=1000, dropout=True)
"""A GPT as Korthikanti et al. describe it."""


def work(model: Architecture = GPT, **options: Any) -> Workload:
    """Training in bf16, one sequence of 2048 tokens."""
    return Workload(**{"model": model, "mode": "train", "precision": "bf16", "batch": 1, "seq": 2048, **options})


# Published figures of GPU memory, the estimates for them, and both as the tables of docs/guides/fit.md.


FILE: Final = Path(__file__).with_name("published.yaml")
GUIDE: Final = Path(__file__).parents[3] / "docs/guides/fit.md"
KINDS: Final = ("cases", "misses")
"""Lists of the file, and parts of the guide."""
UNITS: Final = {"KB": 10**3, "MiB": 2**20, "GiB": 2**30, "GB": 10**9}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One published figure; `why` explains a large error."""

    what: str
    figure: float
    unit: str
    source: str
    date: date
    kind: str
    work: Workload
    gpus: int = 1
    parts: tuple[str, ...] = ()
    why: str = ""

    @property
    def estimate(self) -> float:
        """The estimate, in the unit of the figure."""
        estimated: Memory = memory(self.work, self.gpus)
        return (estimated.of(*self.parts) if self.parts else estimated.total) / UNITS[self.unit]

    @property
    def error(self) -> float:
        """Relative error of the estimate."""
        return self.estimate / self.figure - 1

    @property
    def row(self) -> str:
        """A line of the table in the docs."""
        last = [self.why] if self.why else []
        cells = [self.what, self.kind, _amount(self.figure, self.unit), _amount(self.estimate, self.unit)]
        cells += [f"{self.error:+.1%}", f"{self.source}, {self.date}", *last]
        return f"| {' | '.join(cells)} |"


@cache
def cases(kind: str = "cases") -> tuple[Case, ...]:
    """Figures of one list of the file: `cases` or `misses`."""
    return tuple(_case(row) for row in yaml.safe_load(FILE.read_text(encoding="utf-8"))[kind])


def table(kind: str) -> str:
    """A list as Markdown."""
    head = ["what", "figure is", "published", "estimated", "error", "source"] + (["why"] if kind == "misses" else [])
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(case.row for case in cases(kind))])


def _case(row: Mapping[str, Any]) -> Case:
    work = {"mode": "serve", "precision": "checkpoint", "seq": 1, "batch": 1, **row["work"]}
    work["image"] = tuple(work.get("image", (0, 0)))
    model = architectures()[work.pop("model")]
    if "params" in work:
        model = replace(model, params=float(work.pop("params")))
    workload = Workload(model=model, **work)
    assert not list(problems(workload)), (row["what"], list(problems(workload)))
    rest = {name: value for name, value in row.items() if name not in ("work", "parts")}
    return Case(work=workload, parts=tuple(row.get("parts", ())), **rest)


def _amount(value: float, unit: str) -> str:
    digits = 0 if unit in ("KB", "MiB") else 2
    return f"{value:,.{digits}f} {unit}"
