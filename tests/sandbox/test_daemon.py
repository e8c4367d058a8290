"""The daemon in this process, and how it is started."""

import errno
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest

from sandbox import IN_SANDBOX_SHELL, daemon, lifecycle
from sandbox.assembly import Sandbox, Settings
from sandbox.cluster import patience
from sandbox.errors import SandboxError
from sandbox.state import CHILDREN_FILE, STATE_FILE
from tests.support.patience import too_long_once


class FakeSandbox:
    """Starts and stops nothing; records its calls."""

    def __init__(self, settings: Settings, later: threading.Timer | None = None) -> None:
        self.settings = settings
        self.stopped = False
        self.warmed = False
        self._later = later

    def warm(self) -> None:
        """The daemon has its handlers by now: without them, a signal would end the tests."""
        self.warmed = True
        if self._later:
            self._later.start()

    def stop(self) -> None:
        assert not (self.settings.home / STATE_FILE).exists()
        self.stopped = True


@pytest.fixture(autouse=True)
def handlers() -> object:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def timers() -> list[threading.Timer]:
    """What happens a moment after the daemon is ready."""
    return []


@pytest.fixture
def sandboxes(monkeypatch: pytest.MonkeyPatch, timers: list[threading.Timer]) -> list[FakeSandbox]:
    made: list[FakeSandbox] = []

    def start(settings: Settings) -> FakeSandbox:
        made.append(FakeSandbox(settings, *timers))
        return made[0]

    monkeypatch.setattr(Sandbox, "start", start)
    return made


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_daemon_and_removes_its_files(
    tmp_path: Path, sandboxes: list[FakeSandbox], timers: list[threading.Timer], number: signal.Signals
) -> None:
    for name in (STATE_FILE, CHILDREN_FILE):
        (tmp_path / name).touch()
    timers.append(threading.Timer(0.1, os.kill, (os.getpid(), number)))
    assert daemon.main(["--home", str(tmp_path)]) == 0
    timers[0].join()
    assert sandboxes[0].stopped
    assert list(tmp_path.iterdir()) == []


def test_the_daemon_ends_when_its_home_is_deleted(
    tmp_path: Path, sandboxes: list[FakeSandbox], timers: list[threading.Timer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "LOOK_SECONDS", 0.02)
    home = tmp_path / "home"
    home.mkdir()
    (home / STATE_FILE).touch()
    timers.append(threading.Timer(0.1, shutil.rmtree, (home,)))
    assert daemon.main(["--home", str(home)]) == 0
    timers[0].join()
    assert sandboxes[0].stopped
    assert not home.exists()


def test_the_daemon_stays_when_its_home_can_not_be_looked_at(
    tmp_path: Path, sandboxes: list[FakeSandbox], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A file system that is out of reach has deleted nothing."""
    monkeypatch.setattr(daemon, "LOOK_SECONDS", 0.02)
    (tmp_path / STATE_FILE).touch()
    real = Path.stat
    looks: list[Path] = []

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path.name == STATE_FILE and len(looks) < 3:
            looks.append(path)
            if len(looks) == 3:
                os.kill(os.getpid(), signal.SIGTERM)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    assert daemon.main(["--home", str(tmp_path)]) == 0
    assert len(looks) == 3
    assert "can't be looked at" in caplog.text


def test_the_daemon_starts_with_the_requested_settings(
    tmp_path: Path, sandboxes: list[FakeSandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Event, "wait", lambda self, timeout: True)
    daemon.main(["--home", str(tmp_path), "--official", "x"])
    assert sandboxes[0].settings == Settings(tmp_path, Path("x"))
    assert sandboxes[0].warmed


def test_the_reason_of_a_failed_start_is_the_last_line_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Sandbox, "start", Mock(side_effect=SandboxError("no room\n    at all")))
    assert daemon.main(["--home", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "error: no room at all\n"


def in_its_place(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run another program instead of the daemon."""
    monkeypatch.setattr(lifecycle, "_argv", lambda *_: [sys.executable, "-c", code])


def test_a_daemon_that_does_not_start_is_reported_by_its_last_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_its_place(monkeypatch, "raise SystemExit('Traceback ...\\nerror: etcd has no room')")
    with pytest.raises(SandboxError, match=r"the sandbox did not start: etcd has no room \(log: .*daemon\.log\)"):
        lifecycle.spawn_daemon(tmp_path)


def test_a_daemon_without_output_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_its_place(monkeypatch, "raise SystemExit(1)")
    with pytest.raises(SandboxError, match="its log is empty"):
        lifecycle.spawn_daemon(tmp_path)


def test_a_daemon_that_is_not_ready_in_time_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up, marker = tmp_path / "up", tmp_path / "ended"
    code = f"""
import signal, sys, time
from pathlib import Path
def end(*_):
    Path({str(marker)!r}).touch()
    sys.exit()
signal.signal(signal.SIGTERM, end)
Path({str(up)!r}).touch()
time.sleep(600)
"""
    in_its_place(monkeypatch, code)
    # It can receive the signal by then.
    monkeypatch.setattr(patience, "time", too_long_once(up.exists))
    with pytest.raises(SandboxError, match=r"not ready after [\d.]+ s"):
        lifecycle.spawn_daemon(tmp_path)
    assert marker.exists()


def test_the_daemon_gets_no_credentials_cluster_or_proxy_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "PULUMI_ACCESS_TOKEN", "KUBECONFIG", "HTTPS_PROXY", "http_proxy", "MOTO_ACCOUNT_ID"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    found = lifecycle.daemon_environment()
    assert not {"AWS_PROFILE", "PULUMI_ACCESS_TOKEN", "KUBECONFIG", "HTTPS_PROXY", "http_proxy"} & found.keys()
    assert "MOTO_ACCOUNT_ID" not in found
    assert found["AWS_REGION"] == "eu-west-1"
    assert "PATH" in found


@pytest.mark.parametrize(("shell", "expected"), [("", "30"), ("1", None)])
def test_the_daemon_ignores_what_a_sandbox_shell_sets_for_the_engine(
    shell: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IN_SANDBOX_SHELL, shell)
    monkeypatch.setenv("GOGC", "30")
    assert lifecycle.daemon_environment().get("GOGC") == expected
