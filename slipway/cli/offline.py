"""The sandbox as the CLI uses it: the only module that starts, queries and stops it; and its status."""

import os
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sandbox import asked, lifecycle, official, toolchain
from sandbox.environment import environment
from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.controllers.running import Entry, State, load
from sandbox.language import shims
from sandbox.state import KUBERNETES, SandboxState, default_home
from slipway.account.context import Client, late, session
from slipway.cli import output
from slipway.cli.output import table
from slipway.engine.backend import folder
from slipway.engine.guard import Guard
from slipway.engine.invocation import sandbox_environment
from slipway.engine.stacks import Overlay, SandboxEngine
from spec.errors import fail
from spec.settings import Platform

_MIB: Final = 2**20
DELETES: Final = "that deletes its AWS resources, cluster objects and stack states"


class Condition(StrEnum):
    """The condition of the sandbox."""

    STOPPED = "stopped"
    RUNNING = "running"
    DAMAGED = "damaged"
    """One of its processes has died. It is started again within seconds, unless it can't be: etcd without its data."""
    SILENT = "not responding"
    """All of its processes live, and one does not answer: it is stopped (SIGSTOP), or very busy."""
    STALE = "stale"
    """Its state file exists but its processes don't: the machine was restarted, or the sandbox was killed."""


@dataclass(frozen=True)
class ProcessStatus:
    """One process of the sandbox; `memory` in bytes, None if the process has ended."""

    name: str
    pid: int
    memory: int | None

    @property
    def alive(self) -> bool:
        """Whether it is running."""
        return self.memory is not None


@dataclass(frozen=True)
class Status:
    """The current status of the sandbox."""

    condition: Condition
    home: Path
    processes: Sequence[ProcessStatus] = ()
    addresses: Mapping[str, str] | None = None  # listening addresses by name
    controllers: Sequence[Entry] = ()  # controllers of add-ons, of all clusters
    silent: Sequence[str] = ()  # processes that don't answer, each with what to do

    @property
    def healthy(self) -> bool:
        """Whether it can be used."""
        return self.condition is Condition.RUNNING

    @property
    def memory(self) -> int:
        """Bytes of all processes together (resident, so shared pages count twice)."""
        return sum(process.memory or 0 for process in self.processes)

    @property
    def dead(self) -> list[str]:
        """Names of the processes that have ended."""
        return [process.name for process in self.processes if not process.alive]

    @property
    def fix(self) -> str:
        """How to fix it; empty if there is nothing to fix."""
        if self.condition is Condition.DAMAGED:
            dead, logs = ", ".join(self.dead), self.home / "logs"
            return (
                f"{dead} died (logs in {logs}). It is started again with its data; if it stays dead, its log says why. "
                f"If nothing else helps, run `slipway sandbox stop`, then start it again; {DELETES}"
            )
        if self.condition is Condition.SILENT:
            return "; ".join(self.silent) + f". If that doesn't help, run `slipway sandbox stop`; {DELETES}"
        if self.condition is Condition.STALE:
            return (
                "it ended by itself, and its AWS, which was in memory, is gone: `slipway sandbox start` starts a new "
                f"one, and moves its stack states and cluster objects to {self.home / 'aside'}"
            )
        return ""

    def text(self) -> str:
        """The status as text."""
        head = f"sandbox: {self.condition}, in {self.home}"
        if self.condition is Condition.STOPPED:
            return "sandbox: stopped"
        rows = [
            (
                process.name,
                str(process.pid),
                f"{process.memory / _MIB:.0f} MiB" if process.memory is not None else "ended",
            )
            for process in self.processes
        ]
        total = f"memory: {self.memory / _MIB:.0f} MiB in total"
        addresses = [f"{name}: {address}" for name, address in (self.addresses or {}).items()]
        processes = table(rows, right=frozenset({1, 2}), indent="  ")
        parts = [head, processes, total, *addresses, self._controllers(), self.fix]
        return "\n".join(part for part in parts if part)

    def _controllers(self) -> str:
        if not self.controllers:
            return ""
        lines = [f"  {each.text}" + (f" (log {each.log})" if each.log else "") for each in self.controllers]
        return "\n".join(["controllers of add-ons:", *lines])

    def as_data(self) -> dict[str, Any]:
        """The status as plain values, for JSON."""
        return {
            "condition": self.condition.value,
            "home": str(self.home),
            "processes": [asdict(process) for process in self.processes],
            "memory": self.memory,
            "addresses": dict(self.addresses or {}),
            "silent": list(self.silent),
            "controllers": [asdict(each) for each in self.controllers],
        }


Say = Callable[[str], None]
REQUIRED: Final = ("pulumi", *lifecycle.REQUIRED)
"""Binaries the sandbox needs. Without helm, charts are checked and not installed, and the summary reports that."""

RESTART_SECONDS: Final = 60.0  # how long a command waits until a process that died runs again
PATIENCE_SECONDS: Final = 20.0  # how long a command waits for a sandbox that does not answer
LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox."""

    home: Path
    variables: Mapping[str, str]  # environment variables with which the engine works on this sandbox
    kubeconfig: Path
    in_moto: Collection[str] = ()  # AWS types that moto emulates; any other type is only recorded
    kubernetes: str = ""  # version of its API servers' binary

    @property
    def charts(self) -> Path | None:
        """The folder of the Helm charts that it installs; None without one."""
        return asked.charts(self.home)

    def engine(self, user: Mapping[str, str]) -> SandboxEngine:
        """The Pulumi CLI, configured for this sandbox."""
        environment = sandbox_environment(user, self.variables)
        pulumi = shutil.which("pulumi", path=environment.get("PATH", os.defpath))
        if pulumi is None:
            fail("no `pulumi` on the sandbox's PATH: run `slipway sandbox stop`, then start it again")
        backend = folder(environment["PULUMI_BACKEND_URL"])
        return SandboxEngine(Path(pulumi), environment, backend, Overlay(self.home / "project"))

    def client(self, platform: Platform) -> Client:
        """boto3 clients of a stack's account in its region."""
        # Here, because it imports botocore, which few commands need.
        from sandbox.aws.client import credentials  # noqa: PLC0415

        endpoint, account = self.variables["AWS_ENDPOINT_URL"], platform.account
        return late(lambda: session(account.region, credentials(endpoint, account.id, account.region), endpoint))

    def guard(self, engine: SandboxEngine, stack: str) -> Guard:
        """What runs that CLI on a stack of this sandbox."""

        def processes() -> Sequence[ProcessIdentity]:
            return lifecycle.processes(self.home)

        return Guard(stored=engine.stored(stack), say=output.say, homes=(self.home,), processes=processes)


def find_running() -> Sandbox | None:
    """The sandbox, if it and all its processes are running."""
    began, said = time.monotonic(), False
    while True:
        found = lifecycle.status()
        passed = time.monotonic() - began
        if found.dead_children and passed < RESTART_SECONDS:
            if not said:
                names = ", ".join(each.name for each in found.dead_children)
                output.say(f"{names} of the sandbox died; it is started again with its data")
            said = True
        elif found.dead_children or not found.silent or passed >= PATIENCE_SECONDS:
            break
        time.sleep(LOOK_SECONDS)
    if not found.running or found.state is None:
        return None
    if found.dead_children:
        fail(f"the sandbox is damaged: {_status(found).fix}")
    if found.silent:
        fail(f"the sandbox does not respond: {_status(found).fix}")
    return _sandbox(found.state)


def require_running() -> Sandbox:
    """The running sandbox."""
    found = find_running()
    if found is None:
        fail("the sandbox is not running: start it with `slipway sandbox start` or `slipway up STACK --sandbox`")
    return found


def say_missing() -> None:
    """Say which controllers of add-ons don't run: what waits for one is as it was left."""
    if missing := [each.text for each in load(default_home()) if each.state is not State.RUNNING]:
        output.say(f"not running: {'; '.join(missing)}. `slipway sandbox wait` ends once they do")


def start(
    say: Say,
    *,
    variables: Mapping[str, str] = os.environ,
    world: str | None = None,
) -> Sandbox:
    """A running sandbox; missing binaries are installed first, with progress messages.

    Args:
        say: Called with each progress message.
        variables: Say which charts it installs, as `SLIPWAY_KUBERNETES_PROVIDER` of this process which provider.
        world: The name of a saved one, from which it goes on; by default a new one.

    Raises:
        ToolError: A binary is missing and can't be installed.
        SandboxError: It does not start, or it is already running with another provider.
    """
    provider = _provider()
    running = lifecycle.status().running
    for tool in REQUIRED:
        # `ensure` reports its own progress, and prints nothing if the tool is already there.
        toolchain.ensure(tool)
    state = lifecycle.start(say, kubernetes_provider=provider, variables=variables, world=world)
    if not running:
        shims.install_shims(state.home / "bin")
        say(f"the sandbox is ready: AWS at {state.aws_endpoint}")
    return _sandbox(state)


def for_run(say: Say, wanted: Callable[[Path | None], Mapping[str, str]] = lambda _: os.environ) -> Sandbox:
    """The sandbox for a run: the running one, which is asked for what an environment wants, or else a new one.

    `wanted` makes that environment, from the folder of charts that the running sandbox uses.
    """
    running = find_running()
    if running is None:
        return start(say, variables=wanted(None))
    lifecycle.ask(say, running.home, _provider(), wanted(running.charts))
    return running


def stop(say: Say) -> bool:
    """Stop the sandbox; False if it was not running."""
    return lifecycle.stop(say)


def status() -> Status:
    """The current status of the sandbox."""
    return _status(lifecycle.status())


def _provider() -> Path | None:
    named = os.environ.get(official.VARIABLE)
    return official.find(named) if named else None


def _sandbox(state: SandboxState) -> Sandbox:
    return Sandbox(
        state.home, environment(state), state.kubeconfig, frozenset(state.in_moto), state.versions.get(KUBERNETES, "")
    )


def _status(found: lifecycle.SandboxStatus) -> Status:
    home = default_home()
    if found.stale:
        return Status(Condition.STALE, home)
    if not found.running or found.state is None:
        return Status(Condition.STOPPED, home)
    identities = (found.state.daemon, *found.children)
    living = [ProcessStatus(each.name, each.pid, found.memory.get(each.name, 0)) for each in identities]
    dead = [ProcessStatus(each.name, each.pid, None) for each in found.dead_children]
    addresses = {"AWS (moto)": found.state.aws_endpoint, **found.state.clusters}
    alive = Condition.SILENT if found.silent else Condition.RUNNING
    condition = Condition.DAMAGED if dead else alive
    return Status(condition, home, [*living, *dead], addresses, load(home), found.silent)
