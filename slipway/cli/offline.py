"""The sandbox as the command sees it: the one place that knows how it is started, asked and ended."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway import toolchain
from slipway.cli.status import Condition, ProcessStatus, Status
from slipway.engine.invocation import sandbox_environment
from slipway.engine.stackfiles import Overlay
from slipway.engine.stacks import SandboxEngine
from slipway.sandbox import lifecycle, shims
from slipway.sandbox.environment import environment
from slipway.sandbox.state import SandboxState, default_home
from spec.errors import SlipwayError

Say = Callable[[str], None]
REQUIRED: Final = ("pulumi", *lifecycle.REQUIRED)
"""What nothing works without; without helm, charts are recorded and not rendered, and that is said."""
_FILE_SCHEME: Final = "file://"


@dataclass(frozen=True)
class Sandbox:
    """A sandbox that runs."""

    home: Path
    variables: Mapping[str, str]
    """What the engine must have in its environment to work on it."""
    kubeconfig: Path
    in_moto: Collection[str] = ()
    """Types of pulumi_aws that live in moto; any other is a record."""

    def engine(self, user: Mapping[str, str]) -> SandboxEngine:
        """The CLI, turned to this sandbox.

        Raises:
            SlipwayError: No CLI is on the sandbox's PATH.
        """
        environment = sandbox_environment(user, self.variables)
        pulumi = shutil.which("pulumi", path=environment.get("PATH", os.defpath))
        if pulumi is None:
            msg = "no `pulumi` on the sandbox's PATH: `slipway sandbox stop`, then start it again"
            raise SlipwayError(msg)
        backend = Path(environment["PULUMI_BACKEND_URL"].removeprefix(_FILE_SCHEME))
        return SandboxEngine(Path(pulumi), environment, backend, Overlay(self.home / "project"))


def find_running() -> Sandbox | None:
    """The sandbox, if it runs and all its processes live.

    Raises:
        SlipwayError: It runs, but a part of it has died.
    """
    found = lifecycle.status()
    if not found.running or found.state is None:
        return None
    if found.dead_children:
        msg = f"the sandbox is damaged: {_status(found).fix}"
        raise SlipwayError(msg)
    return _sandbox(found.state)


def start(say: Say, *, aws_port: int | None = None, account: str | None = None) -> Sandbox:
    """A running sandbox with everything it needs; what is missing is made first, with progress.

    Args:
        say: Told of what is being done.
        aws_port: Port of moto, a free one where not given.
        account: The one account it acts as; whichever each stack names, where not given.

    Raises:
        ToolError: A binary is missing and can't be made.
        SandboxError: It does not start, or it runs already with another port or account.
    """
    running = lifecycle.status().running
    for tool in REQUIRED:
        # `ensure` tells of its own progress where it has work to do, and is silent where it has none.
        toolchain.ensure(tool)
    state = lifecycle.start(say, aws_port=aws_port, account=account)
    if not running:
        shims.install_shims(state.home / "bin")
        say(f"the sandbox is ready: AWS at {state.aws_endpoint}")
    return _sandbox(state)


def stop(say: Say) -> bool:
    """End the sandbox; False where there was none."""
    return lifecycle.stop(say)


def status() -> Status:
    """The sandbox as it is now."""
    return _status(lifecycle.status())


def _sandbox(state: SandboxState) -> Sandbox:
    return Sandbox(state.home, environment(state), state.kubeconfig, frozenset(state.in_moto))


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
    return Status(Condition.DAMAGED if dead else Condition.RUNNING, home, [*living, *dead], addresses)
