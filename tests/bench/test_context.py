from __future__ import annotations

from pathlib import Path

from tests.bench.context import clean_environment

USER = {
    "PATH": "/bin",
    "AWS_PROFILE": "production",
    "PULUMI_BACKEND_URL": "s3://real",
    "SLIPWAY_SANDBOX_HOME": "/home/me/sandbox",
    "SLIPWAY_CACHE": "/cache",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPYCACHEPREFIX": "/elsewhere",
}


def test_commands_see_nothing_of_the_users_accounts_and_sandbox_but_the_cache() -> None:
    kept = clean_environment(USER, Path("/bench"))
    assert {name for name in kept if name.startswith(("AWS_", "PULUMI_", "SLIPWAY_"))} == {
        "SLIPWAY_CACHE",
        "SLIPWAY_SANDBOX_HOME",
    }
    assert kept["SLIPWAY_SANDBOX_HOME"] == "/bench/sandbox"
    assert kept["PATH"] == "/bin"


def test_bytecode_is_kept_in_the_benchs_own_directory() -> None:
    kept = clean_environment(USER, Path("/bench"))
    assert kept["PYTHONPYCACHEPREFIX"] == "/bench/bytecode"
    assert "PYTHONDONTWRITEBYTECODE" not in kept
