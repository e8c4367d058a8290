import pytest

from tests.bench.figure import HEADINGS, Figure, Verdict, named, summary, table


def figure(value: float | None, bound: float | None, unit: str = "s", name: str = "preview") -> Figure:
    return Figure(name=name, value=value, unit=unit, bound=bound, how="by hand")


@pytest.mark.parametrize(
    ("value", "bound", "verdict", "result"),
    [
        (0.9, 1.0, Verdict.HELD, "held"),
        (1.0, 1.0, Verdict.HELD, "held"),
        (1.011, 1.0, Verdict.MISSED, "missed by 1%"),
        (2.6, 2.0, Verdict.MISSED, "missed by 30%"),
        (99.0, None, Verdict.NO_BOUND, "no bound"),
        (None, 1.0, Verdict.NOT_MEASURED, "not measured"),
    ],
)
def test_a_bound_is_missed_above_it_alone_and_by_how_much_is_said(
    value: float | None, bound: float | None, verdict: Verdict, result: str
) -> None:
    assert figure(value, bound).verdict is verdict
    assert figure(value, bound).result == result


def test_a_bound_of_zero_is_missed_by_a_number_and_not_by_a_percentage() -> None:
    assert figure(0, 0, "waits").result == "held"
    assert figure(3, 0, "waits").result == "missed by 3 waits"


def test_a_line_has_name_figure_bound_result_and_how() -> None:
    assert figure(1.204, 1.3, "x").line.split() == ["preview", "1.20", "x", "<=", "1.30", "x", "held", "by", "hand"]
    assert figure(701.6, 2048, "MiB").line.split()[1:5] == ["702", "MiB", "<=", "2048"]
    assert "<=" not in figure(2.0, None).line
    assert figure(None, 2048, "MiB").line.split()[:4] == ["preview", "-", "<=", "2048"]


def test_the_table_has_headings_and_leaves_out_how() -> None:
    headings, row = table([figure(2.6, 2.0, "x", "preview, plain records")]).splitlines()
    assert headings.split() == list(HEADINGS)
    assert row.endswith("missed by 30%")
    assert headings.index("result") == row.index("missed")


def test_the_summary_counts_what_is_held_and_names_what_is_missed() -> None:
    figures = [figure(1.0, 2.0), figure(3.0, 2.0, name="slow"), figure(3.0, None), figure(None, 1.0)]
    assert summary(figures) == "bounds held: 1, missed: 1: slow (missed by 50%)"
    assert summary(figures[:1]) == "bounds held: 1, missed: 0"


def test_figures_are_found_by_their_verdict() -> None:
    slow = figure(3.0, 2.0)
    assert named([figure(1.0, 2.0), slow, figure(3.0, None)], Verdict.MISSED) == [slow]


def test_the_document_has_verdict_and_result() -> None:
    data = figure(3.0, 2.0).as_data()
    assert (data["verdict"], data["result"]) == ("missed", "missed by 50%")
