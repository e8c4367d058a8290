"""Runs a Pulumi program without an engine and gives back what it asked for.

The program can't tell: it is run by the SDK's own `run_in_stack`, as a language host does. Each run has a thread, an
event loop and a context of its own, because the SDK keeps its settings in context variables: nothing is left behind in
the caller's thread, so runs may follow each other and tests may use mocks of the SDK between them.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from pulumi.runtime import resource, run_in_stack
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import source_pb2
from pulumi.runtime.settings import Settings, configure

from slipway.render.monitor import Monitor
from slipway.render.recording import Recording
from slipway.settled import settled


def record(
    program: Callable[[], None],
    *,
    project: str = "slipway",
    stack: str,
    config: Mapping[str, Any] | None = None,
    preview: bool = False,
) -> Recording:
    """Run a program and record its resources, exports and messages.

    Args:
        program: Makes resources and exports, as the body of a `__main__.py` does.
        project: Name of the Pulumi project.
        stack: Name of the stack.
        config: Configuration by full key (`slipway:platform`); what is not text is given as JSON, as the engine does.
        preview: Leave ids and computed outputs unknown, as in the first preview of a stack.

    Raises:
        RenderError: The program asks for what only a cloud or an engine knows: an invoke, an existing resource, a
            remote component, an asset; or it makes two resources of one URN.
        Exception: Whatever the program raises, as it is.
    """
    monitor = Monitor(project, stack, preview=preview)
    with (
        _no_collection(),
        _no_stack_traces(),
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="record") as executor,
    ):
        context = contextvars.Context()
        executor.submit(context.run, _run, program, monitor, config or {}, preview).result()
    return Recording(
        project=project,
        stack=stack,
        resources=dict(sorted(monitor.resources.items())),
        exports=monitor.exports,
        messages=tuple(monitor.messages),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage for the seconds of a run.

    The SDK keeps some thousand futures for each hundred resources, and the collector walks them again and again: 1,600
    resources took 4.1 s of processor time with it and 2.7 s without (2026-11, Python 3.11).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _no_stack_traces() -> Iterator[None]:
    """Describe no call stack for each resource: the SDK does so for the engine, a fifth of a run's time (2026-11)."""
    described = resource._get_stack_trace
    resource._get_stack_trace = source_pb2.StackTrace
    try:
        yield
    finally:
        resource._get_stack_trace = described


def _run(program: Callable[[], None], monitor: Monitor, config: Mapping[str, Any], preview: bool) -> None:
    project, stack = monitor.project, monitor.stack
    configure(Settings(project, stack, monitor=monitor, engine=monitor, dry_run=preview, organization="organization"))
    set_all_config({key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}, [])
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        # A program that fails leaves outputs behind that nobody awaits: the failure itself is raised, once.
        loop.set_exception_handler(lambda _, __: None)
        # One thread answers: registrations are taken one at a time and need no lock.
        loop.set_default_executor(ThreadPoolExecutor(max_workers=1, thread_name_prefix="monitor"))
        runner.run(run_in_stack(lambda: _whole(program)), context=contextvars.copy_context())


async def _whole(program: Callable[[], None]) -> None:
    program()
    await settled()
