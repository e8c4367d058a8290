"""Published figures, those measured on GPUs, and the samples that other tests use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.fit import Architecture, Memory, Workload, architectures, memory, problems
from slipway.fit.architectures import with_count
from slipway.fit.layers import Attention, FeedForward, Layer

# Workloads for tests.


def dense(
    *, layers: int, hidden: int, heads: int, ffn: int, kv_heads: int = 0, gated: bool = False, **rest: Any
) -> Architecture:
    """A transformer whose layers are all alike; without `params`, their number is counted."""
    head = hidden // heads
    mixer = Attention(hidden=hidden, heads=heads, kv_heads=kv_heads or heads, head=head, value=head)
    group = Layer(count=layers, mixer=mixer, feed=FeedForward(hidden=hidden, width=ffn, gated=gated))
    return with_count(Architecture(**{"params": 0.0, **rest, "layers": (group,), "hidden": hidden}))


GPT = dense(name="gpt", params=12.6e9, layers=40, hidden=5120, heads=40, ffn=20480, vocab=1000, dropout=True)
"""A GPT as Korthikanti et al. describe it."""


def work(model: Architecture = GPT, **options: Any) -> Workload:
    """Training in bf16, one sequence of 2048 tokens."""
    return Workload(**{"model": model, "mode": "train", "precision": "bf16", "batch": 1, "seq": 2048, **options})


# Published figures of GPU memory, the estimates for them, and both as the tables of docs/guides/fit-accuracy.md.


FILE: Final = Path(__file__).with_name("published.yaml")
MEASURED: Final = Path(__file__).parents[3] / "tools/figures/gpu_memory.json"
"""Peaks on GPUs, as `python -m tools.figures.gpu_memory` writes them."""
GUIDE: Final = Path(__file__).parents[3] / "docs/guides/fit-accuracy.md"
KINDS: Final = ("cases", "misses", "gpus")
"""Parts of the guide: lists of the file, and what GPUs measured."""
_SMALL: Final = 0.05
"""Error up to which the guide only counts a case."""
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
    """A part as Markdown."""
    if kind == "gpus":
        return _of_gpus()
    head = ["what", "figure is", "published", "estimated", "error", "source"] + (["why"] if kind == "misses" else [])
    shown, said = _shown(cases(kind))
    return "\n".join(
        [*filter(None, [said]), f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(case.row for case in shown)]
    )


def _shown(found: Sequence[Case]) -> tuple[list[Case], str]:
    """Cases with a larger error than most, and a sentence about the others."""
    shown = [case for case in found if abs(case.error) > _SMALL]
    close = len(found) - len(shown)
    return shown, f"{close} of {len(found)} are within {_SMALL:.0%}; the others:\n" if close else ""


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


# Peaks that `tools/figures/gpu_memory.py` measured, with random weights.


def measured() -> tuple[Case, ...]:
    """Each case once, with the names of the GPUs that ran it: all of a case differ by less than a hundredth."""
    document = json.loads(MEASURED.read_text(encoding="utf-8"))
    reasons = yaml.safe_load(FILE.read_text(encoding="utf-8"))["reasons"]
    found: dict[str, tuple[Mapping[str, Any], dict[str, int], date]] = {}
    for name, run in document.items():
        for row in run["cases"]:
            options: Mapping[str, Any] = {key: row[key] for key in _OPTIONS if key in row}
            key = json.dumps({**options, "kernel": row.get("attention")})
            day = date.fromisoformat(row.get("date", run["device"]["date"]))
            found.setdefault(key, (options, {}, day))[1][name] = row["peak"]
    rows: list[Case] = []
    for options, peaks, day in found.values():
        least, most = min(peaks.values()), max(peaks.values())
        assert most <= 1.01 * least, (options, peaks)
        why = next((one["why"] for one in reasons if _matches(one["of"], options)), "")
        gpus = ", ".join(sorted(name.split()[1] for name in peaks))
        case = {"what": _what(options), "figure": most / 10**9, "unit": "GB", "kind": "measured", "date": day}
        rows.append(_case({**case, "source": gpus, "why": why, "work": options, "parts": _ALLOCATED}))
    return tuple(sorted(rows, key=lambda row: (row.work.mode, row.work.model.params, row.figure), reverse=True))


_OPTIONS: Final = ("model", "mode", "precision", "optimizer", "checkpointing", "lora", "classes", "batch", "seq")
_ALLOCATED: Final = ("weights", "gradients", "optimizer", "activations", "kv cache")
"""What PyTorch counts: everything but CUDA's context."""


def _matches(wanted: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    return all(options.get(key) in values for key, values in wanted.items())


def _what(options: Mapping[str, Any]) -> str:
    words = [options["model"], "served" if options["mode"] == "serve" else "trained", options["precision"]]
    words += [f"LoRA {options['lora']}"] if "lora" in options else []
    words += [f"checkpointing {options['checkpointing']}"] if "checkpointing" in options else []
    words += [options["optimizer"]] if "optimizer" in options else []
    return ", ".join([*words, f"{options['batch']} x {options['seq']}"])


def _of_gpus() -> str:
    head = ("what", "GPU", "measured", "estimated", "error", "why")
    shown, said = _shown(measured())
    lines = [said, f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for one in shown:
        sizes = (_amount(one.figure, one.unit), _amount(one.estimate, one.unit))
        lines.append(f"| {' | '.join([one.what, one.source, *sizes, f'{one.error:+.1%}', one.why])} |")
    return "\n".join(lines)
