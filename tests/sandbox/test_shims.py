import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from sandbox import lifecycle, state, toolchain
from sandbox.cluster import apiserver
from sandbox.environment import PYTHON
from sandbox.errors import SandboxError
from sandbox.identity import ProcessIdentity
from sandbox.language.shims import DYNAMIC, LANGUAGE_HOST, install_shims
from sandbox.state import STATE_FILE, SandboxState, save


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `pulumi` without a language host beside it, like one built from source."""
    path = tmp_path / "cli" / "pulumi"
    executable(path)
    monkeypatch.setattr(toolchain, "find", {"pulumi": path}.get)
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/bin"]))
    return path


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_host_and_the_cli_are_in_one_directory(cli: Path, tmp_path: Path) -> None:
    ours = tmp_path / "our shims"
    assert install_shims(ours) == [ours / LANGUAGE_HOST, ours / DYNAMIC, ours / "pulumi"]
    assert (ours / "pulumi").samefile(cli)
    assert not (ours / "pulumi").is_symlink(), "the CLI would look beside the file that the link leads to"
    assert os.access(ours / LANGUAGE_HOST, os.X_OK)


def test_the_host_runs_with_this_interpreter_from_any_directory(cli: Path, tmp_path: Path) -> None:
    shim, *_ = install_shims(tmp_path / "our shims")
    # A module in the working directory must not shadow an installed one.
    (tmp_path / "slipway.py").write_text("raise SystemExit('shadowed')")
    with subprocess.Popen([shim, "127.0.0.1:1"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert int(host.stdout.readline()) > 0
        assert psutil.Process(host.pid).cmdline()[0] == sys.executable
        host.terminate()
    assert host.returncode == 0


def test_a_command_of_another_checkout_runs_its_own_host(cli: Path, tmp_path: Path) -> None:
    """Both use the sandbox that one of them began."""
    shim, *_ = install_shims(tmp_path / "our shims")
    other = executable(tmp_path / "other python")
    other.write_text('#!/bin/sh\necho "$@"\n')
    said = subprocess.run(
        [shim, "127.0.0.1:1"], env={**os.environ, PYTHON: str(other)}, capture_output=True, text=True, check=True
    )
    assert said.stdout == "-P -m sandbox.language.host 127.0.0.1:1\n"


@pytest.mark.parametrize("place", ["beside the CLI", "on PATH"])
def test_ours_is_removed_if_the_official_host_exists(
    cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    ours = tmp_path / "ours"
    assert install_shims(ours)
    monkeypatch.setenv("PATH", os.pathsep.join([str(ours), "/usr/bin", str(tmp_path / "official")]))
    assert install_shims(ours), "our own shim on PATH was taken for the official one"
    executable((cli.parent if place == "beside the CLI" else tmp_path / "official") / LANGUAGE_HOST)
    assert install_shims(ours) == []
    assert list(ours.iterdir()) == []


def test_without_a_cli_only_the_host_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Path) -> None:
    monkeypatch.setattr(toolchain, "find", lambda name: None)
    assert install_shims(tmp_path / "ours") == [tmp_path / "ours" / LANGUAGE_HOST, tmp_path / "ours" / DYNAMIC]


# What a sandbox left that ended by itself: moved aside by a start, deleted by `stop` alone.


@pytest.mark.parametrize(("change", "why"), [
    ({"boot": "another"}, "the machine was restarted"),
    ({"started": 1}, "was killed or has crashed; log "),
    (None, f"its {STATE_FILE} is missing, or can't be read"),
])  # fmt: skip
def test_what_a_sandbox_left_is_moved_aside_by_the_next_start(
    change: dict[str, Any] | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apiserver, "require", lambda _: Path("unused"))
    monkeypatch.setattr(lifecycle, "spawn_daemon", Mock(side_effect=SandboxError("not today")))
    stack = tmp_path / "pulumi/.pulumi/stacks/slipway/dev.json"
    for turn in (1, 2):
        if change is not None:
            daemon = replace(ProcessIdentity.of("daemon", os.getpid()), **change)
            save(SandboxState(tmp_path, daemon, "http://127.0.0.1:1", 2, 3))
        stack.parent.mkdir(parents=True)
        stack.write_text(f"state {turn}")
        said: list[str] = []
        with pytest.raises(SandboxError, match="not today"):
            lifecycle.start(said.append, home=tmp_path)
        kept = state.moved_aside(tmp_path)
        assert len(kept) == turn
        assert (kept[-1] / "pulumi/.pulumi/stacks/slipway/dev.json").read_text() == f"state {turn}"
        assert why in said[0]
        assert str(kept[-1]) in said[0]
    said = []
    assert lifecycle.stop(said.append, tmp_path)
    assert said == ["deleted 2 sandboxes that had been moved aside"]
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_what_was_never_ready_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apiserver, "require", lambda _: Path("unused"))
    monkeypatch.setattr(lifecycle, "spawn_daemon", Mock(side_effect=SandboxError("not today")))
    (tmp_path / "etcd").mkdir()
    with pytest.raises(SandboxError, match="not today"):
        lifecycle.start(home=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "asked.json"}


def test_a_running_sandbox_with_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apiserver, "require", lambda _: Path("unused"))
    (tmp_path / STATE_FILE).write_text('{"format": 1}')
    with subprocess.Popen(["sleep", "60"]) as process:
        monkeypatch.setattr(lifecycle, "daemons", lambda _: [ProcessIdentity.of("daemon", process.pid)])
        with pytest.raises(SandboxError, match=rf"a sandbox runs in .*\(pid {process.pid}\).*another version"):
            lifecycle.start(home=tmp_path)
        assert process.poll() is None
        process.kill()
    assert (tmp_path / STATE_FILE).exists()


def test_what_can_not_be_moved_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / STATE_FILE).touch()
    (tmp_path / "etcd").mkdir()

    monkeypatch.setattr(Path, "rename", Mock(side_effect=OSError(errno.EBUSY, os.strerror(errno.EBUSY))))
    with pytest.raises(SandboxError, match=r"can't be moved to .*nothing was deleted"):
        state.move_aside(tmp_path)
    assert (tmp_path / "etcd").is_dir()
    assert (tmp_path / STATE_FILE).exists()
