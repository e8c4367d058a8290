"""The sandbox as the CLI uses it: the only module that starts, queries and stops it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway import toolchain
from slipway.cli.status import Condition, ProcessStatus, Status
from slipway.engine.backend import folder
from slipway.engine.invocation import sandbox_environment
from slipway.engine.stackfiles import Overlay
from slipway.engine.stacks import SandboxEngine
from slipway.sandbox import lifecycle, official, shims
from slipway.sandbox.controllers import report
from slipway.sandbox.environment import environment
from slipway.sandbox.state import KUBERNETES, SandboxState, default_home
from spec.errors import SlipwayError

Say = Callable[[str], None]
REQUIRED: Final = ("pulumi", *lifecycle.REQUIRED)
"""Binaries the sandbox needs. Without helm, charts are checked and not installed, and the summary reports that."""


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox."""

    home: Path
    variables: Mapping[str, str]
    """Environment variables with which the engine works on this sandbox."""
    kubeconfig: Path
    in_moto: Collection[str] = ()
    """AWS types that moto emulates; any other type is only recorded."""
    kubernetes: str = ""
    """Version of its API servers' binary."""
    charts: str | None = None
    """The folder of Helm charts that it installs; None without one."""

    def engine(self, user: Mapping[str, str]) -> SandboxEngine:
        """The Pulumi CLI, configured for this sandbox.

        Raises:
            SlipwayError: No CLI is on the sandbox's PATH.
        """
        environment = sandbox_environment(user, self.variables)
        pulumi = shutil.which("pulumi", path=environment.get("PATH", os.defpath))
        if pulumi is None:
            msg = "no `pulumi` on the sandbox's PATH: run `slipway sandbox stop`, then start it again"
            raise SlipwayError(msg)
        backend = folder(environment["PULUMI_BACKEND_URL"])
        return SandboxEngine(Path(pulumi), environment, backend, Overlay(self.home / "project"))


def find_running() -> Sandbox | None:
    """The sandbox, if it and all its processes are running.

    Raises:
        SlipwayError: It is running, but one of its processes has died.
    """
    found = lifecycle.status()
    if not found.running or found.state is None:
        return None
    if found.dead_children:
        msg = f"the sandbox is damaged: {_status(found).fix}"
        raise SlipwayError(msg)
    return _sandbox(found.state)


def start(
    say: Say, *, aws_port: int | None = None, account: str | None = None, kubernetes_provider: str | None = None
) -> Sandbox:
    """A running sandbox; missing binaries are installed first, with progress messages.

    Args:
        say: Called with each progress message.
        aws_port: Port of moto; by default a free one.
        account: The only account to act as; by default the account of each stack.
        kubernetes_provider: `official`, or its path, in place of the sandbox's own; by default what the environment
            variable `SLIPWAY_KUBERNETES_PROVIDER` names.

    Raises:
        ToolError: A binary is missing and can't be installed.
        SandboxError: It does not start, or it is already running with another port, account or provider.
    """
    choice = kubernetes_provider or os.environ.get(official.VARIABLE)
    provider = official.find(choice) if choice else None
    running = lifecycle.status().running
    for tool in REQUIRED:
        # `ensure` reports its own progress, and prints nothing if the tool is already there.
        toolchain.ensure(tool)
    state = lifecycle.start(say, aws_port=aws_port, account=account, kubernetes_provider=provider)
    if not running:
        shims.install_shims(state.home / "bin")
        say(f"the sandbox is ready: AWS at {state.aws_endpoint}")
    return _sandbox(state)


def stop(say: Say) -> bool:
    """Stop the sandbox; False if it was not running."""
    return lifecycle.stop(say)


def status() -> Status:
    """The current status of the sandbox."""
    return _status(lifecycle.status())


def _sandbox(state: SandboxState) -> Sandbox:
    return Sandbox(
        state.home,
        environment(state),
        state.kubeconfig,
        frozenset(state.in_moto),
        state.versions.get(KUBERNETES, ""),
        state.charts,
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
    condition = Condition.DAMAGED if dead else Condition.RUNNING
    return Status(condition, home, [*living, *dead], addresses, report.load(home))
