"""Lanes and the timeline page, from the replay's recorded events, whose times are known."""

import json
from pathlib import Path

import jsonschema
import pytest

from slipway.rehearsal.document import (
    MOST,
    POINTS,
    SCHEMA,
    Played,
    Rehearsal,
    Turns,
    expectations,
    lane,
    met,
    page,
    read,
)
from slipway.trial.evaluation import Check, Status
from slipway.trial.run import ENDED, RUNS, WAITS, Turn
from spec.errors import SlipwayError
from tests.slipway.replay.examples import events, planned
from tests.slipway.replay.test_page import HOSTILE, parsed
from tests.support import generated

END = 7200.0


def turns() -> Turns:
    found = Turns(planned())
    for event in events():
        found.add(event)
    return found


def played(name: str, *checks: Check, description: str = "A job trains.") -> Played:
    of = turns().of
    return Played(
        scenario=name,
        description=description,
        driven_by="clock",
        how="replayed",
        seconds=1.0,
        length=END,
        passed=met(checks),
        checks=expectations(checks),
        lanes=[lane(f"job/{job}", [of[job]], END) for job in ("train", "sweep")],
    )


def rehearsal(description: str = "A job trains.") -> Rehearsal:
    good = Check("job/train", "waits at most 5m", Status.PASSED, "train waited\n 2 min")
    bad = Check("pool/h100", "costs at most 10 USD", Status.FAILED, "24.00 USD")
    return Rehearsal(
        stack="dev", scenarios=[played("night", good, description=description), played("night/warm-node", good, bad)]
    )


def test_a_lane_has_what_waited_and_what_ran() -> None:
    found = turns().of["train"]
    # Submitted at 0, runs from 151, is preempted at 1951, runs again from 2551, ends at 6151 s.
    assert [(one.at, one.state) for one in found] == [
        (0, WAITS), (151, RUNS), (1951, WAITS), (2551, RUNS), (6151, ENDED),
    ]  # fmt: skip
    one = lane("job/train", [found], END)
    step = END / POINTS
    assert sum(one.waiting) * step == pytest.approx(151 + 600, abs=0.1)
    assert sum(one.running) * step == pytest.approx(1800 + 3600, abs=0.1)
    assert one.moments[2].text == "Preempted: Preempted to accommodate a workload"
    assert one.moments[1].text == "runs"


def test_jobs_that_are_alike_share_a_lane_whose_moments_are_the_first_ones() -> None:
    copies = [[Turn(0, WAITS, "created"), Turn(10 * number, RUNS, "runs")] for number in range(1, 6)]
    one = lane("job/a", copies, 100)
    assert (one.waiting[0], one.running[0]) == (5, 0)
    assert (one.waiting[-1], one.running[-1]) == (0, 5)
    assert [(moment.at, moment.text) for moment in one.moments[:2]] == [(0, "created (5 jobs)"), (10, "runs")]
    assert one.more == 0
    many = lane("job/a", [[Turn(number, WAITS, "evicted") for number in range(10)]], 100)
    assert (len(many.moments), many.more) == (MOST, 10 - MOST)


def test_what_is_refused_never_waits() -> None:
    one = lane("job/a", [[Turn(3, ENDED, "admission webhook\n denied it")]], 100)
    assert not any(one.waiting + one.running)
    assert one.moments[0].text == "admission webhook denied it"


def test_the_document_is_that_of_its_schema_and_is_read_again(tmp_path: Path) -> None:
    found = rehearsal()
    (tmp_path / "rehearsal.json").write_text(found.as_json(), encoding="utf-8")
    assert read(tmp_path / "rehearsal.json") == found
    jsonschema.validate(json.loads(found.as_json()), json.loads(Rehearsal.schema_text()))
    assert (found.passed, found.summary) == (False, "1 of 2 scenarios and bad variants as expected")
    (tmp_path / "other.json").write_text('{"version": 1, "stack": 3, "scenarios": []}', encoding="utf-8")
    with pytest.raises(SlipwayError, match=r"other\.json.*stack.*rehearsal\.json that this version has written"):
        read(tmp_path / "other.json")


def test_the_schema_is_current() -> None:
    generated.check(SCHEMA, Rehearsal.schema_text(), "run `python -m slipway.rehearsal.document`")


def test_the_page_has_a_section_for_each_scenario_with_its_bad_variants_and_needs_no_network() -> None:
    text = page(rehearsal(HOSTILE))
    found = parsed(text)
    assert found.open == []
    assert found.ids.count("night") == 1
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids), "it links to itself alone"
    assert text.count("<figure") == 2 * 2
    assert "Bad variant warm-node, replayed" in text
    assert "not as expected" in text
    assert "24.00 USD" in text
    assert "Preempted to accommodate a workload" in text
    assert "<script" not in text
    assert "default-src 'none'" in text
