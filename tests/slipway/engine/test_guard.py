"""A run of the engine with an eye on the state and on the free space."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox import toolchain
from sandbox.identity import ProcessIdentity
from slipway.engine import guard as subject
from slipway.engine import process
from slipway.engine.guard import Guard
from slipway.engine.invocation import Invocation
from slipway.engine.stored import StoredState
from spec.errors import SlipwayError
from tests.slipway.engine.fake import FakePulumi
from tests.slipway.engine.states import checkpoint, file, things
from tests.support.patience import SECONDS

SMALL_MIB = 12


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def stored(tmp_path: Path) -> StoredState:
    found = StoredState(tmp_path / "backend", "dev")
    file(found.backend).write_text(checkpoint(things(3)))
    return found


@pytest.fixture
def guard(stored: StoredState, said: list[str]) -> Guard:
    return Guard(stored=stored, say=said.append)


def call(fake: FakePulumi, *arguments: str) -> Invocation:
    return Invocation((str(fake.path), *arguments), os.environ, fake.directory)


def in_background(guard: Guard, invocation: Invocation, codes: list[int]) -> threading.Thread:
    """A run in a thread, which can't receive signals: the handlers belong to the main thread."""
    thread = threading.Thread(target=lambda: codes.append(guard.run(invocation)))
    thread.start()
    return thread


def wait_for(condition: object) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_a_preview_runs_on_a_full_disk(guard: Guard, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 0))
    assert guard.run(call(fake, "preview")) == 0
    assert guard.run(call(fake, "destroy", "--preview-only")) == 0


@pytest.mark.parametrize("command", ["preview", "up", "refresh", "destroy"])
def test_no_command_runs_on_a_cut_state(guard: Guard, stored: StoredState, fake: FakePulumi, command: str) -> None:
    file(stored.backend).write_text(checkpoint(things(3))[:500])
    with pytest.raises(SlipwayError, match="can't be read"):
        guard.run(call(fake, command))
    assert fake.calls == []


def test_a_run_without_space_is_refused_with_sizes(
    guard: Guard, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 100 << 20))
    with pytest.raises(SlipwayError, match=r"only 100 MiB are free at .*needs 160: 128 MiB, .*Free 61 MiB there"):
        guard.run(call(fake, "up"))
    assert fake.calls == []


def test_a_run_that_leaves_a_cut_state_says_so(
    guard: Guard, stored: StoredState, fake: FakePulumi, said: list[str]
) -> None:
    fake.tell("writes", checkpoint(things(3))[:500])
    guard.run(call(fake, "up"))
    assert "error: the state of stack dev can't be read" in said[-1]


def test_scarce_space_interrupts_the_engine_once_as_ctrl_c_does(
    guard: Guard, fake: FakePulumi, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.tell("hang", "until interrupted")
    real = shutil.disk_usage

    def usage(path: Path) -> Usage:
        started = any("up" in one["arguments"] for one in fake.calls)
        return Usage(*real(path)[:2], 40 << 20 if started else 1 << 40)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert guard.run(call(fake, "up")) == 255
    assert fake.received == [signal.SIGTERM]
    assert said[0].startswith("only 40 MiB were free at ")
    assert "the run was interrupted" in said[-1]


def test_a_stopped_process_is_named_once_and_the_run_waits(
    stored: StoredState, fake: FakePulumi, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "STOPPED_SECONDS", 0.3)
    monkeypatch.setattr(process, "_FORWARDED", ())
    fake.tell("hang", "until interrupted")
    codes: list[int] = []
    with subprocess.Popen(["sleep", "600"]) as daemon:
        guard = Guard(stored=stored, say=said.append, processes=lambda: [ProcessIdentity.of("daemon", daemon.pid)])
        thread = in_background(guard, call(fake, "up"), codes)
        wait_for(lambda: fake.calls)
        daemon.send_signal(signal.SIGSTOP)
        wait_for(lambda: said)
        time.sleep(0.6)
        assert len(said) == 1
        assert f"daemon (pid {daemon.pid}) is stopped" in said[0]
        assert f"`kill -CONT {daemon.pid}`" in said[0]
        assert codes == []
        daemon.kill()
        os.kill(fake.calls[-1]["pid"], signal.SIGTERM)
        thread.join()
    assert codes == [255]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few MiB."""
    if os.getuid():
        pytest.skip("a file system of its own needs root")
    place = tmp_path / "small"
    place.mkdir()
    options = ["-o", f"size={SMALL_MIB}m"]
    done = subprocess.run(
        ["mount", "-t", "tmpfs", *options, "none", place], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a file system of its own needs mount(2): {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.sandbox
@pytest.mark.parametrize("guarded", [True, False])
def test_a_full_disk_costs_no_state(
    small: Path, tmp_path: Path, said: list[str], guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real engine, which without the reserve leaves an empty state, and fails after half a minute."""
    monkeypatch.setattr(subject, "LOW_BYTES", 0)
    monkeypatch.setattr(subject, "RESERVED_BYTES", 4 << 20 if guarded else 0)
    backend, other = small / "backend", tmp_path / "other"
    backend.mkdir()
    other.mkdir()
    (other / "Pulumi.yaml").write_text("name: slipway\nruntime: python\n")
    (other / "state.json").write_text(json.dumps({"version": 3, "deployment": {"resources": things(400)}}))
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "PULUMI_HOME": str(other / "home"),
        "PULUMI_BACKEND_URL": f"file://{backend}?metadata=skip", "PULUMI_CONFIG_PASSPHRASE": "x",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }  # fmt: skip
    pulumi = str(toolchain.find("pulumi"))

    def engine(*arguments: str) -> Invocation:
        return Invocation((pulumi, *arguments, "--stack", "dev", "--non-interactive"), environment, other)

    guard = Guard(stored=StoredState(backend, "dev"), say=said.append)
    assert guard.run(engine("stack", "init")) == 0
    free = shutil.disk_usage(small).free
    with (small / "fill").open("wb") as filler:
        # What is left has room for the stack's lock, and for nothing else.
        os.posix_fallocate(filler.fileno(), 0, free - subject.RESERVED_BYTES - (64 << 10))
    code = guard.run(engine("stack", "import", "--file", "state.json"))
    assert (code == 0) is guarded
    (small / "fill").unlink()
    assert bool(said) is not guarded
    if guarded:
        assert guard.run(engine("stack", "export", "--file", str(other / "exported.json"))) == 0
    else:
        assert "error: the state of stack dev can't be read" in said[-1]
