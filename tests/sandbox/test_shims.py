import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sandbox import toolchain
from sandbox.language.shims import LANGUAGE_HOST, install_shims


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
    assert install_shims(ours) == [ours / LANGUAGE_HOST, ours / "pulumi"]
    assert (ours / "pulumi").samefile(cli)
    assert not (ours / "pulumi").is_symlink(), "the CLI would look beside the file that the link leads to"
    assert os.access(ours / LANGUAGE_HOST, os.X_OK)


def test_the_host_runs_with_this_interpreter_from_any_directory(cli: Path, tmp_path: Path) -> None:
    shim, _ = install_shims(tmp_path / "our shims")
    # A module in the working directory must not shadow an installed one.
    (tmp_path / "slipway.py").write_text("raise SystemExit('shadowed')")
    with subprocess.Popen([shim, "127.0.0.1:1"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert int(host.stdout.readline()) > 0
        assert psutil.Process(host.pid).cmdline()[0] == sys.executable
        host.terminate()
    assert host.returncode == 0


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
    assert install_shims(tmp_path / "ours") == [tmp_path / "ours" / LANGUAGE_HOST]
