"""The process that runs one Pulumi program, or one policy pack, for the language host.

It runs in the program's environment, which has the SDK and not this package: Python from 3.9 on, and no other import.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import inspect
import json
import logging
import os
import runpy
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pulumi.runtime
from pulumi.runtime.proto import engine_pb2, language_pb2
from pulumi.runtime.settings import SETTINGS, get_engine, get_monitor, get_root_resource

# Waiting for all outputs of a Pulumi program, without checking all of them each time one resolves.


async def settled() -> None:
    """Waits until all outputs are resolved or one fails, so that the SDK's own wait has nothing left to do.

    The SDK's wait wakes up at each resolved output and then checks all others: 8 of 23 s of CPU for the 430 resources
    of stack dev (pulumi 3.258, runtime/stack.py, wait_for_rpcs; 2026-11).
    """
    if getattr(get_root_resource(), "_async_program", None) is not None or not hasattr(SETTINGS, "lock"):
        # The program runs under `pulumi.run`, and outputs may depend on the rest of it: waiting here could deadlock.
        # Or its SDK is an older one, which has its outputs elsewhere.
        return
    while True:
        with SETTINGS.lock:
            outputs = set(SETTINGS.outputs)
        # A failed output stays in the set: the SDK raises its error.
        if not outputs or any(one.done() and (one.cancelled() or one.exception()) for one in outputs):
            return
        await asyncio.wait(outputs, return_when=asyncio.FIRST_EXCEPTION)


EXIT_REPORTED = 32
"""Exit code of a failed program whose error was reported; the same number as in Pulumi's own host."""
_EXIT_ORPHANED = 70


@dataclass(frozen=True)
class Task:
    """A program or policy pack to run."""

    engine: str = ""  # address of the engine
    request: str = ""  # the engine's request to run a program, in base64; empty for a policy pack
    debug: bool = False  # whether the user wants the SDK's debug messages
    arguments: tuple[str, ...] = ()  # arguments of a policy pack, the last of which is its path
    environment: Mapping[str, str] = field(default_factory=dict)  # variables to set
    problem: str = ""  # what is wrong with the environment, said beside a module that it lacks

    @property
    def line(self) -> bytes:
        """The line that the process reads."""
        return f"{json.dumps(asdict(self))}\n".encode()


def program_task(engine: str, request: language_pb2.RunRequest, *, debug: bool = False) -> Task:
    """The task to run a program."""
    return Task(engine, base64.b64encode(request.SerializeToString()).decode(), debug=debug)


def run_program(task: Task) -> int:
    """Runs the program against the engine's resource monitor, and reports its failure to the engine's log."""
    request = language_pb2.RunRequest.FromString(base64.b64decode(task.request))
    _configure(task.engine, request)
    if not task.debug:
        _drop_debug_messages()
    _name_missing_providers()
    if request.organization == ORGANIZATION:
        _find_stacks_here()
    directory = request.info.program_directory or request.pwd
    program = Path(directory, request.info.entry_point or ".")
    os.chdir(request.pwd or directory)
    sys.argv = [str(program), *request.args]
    if not _entry(program).is_file():
        pulumi.log.error(f"there is no Python program at {_entry(program)}: `main` in Pulumi.yaml names its directory")
        return EXIT_REPORTED
    if not program.is_dir():
        # Python does this for a script; for a directory `runpy` does it.
        sys.path.insert(0, str(program.parent))
    try:
        _run_in_loop(program, request.parallel)
    except pulumi.RunError as error:
        # The message of a RunError is meant to be shown without a traceback.
        pulumi.log.error(str(error))
    except Exception as error:
        pulumi.log.error("Program failed with an unhandled exception:\n" + user_traceback(error, program))
        if isinstance(error, ModuleNotFoundError) and task.problem:
            pulumi.log.error(task.problem)
    else:
        return 0
    return EXIT_REPORTED


def user_traceback(error: BaseException, program: Path) -> str:
    """The traceback from the program's first frame on, without the frames of the host and the SDK before it."""
    frames = traceback.extract_tb(error.__traceback__)
    for index, frame in enumerate(frames):
        if Path(frame.filename).resolve() == _entry(program).resolve():
            return "".join(traceback.format_exception(error, limit=index - len(frames)))
    return "".join(traceback.format_exception(error))


def _entry(program: Path) -> Path:
    return program / "__main__.py" if program.is_dir() else program


def _configure(engine: str, request: language_pb2.RunRequest) -> None:
    pulumi.runtime.set_all_config(dict(request.config), list(request.configSecretKeys))
    # A program may have an older SDK: 3.113 has no such setting.
    knows_root = "root_directory" in inspect.signature(pulumi.runtime.Settings).parameters
    root: dict[str, Any] = {"root_directory": request.info.root_directory or None} if knows_root else {}
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            project=request.project,
            stack=request.stack,
            organization=request.organization or None,
            monitor=request.monitor_address,
            engine=engine,
            parallel=request.parallel,
            dry_run=request.dryRun,
            **root,
        )
    )


ORGANIZATION = "organization"
"""The only one that a backend of files has."""


def local_stack(name: str) -> str:
    """A stack's name without the organization that a program names on Pulumi Cloud: `acme/network/prod`."""
    organization, *rest = name.split("/")
    return "/".join([ORGANIZATION, *rest]) if len(rest) == 2 else rest[0] if rest else organization


def _find_stacks_here() -> None:
    """Let references to stacks of other organizations find the stack of the same project and name.

    A backend of files refuses them: organization name must be 'organization' (pulumi 3.258, backend/diy).
    """
    original = pulumi.StackReference.__init__

    def find(self: Any, name: str, stack_name: Any = None, opts: pulumi.ResourceOptions | None = None) -> None:
        wanted = name if stack_name is None else stack_name
        here: Any = (
            local_stack(wanted) if isinstance(wanted, str) else pulumi.Output.from_input(wanted).apply(local_stack)
        )
        original(self, name, here, opts)

    pulumi.StackReference.__init__ = find  # type: ignore[method-assign]


def _drop_debug_messages() -> None:
    """Keep the SDK from sending debug messages to the engine, which shows them only with --debug.

    The SDK sends one at every step of every resource and waits for the answer: 1.1 s of CPU for the 582 resources of
    stack prod (2026-11).
    """
    engine: Any = get_engine()
    if engine is None:
        return
    send = engine.Log
    engine.Log = lambda message: None if message.severity == engine_pb2.DEBUG else send(message)


def _name_missing_providers() -> None:
    """Say which plugin a resource needs, and how to get it, where none is downloaded."""
    monitor: Any = get_monitor()
    if monitor is None or not os.environ.get("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
        return
    served = [one.partition(":")[0] for one in os.environ.get("PULUMI_DEBUG_PROVIDERS", "").split(",")]
    known, send = {"pulumi", "pulumi-python", *served}, monitor.RegisterResource

    def register(request: Any, *rest: Any, **more: Any) -> Any:
        package = request.type.partition(":")[0]
        if (request.custom or request.remote) and package not in known:
            known.add(package)
            place = f"plugins/resource-{package}-v{request.version or '*'}"
            installed = any(Path(os.environ.get("PULUMI_HOME", "")).glob(place))
            if not installed and not shutil.which(f"pulumi-resource-{package}"):
                pulumi.log.warn(
                    f"{request.type}: the sandbox itself provides {', '.join(served)}, and downloads no plugin. "
                    f"`slipway sandbox run -- pulumi plugin install resource {package} {request.version}` does. A "
                    "package of components (eks, awsx) also needs the language host that its plugin is written for, "
                    "on PATH (docs/guides/any-program.md)"
                )
        return send(request, *rest, **more)

    monitor.RegisterResource = register


def _run_in_loop(program: Path, parallel: int) -> None:
    # A failing program leaves futures unobserved, and asyncio would report each of them.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Four threads per operation, as in Pulumi's own host.
    with ThreadPoolExecutor(max_workers=max(parallel, 1) * 4) as executor:
        loop.set_default_executor(executor)
        loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: _execute(program)))


async def _execute(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")
    await settled()


def _take_standard_input() -> str:
    """Reads the first line, gives the program an empty standard input, and exits when the pipe closes."""
    pipe = os.fdopen(os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    line = pipe.readline().strip()

    def follow_the_host() -> None:
        pipe.read()
        os._exit(_EXIT_ORPHANED)

    threading.Thread(target=follow_the_host, daemon=True).start()
    return line


def main() -> int:
    """Runs one task and returns its exit code; 0 if the host ends without sending one."""
    # The process is short-lived, and the collector would scan the same live objects again and again: 1.4 of 5.2 s of
    # CPU for the 582 resources of stack prod (2026-11).
    gc.disable()
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    line = _take_standard_input()
    if not line:
        return 0
    task = Task(**json.loads(line))
    os.environ.update(task.environment)
    if task.request:
        return run_program(task)
    sys.argv[1:] = task.arguments
    runpy.run_module("pulumi.policy", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    # As a file, this one has its folder on the path, whose modules would shadow the program's.
    sys.path[:] = [one for one in sys.path if Path(one) != Path(__file__).parent]
    sys.exit(main())
