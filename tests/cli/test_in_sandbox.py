"""The command with the real engine and a real sandbox: shells, interrupts, and runs that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from slipway.engine.locks import locks
from slipway.engine.project import find

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

ROOT = find(Path(__file__)).root
SLIPWAY = (sys.executable, "-m", "slipway")
SECONDS = 120.0
"""A run of stack dev takes 10 to 30 s; four times that on a busy machine."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A sandbox of this module's own."""
    home = tmp_path_factory.mktemp("sandbox")
    try:
        done = slipway(home, "sandbox", "start")
        assert done.returncode == 0, done.stderr
        yield home
    finally:
        slipway(home, "sandbox", "stop")


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PULUMI_", "SLIPWAY_"))}
    return {**kept, "SLIPWAY_SANDBOX_HOME": str(home)}


def slipway(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SLIPWAY, *arguments], cwd=ROOT, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def begin(home: Path, log: IO[str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SLIPWAY, *arguments], cwd=ROOT, env=environment(home), stdin=subprocess.DEVNULL, stdout=log,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def committed() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (ROOT / "stacks").glob("Pulumi.*.yaml")}


def test_plain_pulumi_works_in_a_shell_of_the_sandbox_and_writes_nothing_into_the_checkout(home: Path) -> None:
    before = committed()
    script = 'eval "$("$1" -m slipway sandbox env)" && pulumi preview -s dev --non-interactive && pulumi stack ls'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable], cwd=ROOT, env=environment(home), capture_output=True, text=True,
        check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to create" in done.stdout
    assert committed() == before
    assert {"dev", "prod", "staging"} <= {
        line.split()[0].rstrip("*") for line in done.stdout.splitlines() if line.split()
    }


def test_an_interrupt_cancels_and_leaves_the_stack_free(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log, begin(home, log, "up", "dev", "--sandbox") as run:
        wait_for(lambda: " creating " in path.read_text())
        run.send_signal(signal.SIGINT)
        code = run.wait(SECONDS)
    assert code not in (0, 128 + signal.SIGKILL)
    assert path.read_text().count("^C received") == 1
    assert "Traceback" not in path.read_text()
    assert locks(home / "pulumi", "slipway", "dev") == ()


def test_a_killed_engine_leaves_a_lock_and_the_next_run_takes_it_away(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log, begin(home, log, "up", "dev", "--sandbox") as run:
        wait_for(lambda: locks(home / "pulumi", "slipway", "dev"))
        (lock,) = locks(home / "pulumi", "slipway", "dev")
        busy = slipway(home, "refresh", "dev", "--sandbox")
        assert busy.returncode == 1
        assert f"in use by another run (process {lock.pid} " in busy.stderr
        os.kill(lock.pid, signal.SIGKILL)
        assert run.wait(SECONDS) == 128 + signal.SIGKILL
    after = slipway(home, "refresh", "dev", "--sandbox")
    assert after.returncode == 0, after.stderr
    assert f"locked by a run that is gone (process {lock.pid} " in after.stderr
    assert locks(home / "pulumi", "slipway", "dev") == ()
