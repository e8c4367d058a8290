"""Runs a Pulumi program without the engine and records the resources that it registers.

The program can't detect this: it is run by the SDK's own `run_in_stack`, as a language host does. Each run has its own
thread, event loop and context, because the SDK keeps its settings in context variables. Nothing remains in the caller's
thread, so runs may follow one another, and tests may use the SDK's mocks between them.
"""

import asyncio
import contextvars
import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from pulumi.runtime import resource, run_in_stack
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import source_pb2
from pulumi.runtime.settings import Settings, configure

from sandbox.language.program import settled
from slipway.render.monitor import Answers, Monitor
from slipway.render.recording import Recording, RenderError

_OUTSIDE: Final = ("ctypes.", "os.", "pty.", "shutil.", "socket.", "subprocess.", "tempfile.", "threading.")
"""Begin the audit events of files, processes and connections (docs.python.org, "Audit events table")."""
_READS: Final = ("os.fwalk", "os.getxattr", "os.listdir", "os.listxattr", "os.scandir", "os.walk", "socket.__new__")
_FOUND: Final = "a program that is evaluated declares resources, and this one calls {}: remove it"
_run_of = threading.local()
_start: Final = threading.Thread.start


def _watch(event: str, args: tuple[Any, ...]) -> None:
    """Stop what a program does beside its declarations. Python keeps the bytecode of what it imports, and an event loop
    makes a pair of sockets without a name."""
    reached = getattr(_run_of, "reached", None)
    if reached is None or event in _READS:
        return
    writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (writes or event.startswith(_OUTSIDE)) and "importlib._bootstrap" not in sys._getframe(1).f_code.co_filename:
        reached.append(event)
        raise RenderError(_FOUND.format(event))


def _watched(thread: threading.Thread) -> None:
    """Start a thread, but for a program: nothing would watch it there."""
    _watch("threading.Thread.start", ())
    _start(thread)


sys.addaudithook(_watch)


def record(
    program: Callable[[], None],
    *,
    project: str = "slipway",
    stack: str,
    config: Mapping[str, Any] | None = None,
    preview: bool = False,
    answers: Answers | None = None,
) -> Recording:
    """Run a program and record its resources, exports and messages.

    Args:
        program: Creates resources and exports, like the body of a `__main__.py`.
        project: Name of the Pulumi project.
        config: Configuration by full key (`slipway:platform`); other values than text are passed as JSON, as the engine
            does.
        preview: Leave ids and computed outputs unknown, as in the first preview of a stack.
        answers: Answers look-ups; by default all are refused.

    Raises:
        RenderError: The program uses something that needs a cloud or the engine: an invoke, an existing resource, a
            remote component; it registers two resources with the same URN; or it starts a process or a
            thread, connects, or writes a file.
        Exception: Errors of the program, unchanged.
    """
    monitor = Monitor(project, stack, preview=preview, answers=answers)
    with (
        _no_collection(),
        # The call stack that the SDK sends with each resource takes a fifth of a run's time (2026-11).
        _replaced(resource, "_get_stack_trace", source_pb2.StackTrace),
        _replaced(threading.Thread, "start", _watched),
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="record") as executor,
    ):
        executor.submit(contextvars.Context().run, _run, program, monitor, config or {}, preview).result()
    return Recording(
        project=project,
        stack=stack,
        resources=dict(sorted(monitor.resources.items())),
        exports=monitor.exports,
        messages=tuple(monitor.messages),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection during a run.

    The SDK keeps some thousand futures per hundred resources, which the collector traverses repeatedly: 1,600 resources
    took 4.1 s of processor time with garbage collection and 2.7 s without (2026-11, Python 3.11).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _replaced(owner: Any, name: str, by: Any) -> Iterator[None]:
    """Replace a function of a module or a class during a run."""
    original = getattr(owner, name)
    setattr(owner, name, by)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _run(program: Callable[[], None], monitor: Monitor, config: Mapping[str, Any], preview: bool) -> None:
    project, stack = monitor.project, monitor.stack
    configure(Settings(project, stack, monitor=monitor, engine=monitor, dry_run=preview, organization="organization"))
    set_all_config({key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}, [])
    with asyncio.Runner() as runner, ThreadPoolExecutor(max_workers=1, thread_name_prefix="monitor") as answering:
        loop = runner.get_loop()
        # A failed program leaves outputs that are never awaited; the failure itself is raised once.
        loop.set_exception_handler(lambda _, __: None)
        # One thread answers registrations one at a time, so they need no lock. It starts before the program.
        answering.submit(loop.set_default_executor, answering).result()
        runner.run(run_in_stack(lambda: _whole(program)), context=contextvars.copy_context())


async def _whole(program: Callable[[], None]) -> None:
    _run_of.reached = reached = list[str]()
    try:
        program()
        await settled()
        if reached:
            raise RenderError(_FOUND.format(reached[0]))
    finally:
        _run_of.reached = None
