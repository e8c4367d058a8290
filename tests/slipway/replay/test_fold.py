"""Events become figures: the sums are worked out by hand from `events.ndjson`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from slipway.cli import replay_summary
from slipway.replay import result as results
from slipway.replay.fold import Fold
from slipway.replay.result import LeftOut
from slipway.replay.sentences import sentence
from slipway.replay.steps import Steps, percentile, waits
from slipway.replay.text import TraceError
from spec.errors import SlipwayError
from spec.quantities import duration
from tests.slipway.replay.examples import events, planned, result
from tests.support.cases import beside

CASES: Final = beside(__file__)


def test_a_job_waits_until_its_first_start() -> None:
    found = result()
    assert found.waits.jobs == 4
    # 151, 211 - 60, 1951 - 120, 361 - 300 seconds.
    assert (found.waits.mean, found.waits.median, found.waits.p95) == ((151 + 151 + 1831 + 61) / 4, 151, 1831)
    assert {name: one.jobs for name, one in found.by_class.items()} == {
        "batch": 1, "experiment": 1, "interactive": 1, "training": 1,
    }  # fmt: skip
    assert found.jobs.model_dump() == {"submitted": 5, "finished": 4, "running": 0, "pending": 0, "refused": 1}


def test_nodes_are_paid_from_launch_to_removal() -> None:
    pools = {one.name: one for one in result().pools}
    h100 = pools["h100"]
    assert h100.node_hours == pytest.approx(2 * 7200 / 3600)
    assert h100.usd == pytest.approx(24.0)
    assert (h100.most_nodes, h100.ceiling, h100.launches) == (2, 3, 2)
    # The training job ran 1800 and 3600 s on two GPUs, the sweep 600 s on one.
    assert h100.gpu_hours_busy == pytest.approx((2 * 5400 + 600) / 3600, rel=1e-3)
    assert h100.gpu_hours_paid == pytest.approx(4.0, rel=1e-3)
    assert h100.idle_usd == pytest.approx(24.0 - 6.0 * (2 * 5400 + 600) / 3600)
    assert pools["cpu"].gpu_hours_paid == 0
    # A node that still runs is paid until the end; the notebook has a MIG instance's or a slice's part of a GPU.
    assert pools["gpu-spot"].usd == pytest.approx(0.4 * (7411 - 61) / 3600)


def test_teams_pay_for_what_their_jobs_had() -> None:
    teams = {one.name: one for one in result().teams}
    language = teams["language"]
    assert language.gpu_hours >= (2 * 5400 + 600) / 3600
    assert language.preempted == 1
    assert language.lost_gpu_hours == pytest.approx(2 * 1800 / 3600)
    total = sum(one.usd for one in teams.values()) + result().idle_usd
    assert total == pytest.approx(result().usd)
    assert result().preemptions == 1
    assert result().evictions == {"Preempted": 1}


def test_the_longest_waits_have_the_words_and_what_they_mean() -> None:
    first = result().longest[0]
    assert (first.job, first.waited, first.layer) == ("sweep", 1831, "queue")
    assert first.message.startswith("couldn't assign flavors to pod set main")
    assert first.why.startswith("job/sweep waits in its queue: ")
    assert "h100" in first.why


def test_each_part_is_named_as_code_or_as_a_model() -> None:
    assert [(one.part, one.model) for one in result().decided] == [
        ("kueue", False), ("scheduler", False), ("nodes", True),
    ]  # fmt: skip
    assert result().decided[2].by == "launches the cheapest node that fits"


def test_a_replay_that_is_cut_says_so_and_has_what_is_known() -> None:
    found = result(until=14)
    assert (found.cut, found.cut_by) == (True, "the engine ended early")
    assert found.jobs.model_dump() == {"submitted": 4, "finished": 0, "running": 1, "pending": 2, "refused": 1}
    assert found.waits.unstarted == 2
    assert "CUT by the engine ended early at 2 min 31 s" in replay_summary.text(found)


def test_what_is_in_no_figure_is_said_first_with_its_gpu_hours() -> None:
    left = result().left_out
    # `huge`: a GPU for a minute. The others: two for an hour, a quarter for two, one for ten minutes.
    assert (left.jobs, left.of, left.unknown) == (1, 5, 0)
    assert left.gpu_hours == pytest.approx(1 / 60)
    assert left.of_gpu_hours == pytest.approx(2 + 0.5 + 1 / 6 + 1 / 60)
    says = "In no figure: 1 of 5 jobs, 0.0 of 2.7 GPU hours (0.6%). 1: the stack has no GPU with the memory of B200"
    assert replay_summary.text(result()).replace("\n", " ").startswith(says)
    assert "In no figure" not in replay_summary.text(
        result().model_copy(update={"left_out": LeftOut(of=4, of_gpu_hours=1)})
    )
    assert "Of the other: In no figure" in replay_summary.text(result(), result())
    # Those without an end in the trace, and those that a replay did not come to.
    fold = Fold(replace(planned(), left_out={"it never started": 2}), stack="dev", source="t", form="csv")
    for event in events()[:5]:
        fold.add(event)
    more = fold.result().left_out
    assert (more.jobs, more.of, more.unknown) == (6, 7, 2)
    assert list(more.reasons.items())[:2] == [("it was not submitted before the end", 3), ("it never started", 2)]
    assert "and unknown ones of 2. 3: it was not" in more.sentence
    assert (left + more).amount == "7 of 12 jobs, 0.7 of 5.4 GPU hours (13.0%)"
    assert LeftOut(jobs=5, of=9, of_gpu_hours=0, reasons=dict.fromkeys("abcd", 1)).sentence.endswith(
        "c; 1 more reasons"
    )


def test_the_timeline_has_averages() -> None:
    line = result().timeline
    assert line.step_seconds == pytest.approx(7411 / 168)
    assert max(line.paid["h100"]) == 2
    assert sum(line.busy["h100"]) * line.step_seconds == pytest.approx(2 * 5400 + 600, rel=1e-3)
    assert max(line.pending["language"]) == 2


def test_an_event_that_can_not_be_read_is_named() -> None:
    fold = Fold(planned(), stack="dev", source="t", form="csv")
    fold.add({"t": 0, "kind": "something new"})
    for wrong in (
        {"kind": "running"},
        {"t": 1, "kind": "running", "job": "j9", "nodes": []},
        {"t": "x", "kind": "node"},
    ):
        with pytest.raises(SlipwayError, match="the engine of the replay reports what this version can't read"):
            fold.add(wrong)


def test_a_result_is_read_again_and_another_document_is_not(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(result().as_json())
    assert results.read(path) == result()
    for wrong in ("[]", '{"version": 2}', '{"version": 1}', json.dumps({**json.loads(result().as_json()), "more": 1})):
        path.write_text(wrong)
        with pytest.raises(TraceError):
            results.read(path)


def test_the_schema_is_current() -> None:
    assert results.main(["--check"]) == 0


def test_the_summary_is_one_screen() -> None:
    text = replay_summary.text(result())
    assert len(text.splitlines()) <= 45
    assert max(map(len, text.splitlines())) <= replay_summary.WIDTH
    for words in ("5 jobs of trace.csv (csv) on stack dev", "nodes: model, launches", "class interactive", "h100"):
        assert words in text
    beside = replay_summary.text(result(), result(until=14))
    assert "this" in beside
    assert "other" in beside


SAYS = CASES["says"]


@pytest.mark.parametrize(("layer", "message", "says"), SAYS)
def test_sentences_are_those_of_why(layer: str, message: str, says: str) -> None:
    said = sentence("train", layer, message)
    assert (said.startswith("job/train ") and says in said) if says else said == ""


def test_steps_are_averaged() -> None:
    steps = Steps()
    steps.add(0, 2)
    steps.add(5, -1)
    steps.add(30, -1)
    assert steps.averages(20, 2) == [1.5, 1.0]
    assert (steps.most, Steps().averages(0, 2)) == (2, [0.0, 0.0])


def test_percentiles_are_values_of_the_list() -> None:
    assert [percentile(range(1, 101), share) for share in (50, 95, 100)] == [50, 95, 100]
    assert percentile([7], 50) == 7
    assert waits([], []).model_dump() == {
        "jobs": 0, "unstarted": 0, "mean": 0, "median": 0, "p95": 0, "longest": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.6, "1 min"), (75, "1 min 15 s"), (3600, "1 h"), (90_000, "1 d 1 h")]
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
