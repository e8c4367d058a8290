"""The search adopts what saves without longer waits, and advises what holds on the other days."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from policies.rules import BY_NAME
from slipway.advise import search
from slipway.advise.document import SCHEMA, Advice, document
from slipway.advise.kinds import KINDS, Change
from slipway.advise.measure import Figures, Wait
from slipway.advise.search import Bounds, Found, Half, Search, halves
from slipway.advise.stack import NotAllowedError, Stack
from slipway.cli import main
from slipway.cli.advise import text
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from slipway.replay.generate import DAY
from slipway.replay.jobs import Job, Trace
from slipway.replay.plan import Options, Plan
from slipway.replay.result import LeftOut
from spec.clock import today
from spec.errors import SlipwayError
from spec.settings import Platform, load, read_stack
from tests.slipway.advise.test_kinds import stack
from tests.slipway.replay.examples import planned
from tests.support import generated
from tests.support.generated import ROOT
from tests.support.stacks import FOLDER, platform_of

SAVES = {"good": 0.2, "also": 0.1, "waits": 0.5, "little": 0.001, "only here": 0.3}
"""What each change saves on the days of the search."""


@dataclass
class Fake:
    """A stack of changes that save a part each; in place of program and engine."""

    names: tuple[str, ...]
    interrupt: str = ""
    replayed: list[tuple[str, ...]] = field(default_factory=list)

    def figures(self, names: tuple[str, ...], days: int) -> Figures:
        self.replayed.append(names)
        if self.interrupt in names:
            raise KeyboardInterrupt
        usd, late = 1000.0, days == 1
        for name in names:
            usd *= 1 - (0.0 if late and name == "only here" else SAVES[name])
        mean = 9000.0 if "waits" in names or (late and "only here" in names) else 1000.0
        waits = {"all": Wait(jobs=100, mean=mean, p95=mean)}
        return Figures(
            usd=usd,
            work=100.0,
            usd_per_hour_of_work=usd / 100,
            short=0,
            preemptions=0,
            waits=waits,
            left_out=LeftOut(jobs=days, of=100, of_gpu_hours=8, gpu_hours=2, reasons={"no GPU": days}),
        )

    def found(self, monkeypatch: pytest.MonkeyPatch, **bounds: Any) -> Found:
        plan = planned()

        def changed(_: Stack, edits: Mapping[tuple[str, ...], Any], **_more: bool) -> tuple[Platform, Any]:
            if ("refused",) in edits:
                msg = "policy: no-such-thing"
                raise NotAllowedError(msg)
            return load(stack("dev").settings, stack="dev").platform, tuple(one for (one,) in edits)

        def made(self: Search, half: Half, _: Platform, names: Any) -> Plan:
            self._replays += 1
            return replace(plan, document={"names": names if isinstance(names, tuple) else (), "days": half.days})

        def replay(_: Search, one: Plan) -> tuple[Figures, None]:
            return self.figures(one.document["names"], one.document["days"]), None

        offered = [Change(kind="types", what=name, but="-", edits={(name,): 1}) for name in self.names]
        monkeypatch.setattr(Stack, "as_it_is", lambda one: (load(one.settings, stack="dev").platform, None))
        monkeypatch.setattr(Stack, "changed", changed)
        monkeypatch.setattr(Search, "_plan", made)
        monkeypatch.setattr(Search, "_replay", replay)
        monkeypatch.setattr(search, "steady", lambda *_: {"h100": (1, 0.9)})
        monkeypatch.setattr(search, "changes", lambda *_: iter(offered))
        return Search(stack("dev"), parts(3), Options(), Bounds(**bounds), lambda _: None).run()


def parts(days: int) -> tuple[Half, Half]:
    jobs = [Job(name=f"j{day}", submitted=day * DAY + 60.0, duration=600.0) for day in range(days)]
    return halves(Trace(jobs=jobs, format="csv"), "jobs.csv")


def names(found: Found) -> list[str]:
    return [one.change.what for one in found.adopted]


def test_the_days_are_halved_and_the_second_half_begins_at_its_own_start() -> None:
    first, second = parts(5)
    assert (first.days, second.days) == (3, 2)
    assert [one.name for one in first.trace.jobs] == ["j0", "j1", "j2"]
    assert [one.submitted for one in second.trace.jobs] == [60.0, DAY + 60.0]


def test_a_trace_of_a_day_is_refused() -> None:
    with pytest.raises(SlipwayError, match=r"jobs.csv: submitted: advice needs jobs of two days.*found: 0.0 h"):
        parts(1)


def test_the_best_change_comes_first_and_what_saves_little_or_makes_jobs_wait_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Fake(("little", "also", "waits", "refused", "good")).found(monkeypatch)
    assert names(found) == ["good", "also"]
    assert found.advised
    assert found.refused == Counter({"policy: no-such-thing": 1})
    assert found.after.usd == pytest.approx(720)


def test_what_saves_on_the_days_of_the_search_alone_is_not_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Fake(("only here",)).found(monkeypatch)
    assert names(found) == ["only here"]
    assert not found.advised
    assert found.objections == ["the 95th percentile of all waits is longer", "the mean wait of all is longer"]
    shown = text(document(found, stack("dev"), parts(3), "jobs.csv"))
    assert shown.startswith("In no figure: 3 of 200 jobs, 4.0 of 16.0 GPU hours (25.0%). 3: no GPU")
    assert "Nothing is advised. The changes below save on the days of the search" in shown


def test_without_a_good_change_nothing_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Fake(("waits", "little")).found(monkeypatch)
    assert (names(found), found.advised, found.after_held) == ([], False, None)
    shown = text(document(found, stack("dev"), parts(3), "jobs.csv"))
    assert "Nothing is advised: no change that is allowed costs less" in shown
    assert "h100: 1 on-demand node(s) run at least 90% of the time" in shown


def test_the_number_of_replays_is_bounded_with_one_kept_for_the_other_days(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(("also", "good"))
    found = fake.found(monkeypatch, replays=4)
    assert (len(fake.replayed), names(found), found.ended) == (4, ["also"], "after 4 replays")
    assert found.advised


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Fake(("good",)).found(monkeypatch, seconds=-1.0)
    assert (names(found), found.replays) == ([], 2)


def test_an_interrupt_gives_what_is_known_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Fake(("good", "little", "waits", "waits", "also"), interrupt="also").found(monkeypatch)
    assert (found.ended, names(found), found.advised) == ("interrupted", ["good"], True)


@pytest.mark.usefixtures("binary")
def test_an_idle_reserve_is_found_by_real_replays_and_the_diff_removes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    shipped = (FOLDER / "Pulumi.dev.yaml").read_text()
    wasteful = shipped.replace("cpu: {preset: cpu, max: 6}", "cpu: {preset: cpu, max: 6, capacityBuffer: 2}")
    assert wasteful != shipped
    path = tmp_path / "stacks" / "Pulumi.dev.yaml"
    path.write_text(wasteful)
    monkeypatch.chdir(tmp_path)
    left_out = [word for kind in KINDS if kind != "minimum" for word in ("--without", kind)]
    jobs = ["--generate", "--jobs", "60", "--days", "2", "--load", "0.1"]
    line = ["advise", "dev", *jobs, *left_out, "--replays", "6"]
    assert main([*line, "--out", str(tmp_path / "changed.yaml"), "--json"]) == 0
    advice = json.loads(capsys.readouterr().out)
    jsonschema.validate(advice, json.loads(Advice.schema_text()))
    assert [one["what"] for one in advice["steps"]] == ["cpu: no idle node in reserve"]
    assert advice["advised"]
    assert advice["heldOut"]["after"]["usd"] < advice["heldOut"]["before"]["usd"]
    assert "-      cpu: {preset: cpu, max: 6, capacityBuffer: 2}" in advice["diff"]

    path.write_text((tmp_path / "changed.yaml").read_text())
    found = read_stack("dev", tmp_path / "stacks")
    changed = load(found, stack="dev").platform
    assert changed.pools == platform_of("dev").pools, "check takes it"
    found_by = check(record_platform(changed, stack="dev"), today())
    assert {BY_NAME[one.rule].levels.of("dev").value for one in found_by if one.counts(today())} <= {"advisory"}


def test_the_schema_is_current() -> None:
    generated.check(SCHEMA, Advice.schema_text(), "run `python -m slipway.advise.document`")
