import sys
from pathlib import Path

import pytest

from sandbox import IN_SANDBOX_SHELL, lifecycle
from sandbox.cluster import patience
from sandbox.errors import SandboxError
from tests.support.patience import too_long_once


def daemon(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run another program instead of the daemon."""
    monkeypatch.setattr(lifecycle, "_argv", lambda *_: [sys.executable, "-c", code])


def test_a_daemon_that_does_not_start_is_reported_by_its_last_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon(monkeypatch, "raise SystemExit('Traceback ...\\nerror: etcd has no room')")
    with pytest.raises(SandboxError, match=r"the sandbox did not start: etcd has no room \(log: .*daemon\.log\)"):
        lifecycle.spawn_daemon(tmp_path, None, None)


def test_a_daemon_without_output_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, "raise SystemExit(1)")
    with pytest.raises(SandboxError, match="its log is empty"):
        lifecycle.spawn_daemon(tmp_path, None, None)


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
    daemon(monkeypatch, code)
    # It can receive the signal by then.
    monkeypatch.setattr(patience, "time", too_long_once(up.exists))
    with pytest.raises(SandboxError, match=r"not ready after [\d.]+ s"):
        lifecycle.spawn_daemon(tmp_path, None, None)
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
