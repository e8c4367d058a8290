"""What a sandbox left that ended by itself: moved aside by a start, deleted by `stop` alone."""

import errno
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import lifecycle, state
from sandbox.cluster import apiserver
from sandbox.errors import SandboxError
from sandbox.identity import ProcessIdentity
from sandbox.state import STATE_FILE, SandboxState, save


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"boot": "another"}, "the machine was restarted"),
        ({"started": 1}, "was killed or has crashed; log "),
        (None, f"its {STATE_FILE} is missing, or can't be read"),
    ],
)
def test_what_a_sandbox_left_is_moved_aside_by_the_next_start(
    change: dict[str, Any] | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apiserver, "require", lambda _: Path("unused"))
    monkeypatch.setattr(lifecycle, "spawn_daemon", _refuse)
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


def _refuse(*_: object) -> None:
    msg = "not today"
    raise SandboxError(msg)


def test_what_was_never_ready_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apiserver, "require", lambda _: Path("unused"))
    monkeypatch.setattr(lifecycle, "spawn_daemon", _refuse)
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

    def busy(path: Path, _target: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))

    monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(SandboxError, match=r"can't be moved to .*nothing was deleted"):
        state.move_aside(tmp_path)
    assert (tmp_path / "etcd").is_dir()
    assert (tmp_path / STATE_FILE).exists()
