"""What `settled` waits for, and how often it wakes up for that."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pulumi.runtime.settings import SETTINGS

from sandbox.language import program
from tests.support.patience import SECONDS


async def _outputs(monkeypatch: pytest.MonkeyPatch) -> set[asyncio.Future[Any]]:
    made: set[asyncio.Future[Any]] = set()
    monkeypatch.setattr(SETTINGS, "outputs", made)
    return made


def _follow(outputs: set[asyncio.Future[Any]], work: Awaitable[None]) -> asyncio.Future[None]:
    """As `Output._track` does it: one that is resolved is forgotten, one that failed is kept."""
    task = asyncio.ensure_future(work)
    outputs.add(task)
    task.add_done_callback(lambda it: None if it.cancelled() or it.exception() else outputs.discard(it))
    return task


def _run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(scenario(), SECONDS)

    asyncio.run(limited())


def test_it_waits_for_all_outputs_and_wakes_up_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = 0
    wait = asyncio.wait

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal waits
        waits += 1
        return wait(*arguments, **more)

    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)
        resolved = []

        async def output(number: int) -> None:
            await asyncio.sleep(number / 10_000)
            resolved.append(number)
            if number < 100:
                _follow(outputs, output(number + 100))

        for number in range(100):
            _follow(outputs, output(number))
        await program.settled()
        assert sorted(resolved) == list(range(200))

    monkeypatch.setattr(asyncio, "wait", counted)
    _run(scenario)
    assert waits < 10


def test_a_failure_ends_the_waiting_and_is_left_to_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)

        async def fail() -> None:
            await asyncio.sleep(0)
            msg = "refused"
            raise ValueError(msg)

        async def never() -> None:
            await asyncio.Event().wait()

        failed, endless = _follow(outputs, fail()), _follow(outputs, never())
        await program.settled()
        assert isinstance(failed.exception(), ValueError)
        assert outputs == {failed, endless}
        endless.cancel()

    _run(scenario)


def test_a_program_that_goes_on_in_pulumi_run_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        outputs = await _outputs(monkeypatch)
        comes_later = asyncio.Event()

        async def output() -> None:
            await comes_later.wait()

        task = _follow(outputs, output())
        root = SimpleNamespace(_async_program=lambda: None)
        monkeypatch.setattr(program, "get_root_resource", lambda: root)
        await program.settled()
        comes_later.set()
        await task

    _run(scenario)
