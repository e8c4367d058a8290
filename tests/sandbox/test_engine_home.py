import os
import subprocess
from pathlib import Path

import pytest

from sandbox import toolchain
from sandbox.environment import WHY, prepare_engine_home


def listed(home: Path) -> None:
    """A run of the real CLI with this home."""
    cli = toolchain.find("pulumi")
    assert cli is not None
    environment = {**os.environ, "PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    done = subprocess.run([cli, "plugin", "ls"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.sandbox
def test_the_cli_writes_logs_by_default_but_silently_none_into_the_sandbox_home(tmp_path: Path) -> None:
    listed(tmp_path / "plain")
    assert list((tmp_path / "plain" / "logs").iterdir()), (
        "the CLI writes no logs any more: prepare_engine_home is of no use"
    )
    prepare_engine_home(tmp_path / "ours")
    listed(tmp_path / "ours")
    assert (tmp_path / "ours" / "logs").read_text(encoding="utf-8") == WHY


def test_an_existing_log_directory_is_kept(tmp_path: Path) -> None:
    (tmp_path / "home" / "logs").mkdir(parents=True)
    prepare_engine_home(tmp_path / "home")
    assert (tmp_path / "home" / "logs").is_dir()
