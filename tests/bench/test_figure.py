from __future__ import annotations

import pytest

from tests.bench.figure import Figure, Verdict, broken, table


def figure(value: float, bound: float | None, unit: str = "s") -> Figure:
    return Figure(name="preview", value=value, unit=unit, bound=bound, how="by hand")


@pytest.mark.parametrize(
    ("value", "bound", "verdict"),
    [(0.9, 1.0, Verdict.OK), (1.0, 1.0, Verdict.OK), (1.01, 1.0, Verdict.BROKEN), (99.0, None, Verdict.SHOWN)],
)
def test_a_figure_is_broken_only_above_its_bound(value: float, bound: float | None, verdict: Verdict) -> None:
    assert figure(value, bound).verdict is verdict


def test_a_line_has_name_figure_bound_verdict_and_how() -> None:
    assert figure(1.204, 1.3, "x").line.split() == ["preview", "1.20", "x", "<=", "1.30", "x", "ok", "by", "hand"]
    assert figure(701.6, 2048, "MiB").line.split()[1:5] == ["702", "MiB", "<=", "2048"]
    assert "<=" not in figure(2.0, None).line


def test_the_table_leaves_out_how() -> None:
    assert table([figure(1.0, 2.0)]).endswith("ok")


def test_the_broken_are_named() -> None:
    assert broken([figure(1.0, 2.0), figure(3.0, 2.0), figure(3.0, None)]) == ["preview"]


def test_the_document_has_the_verdict() -> None:
    assert figure(3.0, 2.0).as_data()["verdict"] == "BROKEN"
