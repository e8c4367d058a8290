"""The shipped scenarios that the clock drives, on their stacks, with Kueue's and the scheduler's code."""

from functools import cache
from pathlib import Path

import pytest

from sandbox.toolchain import locate
from slipway.cli import main
from slipway.rehearsal.evaluation import checks
from slipway.rehearsal.play import Stack, blocked, play, trace_of
from slipway.trial import clock
from slipway.trial.evaluation import Status
from slipway.trial.scenario import FOLDER
from spec.errors import SlipwayError
from spec.settings import read_stack
from tests.support.stacks import FOLDER as STACKS
from tests.support.stacks import platform_of

ROOT = Path(__file__).resolve().parents[3]
NOT_ON_PROD = {"bin-packing", "half-started-gang"}
"""It needs an elastic pool of whole nodes, and prod buys its own as a block."""
SHIPPED = [path for path in sorted((ROOT / FOLDER).glob("*.yaml")) if clock.drives(path)]


PLAYED = [(path, stack) for path in SHIPPED for stack in clock.read(path).stacks]


@cache
def stack_of(name: str) -> Stack:
    settings = read_stack(name, STACKS)
    assert isinstance(settings, dict)
    return Stack(name, settings)


@pytest.fixture
def engine() -> None:
    if locate.find("replay") is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure replay`")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("path", "stack"), PLAYED, ids=[f"{path.stem}-{stack}" for path, stack in PLAYED])
def test_it_goes_as_expected_and_its_bad_variants_break_what_they_say(path: Path, stack: str) -> None:
    scenario = clock.read(path, stack)
    for variant in scenario.variants:
        result, lanes = play(variant, scenario, stack_of(stack), lambda _line: None)
        found = checks(variant, result, blocked(variant, stack_of(stack)))
        assert [one for one in found if one.status is not Status.PASSED] == [], variant.name or "good"
        assert [one.name for one in lanes] == [f"job/{name}" for name in variant.jobs]


def test_each_has_a_bad_variant_on_dev_and_a_good_one_on_prod() -> None:
    for path in SHIPPED:
        assert len(clock.read(path, "dev").variants) > 1, path.name
    assert {path.stem for path in SHIPPED} - {path.stem for path, stack in PLAYED if stack == "prod"} == NOT_ON_PROD


@pytest.mark.usefixtures("engine")
def test_the_command_says_what_drove_it_and_what_is_in_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "dev", str(ROOT / FOLDER / "gpu-memory.yaml"), "--replayed", "--json"]) == 0
    shown = capsys.readouterr().out
    assert '"drivenBy": "clock"' in shown
    assert "s; in no figure: 1 of 2 jobs, 4.0 of 8.0 GPU hours (50.0%)" in shown


def test_a_team_that_the_stack_lacks_is_named() -> None:
    scenario = clock.read(ROOT / FOLDER / "zombies.yaml")
    good = scenario.variants[0]
    jobs = {"x": good.jobs["zombies"].model_copy(update={"team": "nobody"})}
    with pytest.raises(SlipwayError, match=r"scenario zombies: jobs\.x\.team: the stack has no nobody"):
        trace_of(type(good)(**{**vars(good), "jobs": jobs}), scenario, platform_of("dev"))


def test_a_job_ends_at_its_deadline_and_copies_come_one_after_the_other() -> None:
    scenario = clock.read(ROOT / FOLDER / "weekend.yaml")
    good, bad = scenario.variants
    assert [one.duration for one in trace_of(good, scenario, platform_of("dev")).jobs] == [3 * 3600, 2 * 3600]
    assert trace_of(bad, scenario, platform_of("dev")).jobs[0].duration == 500 * 3600
    copies = {"a": good.jobs["next"].model_copy(update={"count": 3, "every": "10m", "at": "1h"})}
    found = trace_of(type(good)(**{**vars(good), "jobs": copies}), scenario, platform_of("dev"))
    # A trace starts with its scenario, not with its first job.
    assert [(one.name, one.submitted) for one in found.jobs] == [("a-1", 3600), ("a-2", 4200), ("a-3", 4800)]
