"""Shells, interrupts and killed runs, with this module's own stack in the shared sandbox."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil
import pytest

from sandbox.kubernetes.waiting import until
from slipway.engine.stacks import locks
from spec.errors import EXIT_CANCELLED
from tests.e2e import cloud
from tests.e2e.world import World

pytestmark = pytest.mark.sandbox

SLIPWAY = (sys.executable, "-m", "slipway")
KILLS = int(os.environ.get("SLIPWAY_KILLS", "2"))
"""At how many points, each by its own seed, an `up` is killed; each takes half a minute."""
SECONDS = 600.0
"""A run of stack brief takes 5 to 15 s, and many times that on a busy machine."""
HELD = """if not pulumi.runtime.is_dry_run():
    import pathlib, time

    pathlib.Path({file!r} + "-reached").touch()
    while pathlib.Path({file!r}).exists():
        time.sleep(0.1)


"""
"""The program waits as long as a file is there."""
BEFORE = "def _declare()"


def environment(world: World) -> dict[str, str]:
    """With the engine's checkpoints, which are part of what a killed run leaves."""
    return {name: value for name, value in world.environment.items() if not name.startswith("PULUMI_")}


def slipway(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SLIPWAY, *arguments], cwd=world.checkout, env=environment(world), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def succeed(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = slipway(world, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def begin(world: World, log: IO[str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SLIPWAY, *arguments], cwd=world.checkout, env=environment(world), stdin=subprocess.DEVNULL, stdout=log,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def stack_files(world: World) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (world.checkout / "stacks").glob("Pulumi.*.yaml")}


def test_plain_pulumi_works_in_a_sandbox_shell_and_leaves_the_checkout_unchanged(world: World) -> None:
    world.succeed("sandbox", "start")
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
    with path.open("w") as log, begin(world, log, "up", "brief", "--sandbox", "--verbose") as run:
        until(lambda: " creating " in path.read_text() or None, SECONDS, "the engine creates nothing")
        run.send_signal(signal.SIGINT)
        code = run.wait(SECONDS)
    assert code not in (0, 128 + signal.SIGKILL)
    assert path.read_text().count("^C received") == 1
    assert "Traceback" not in path.read_text()
    assert locks(world.home / "pulumi", "slipway", "brief") == ()


@pytest.fixture
def held(world: World, tmp_path: Path) -> Iterator[Path]:
    """While this file is there, no run of the program ends."""
    file = tmp_path / "held"
    file.touch()
    world.edit("infra/__main__.py", BEFORE, HELD.format(file=str(file)) + BEFORE)
    yield file
    world.edit("infra/__main__.py", HELD.format(file=str(file)) + BEFORE, BEFORE)


def test_the_next_run_removes_the_lock_of_a_killed_engine(world: World, tmp_path: Path, held: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log, begin(world, log, "up", "brief", "--sandbox", "--verbose") as run:
        until(lambda: locks(world.home / "pulumi", "slipway", "brief") or None, SECONDS, "the stack has no lock")
        (lock,) = locks(world.home / "pulumi", "slipway", "brief")
        busy = slipway(world, "refresh", "brief", "--sandbox")
        assert busy.returncode == 1
        assert f"in use by another run (process {lock.pid} " in busy.stderr
        os.kill(lock.pid, signal.SIGKILL)
        assert run.wait(SECONDS) == 128 + signal.SIGKILL
    held.unlink()
    after = succeed(world, "refresh", "brief", "--sandbox")
    assert f"locked by a run that is gone (process {lock.pid} " in after.stderr
    assert locks(world.home / "pulumi", "slipway", "brief") == ()


def kill_after(world: World, created: int, log: Path) -> None:
    """Begin an `up` of stack brief, and kill its engine once so many resources are created.

    One that is over before this process gets the processor is undone and begun anew.
    """
    for _ in range(5):
        with log.open("w") as output, begin(world, output, "up", "brief", "--sandbox", "--verbose") as run:
            enough = f"{created} resources are not created"
            until(
                lambda: log.read_text().count(" created") >= created or run.poll() is not None or None, SECONDS, enough
            )
            for lock in locks(world.home / "pulumi", "slipway", "brief"):
                with suppress(ProcessLookupError):
                    os.kill(lock.pid, signal.SIGKILL)
            code = run.wait(SECONDS)
        if code == 128 + signal.SIGKILL:
            return
        assert code == 0, log.read_text()
        succeed(world, "destroy", "brief", "--sandbox", "--yes")
    pytest.fail("each run was over before it was killed")


def in_aws(world: World) -> dict[str, int]:
    """How many objects of each kind are in the account of stack brief."""
    variables = json.loads(slipway(world, "sandbox", "env", "brief", "--json").stdout)
    return {kind: len(names) for kind, names in cloud.contents(variables).items()}


@pytest.fixture(scope="module")
def complete(world: World) -> tuple[int, dict[str, int]]:
    """How many resources an undisturbed `up` of stack brief creates, and what is in AWS then; destroyed again."""
    succeed(world, "destroy", "brief", "--sandbox", "--yes")
    up = succeed(world, "up", "brief", "--sandbox", "--verbose")
    made = in_aws(world)
    succeed(world, "destroy", "brief", "--sandbox", "--yes")
    assert in_aws(world) == {}
    return up.stdout.count(" created"), made


@pytest.fixture
def removed(world: World) -> Iterator[None]:
    """The next test begins without the stack, also after a failure."""
    yield
    slipway(world, "destroy", "brief", "--sandbox", "--yes")


@pytest.mark.usefixtures("removed")
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_up_is_recovered_without_orphan_or_duplicate(
    seed: int, complete: tuple[int, dict[str, int]], world: World, tmp_path: Path
) -> None:
    total, expected = complete
    point = random.Random(seed).randint(1, total - total // 10)  # noqa: S311 - a point in a run, not a secret
    kill_after(world, point, tmp_path / "log")
    recovered = succeed(world, "state", "repair", "brief", "--sandbox", "--yes")
    second = slipway(world, "state", "repair", "brief", "--sandbox", "--yes")
    assert second.stderr.endswith("nothing to recover\n"), recovered.stderr + second.stderr
    again = succeed(world, "up", "brief", "--sandbox", "--verbose")
    # What the killed run had completed is unchanged: nothing is updated, replaced or deleted.
    assert not [
        line for line in again.stdout.splitlines() if re.match(r"^ ([~-]|\+-|-\+) ", line) and "refresh" not in line
    ]
    assert in_aws(world) == expected
    succeed(world, "destroy", "brief", "--sandbox", "--yes")
    assert in_aws(world) == {}


@pytest.mark.usefixtures("removed")
def test_the_next_run_in_the_sandbox_recovers_by_itself(world: World, tmp_path: Path) -> None:
    kill_after(world, 20, tmp_path / "log")
    # The backend would truncate one before it writes it, and no state loads whose attributes are empty.
    assert not list((world.home / "pulumi").rglob("*.attrs"))
    after = succeed(world, "up", "brief", "--sandbox", "--verbose")
    assert "operations open" in after.stderr
    assert "are in the state now" in after.stderr


@pytest.mark.usefixtures("removed")
def test_up_goes_on_after_a_destroy_that_was_interrupted(
    complete: tuple[int, dict[str, int]], world: World, tmp_path: Path
) -> None:
    """The engine forgets the objects of a cluster before the cluster is gone, and ends with 0."""
    succeed(world, "up", "brief", "--sandbox")
    path = tmp_path / "log"
    with path.open("w") as log, begin(world, log, "destroy", "brief", "--sandbox", "--yes", "--verbose") as run:
        until(lambda: path.read_text().count(" deleted") >= 5 or None, SECONDS, "nothing is deleted")
        run.send_signal(signal.SIGINT)
        code = run.wait(SECONDS)
    said = path.read_text()
    assert code == EXIT_CANCELLED, said
    assert re.search(r"interrupted: \d+ resources of stack brief exist, and the state has all of it", said)
    succeed(world, "up", "brief", "--sandbox")
    assert in_aws(world) == complete[1]


def hosts(engine: int) -> list[psutil.Process]:
    """Language hosts of an engine, which run its program."""
    words = ("sandbox.language.host", "pulumi-language-python")
    return [one for one in psutil.Process(engine).children() if any(word in " ".join(one.cmdline()) for word in words)]


@pytest.mark.usefixtures("removed")
def test_a_killed_language_host_is_named_with_the_next_command(world: World, tmp_path: Path, held: Path) -> None:
    """Its memory ran out, for example: the engine says `error reading from server: EOF`."""
    path = tmp_path / "log"
    with path.open("w") as log, begin(world, log, "up", "brief", "--sandbox", "--verbose") as run:
        until(lambda: Path(f"{held}-reached").exists() or None, SECONDS, "the program does not run")
        (lock,) = locks(world.home / "pulumi", "slipway", "brief")
        (host,) = hosts(lock.pid)
        host.kill()
        assert run.wait(SECONDS) not in (0, 128 + signal.SIGKILL)
    held.unlink()
    said = path.read_text()
    assert re.search(r"resources? of stack brief exists?\. The process that runs the program, or a provider, was", said)
    assert "`slipway state repair brief --sandbox` settles what it left open" in said
    assert "Traceback" not in said
    succeed(world, "state", "repair", "brief", "--sandbox", "--yes")
    succeed(world, "up", "brief", "--sandbox", "--verbose")


@pytest.mark.usefixtures("removed")
def test_a_cut_state_leads_to_that_of_the_run_before(complete: tuple[int, dict[str, int]], world: World) -> None:
    """What a full disk leaves: a state and a backup that are both cut."""
    succeed(world, "up", "brief", "--sandbox", "--verbose")
    state = world.home / "pulumi/.pulumi/stacks/slipway/brief.json"
    state.with_name("brief.json.bak").write_bytes(b"")
    state.write_bytes(state.read_bytes()[:-2000])
    cut = state.read_bytes()
    for command in ("preview", "up", "refresh", "destroy"):
        refused = slipway(world, command, "brief", "--sandbox", *(["--yes"] if command == "destroy" else []))
        assert refused.returncode == 1
        assert "can't be read" in refused.stderr
    assert state.read_bytes() == cut
    named = re.search(r"copy (\S+) over it", refused.stderr)
    assert named is not None
    state.write_bytes(Path(named[1]).read_bytes())
    succeed(world, "state", "repair", "brief", "--sandbox", "--yes")
    succeed(world, "up", "brief", "--sandbox", "--verbose")
    assert in_aws(world) == complete[1]
    succeed(world, "destroy", "brief", "--sandbox", "--yes")
    assert in_aws(world) == {}
