"""Shells, interrupts and killed runs, with this module's own stack in the shared sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from slipway.engine.locks import locks
from tests.e2e.world import World

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

SLIPWAY = (sys.executable, "-m", "slipway")
SECONDS = 120.0
"""A run of stack brief takes 5 to 15 s, and many times that on a busy machine."""


def environment(world: World) -> dict[str, str]:
    """With the engine's checkpoints, which are part of what a killed run leaves."""
    return {name: value for name, value in world.environment.items() if not name.startswith("PULUMI_")}


def slipway(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SLIPWAY, *arguments], cwd=world.checkout, env=environment(world), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def begin(world: World, log: IO[str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SLIPWAY, *arguments], cwd=world.checkout, env=environment(world), stdin=subprocess.DEVNULL, stdout=log,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def stack_files(world: World) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (world.checkout / "stacks").glob("Pulumi.*.yaml")}


def test_plain_pulumi_works_in_a_sandbox_shell_and_leaves_the_checkout_unchanged(world: World) -> None:
    before = stack_files(world)
    script = 'eval "$("$1" -m slipway sandbox env)" && pulumi preview -s brief --non-interactive && pulumi stack ls'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable], cwd=world.checkout, env=environment(world),
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to create" in done.stdout
    assert stack_files(world) == before
    assert {"brief", "dev", "prod", "staging"} <= {
        line.split()[0].rstrip("*") for line in done.stdout.splitlines() if line.split()
    }


def test_an_interrupt_cancels_and_leaves_no_lock(world: World, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log, begin(world, log, "up", "brief", "--sandbox") as run:
        wait_for(lambda: " creating " in path.read_text())
        run.send_signal(signal.SIGINT)
        code = run.wait(SECONDS)
    assert code not in (0, 128 + signal.SIGKILL)
    assert path.read_text().count("^C received") == 1
    assert "Traceback" not in path.read_text()
    assert locks(world.home / "pulumi", "slipway", "brief") == ()


def test_the_next_run_removes_the_lock_of_a_killed_engine(world: World, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log, begin(world, log, "up", "brief", "--sandbox") as run:
        wait_for(lambda: locks(world.home / "pulumi", "slipway", "brief"))
        (lock,) = locks(world.home / "pulumi", "slipway", "brief")
        busy = slipway(world, "refresh", "brief", "--sandbox")
        assert busy.returncode == 1
        assert f"in use by another run (process {lock.pid} " in busy.stderr
        os.kill(lock.pid, signal.SIGKILL)
        assert run.wait(SECONDS) == 128 + signal.SIGKILL
    after = slipway(world, "refresh", "brief", "--sandbox")
    assert after.returncode == 0, after.stderr
    assert f"locked by a run that is gone (process {lock.pid} " in after.stderr
    assert locks(world.home / "pulumi", "slipway", "brief") == ()
