"""`make bench`: what it prints and its exit code, how it times, and the programs that it makes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spec.settings import load, read_stack
from tests.bench import __main__ as command
from tests.bench import growth
from tests.bench.figure import Figure
from tests.bench.machine import Bench, BenchError, clean_environment
from tests.bench.timing import BUSY, Pairs, Sample, Series, share_of_others
from tests.support import stacks


def good(_: Bench) -> list[Figure]:
    return [Figure(name="good", value=1.0, unit="s", bound=1.0, how="by hand", notes=("a note",))]


def bad(_: Bench) -> list[Figure]:
    return [
        Figure(name="bad", value=3.0, unit="s", bound=2.0, how="by hand"),
        Figure(name="worse", value=3, unit="waits", bound=0, how="by hand"),
        Figure(name="free", value=99.0, unit="MiB", how="by hand"),
    ]


def absent(_: Bench) -> list[Figure]:
    return [Figure(name="absent", value=None, unit="s", bound=2.0, how="by hand")]


def failing(_: Bench) -> list[Figure]:
    msg = "no binary"
    raise BenchError(msg)


def interrupted(_: Bench) -> list[Figure]:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("measures", "code", "end"),
    [
        ([good], 0, "bounds held: 1, missed: 0\n"),
        ([good, bad], 1, "bounds held: 1, missed: 2: bad (missed by 50%), worse (missed by 3 waits)\n"),
        ([good, absent], 2, "bounds held: 1, missed: 0\nnot measured: absent\n"),
        ([failing, good], 2, "bounds held: 1, missed: 0\nnot measured: failing\n"),
        ([failing, bad], 1, "\nnot measured: failing\n"),
        ([good, interrupted], 130, "    a note\n"),
    ],
)
def test_the_code_and_the_last_lines_say_whether_bounds_are_held(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    measures: list[Callable[[Bench], list[Figure]]],
    code: int,
    end: str,
) -> None:
    monkeypatch.setattr(command, "NUMBERS", {measure.__name__: measure for measure in measures})
    assert command.main([]) == code
    assert capsys.readouterr().out.endswith(end)


def test_commands_see_nothing_of_the_users_accounts_charts_and_sandbox_but_the_cache() -> None:
    foreign = ("AWS_PROFILE", "PULUMI_BACKEND_URL", "SLIPWAY_SANDBOX_HOME", "SLIPWAY_CHARTS", "PYTHONDONTWRITEBYTECODE")
    kept = clean_environment({"PATH": "/bin", "SLIPWAY_CACHE": "/cache", **dict.fromkeys(foreign, "x")}, Path("/bench"))
    own = {"SLIPWAY_SANDBOX_HOME": "/bench/sandbox", "PYTHONPYCACHEPREFIX": "/bench/bytecode"}
    assert kept == {"PATH": "/bin", "SLIPWAY_CACHE": "/cache", **own}


def series(*samples: tuple[float, float], others: float = 0.0) -> Series:
    return Series([Sample(wall, cpu, others) for wall, cpu in samples])


def test_the_clock_counts_on_a_quiet_machine_and_processor_time_on_a_busy_one() -> None:
    samples = ((3.0, 1.0), (9.0, 1.1), (2.0, 0.9))
    assert series(*samples, others=BUSY).held.value == 3.0
    busy = series(*samples, others=BUSY + 0.01).held
    assert busy.value == 1.0
    assert "which counts: others used 21% of the machine" in busy.how
    assert Pairs(series((4.0, 3.0)), series((1.0, 1.0), others=0.9)).difference.value == 2.0
    assert [share_of_others(busy, 2.0, wall=4.0, processors=2) for busy in (8.0, 2.0, 1.9)] == [0.75, 0.0, 0.0]


def test_a_difference_is_the_median_over_pairs_and_not_the_difference_of_medians() -> None:
    # The machine was slow for the middle pair, which met both.
    pairs = Pairs(series((2.0, 2.0), (20.0, 2.0), (3.0, 3.0)), series((1.0, 1.0), (10.0, 1.0), (2.5, 1.0)))
    assert pairs.difference.value == 1.0


@pytest.mark.parametrize(
    ("make", "some", "part"),
    [(growth.pool_settings, growth.POOLS, "pools"), (growth.team_settings, growth.TEAMS, "teams")],
)
def test_stacks_of_every_size_pass_the_checks(make: growth.Settings, some: int, part: str) -> None:
    raw: Any = read_stack("prod", stacks.FOLDER)
    for size in (0, some, some * growth.TIMES):
        platform = load(make(raw, size), stack="prod").platform
        assert len(getattr(platform, part)) == size + (part == "pools")
