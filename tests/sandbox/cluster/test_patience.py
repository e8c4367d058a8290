"""Waits that count the seconds without progress: the clock of these tests moves only when somebody sleeps."""

import itertools
import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sandbox.cluster import patience
from sandbox.cluster.patience import COUNTED, MOST, Patience, Work
from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient, NoSuchKindError, ResourceType, UnreachableError
from sandbox.kubernetes.objects import Object, Ref
from tests.sandbox.plane import crd

WIDGET = crd("patience.test", "Widget", {})


class Clock:
    """Stands for the module `time`."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 1000.0
        self.step = step
        """How long each look takes."""

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.step


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (patience, waiting, crds):
        monkeypatch.setattr(module, "time", made)
    return made


def waits(clock: Clock, look: Callable[[Patience], bool], seconds: float = 60.0) -> float:
    """Seconds until the patience ends, with a look each second."""
    began, one = clock.now, Patience(seconds)
    while look(one):
        clock.sleep(1.0)
    return clock.now - began


def test_nothing_that_changes_ends_the_wait(clock: Clock) -> None:
    assert waits(clock, lambda one: one.look("the same")) == 60.0
    changes = iter([*range(200), *[199] * 1000])
    assert waits(clock, lambda one: one.look(next(changes))) == 259.0


def test_looks_that_take_long_say_that_the_machine_is_busy(clock: Clock) -> None:
    clock.step = 29.0
    looks = 60.0 / COUNTED
    assert waits(clock, lambda one: one.look("the same")) == pytest.approx(30.0 * looks, abs=30.0)


def test_what_nobody_answers_is_no_progress(clock: Clock) -> None:
    clock.step = 29.0
    assert waits(clock, lambda one: one.look(answered=False)) == 60.0


def test_a_change_for_ever_ends_too(clock: Clock) -> None:
    numbers = itertools.count()
    assert waits(clock, lambda one: one.look(next(numbers))) == 60.0 * MOST


def test_the_error_says_how_long_nothing_changed(clock: Clock) -> None:
    changes = iter([*range(100), *[99] * 1000])
    with pytest.raises(TimeoutError, match=r"it is not there after 1[56]\d s, the last 6\d of them without progress"):
        waiting.until(lambda: None, 60.0, "it is not there", sight=lambda: next(changes), longest=1.0)


def test_a_server_that_does_not_answer_for_a_while_is_asked_again(clock: Clock) -> None:
    answers = iter([UnreachableError("refused")] * 20 + ["here"])

    def poll() -> str | None:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert waiting.until(poll, 60.0, "it is not there", longest=1.0) == "here"

    def refused() -> str | None:
        msg = "the API server does not answer: refused"
        raise UnreachableError(msg)

    with pytest.raises(TimeoutError, match=r"it is not there after 6\d s \(the API server does not answer: refused\)"):
        waiting.until(refused, 60.0, "it is not there", longest=1.0)


class Busy(KubeClient):
    """An API server that serves one more group of CRDs each minute, and the widgets of this test after some time."""

    def __init__(self, clock: Clock, served_after: float, every: float = 60.0) -> None:
        self._clock, self._began, self._after, self._every = clock, clock.now, served_after, every
        self.discovery = self  # type: ignore[assignment]

    def forget(self, group: str) -> None: ...

    def find(self, api_version: str, kind: str) -> ResourceType:
        if self._clock.now - self._began < self._after:
            raise NoSuchKindError(api_version, kind)
        return ResourceType(api_version, kind, "widgets", True, frozenset())

    def get_path(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        assert path == "/apis"
        served = min(self._clock.now - self._began, 600.0) // self._every
        return {"groups": [{"versions": [{"groupVersion": f"g{number}/v1"}]} for number in range(int(served))]}

    def get(self, ref: Ref) -> Object | None:
        names = {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts"}
        established = {"type": "Established", "status": "False", "reason": "Installing"}
        return {**WIDGET, "status": {"conditions": [names, established]}}


def test_a_crd_is_awaited_as_long_as_the_api_server_takes_in_others(clock: Clock) -> None:
    crds.wait_until_served(Busy(clock, served_after=580.0), WIDGET)
    assert clock.now >= 1580.0


def test_a_crd_that_nothing_is_done_about_ends_the_wait_with_what_was_last_seen(clock: Clock) -> None:
    with pytest.raises(TimeoutError, match=r"is not served \(last seen: NamesAccepted True .*Established False"):
        crds.wait_until_served(Busy(clock, served_after=1e9, every=1e9), WIDGET)
    assert clock.now < 1000.0 + 2 * crds.ESTABLISH_SECONDS
    with pytest.raises(TimeoutError, match="of them without progress"):
        crds.wait_until_served(Busy(clock, served_after=1e9), WIDGET)


def test_work_is_the_time_of_the_processor_of_a_process_and_its_children() -> None:
    assert Work(os.getpid())() >= 0
    ended = Work(2**22 - 1)
    assert ended() == 0
