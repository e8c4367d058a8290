from pathlib import Path

import pytest

from tests.bench.context import Bench, clean_environment

USER = {
    "PATH": "/bin",
    "AWS_PROFILE": "production",
    "PULUMI_BACKEND_URL": "s3://real",
    "SLIPWAY_SANDBOX_HOME": "/home/me/sandbox",
    "SLIPWAY_CACHE": "/cache",
    "SLIPWAY_CHARTS": "/charts",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPYCACHEPREFIX": "/elsewhere",
}


def test_commands_see_nothing_of_the_users_accounts_charts_and_sandbox_but_the_cache() -> None:
    kept = clean_environment(USER, Path("/bench"))
    assert {name for name in kept if name.startswith(("AWS_", "PULUMI_", "SLIPWAY_"))} == {
        "SLIPWAY_CACHE",
        "SLIPWAY_SANDBOX_HOME",
    }
    assert kept["SLIPWAY_SANDBOX_HOME"] == "/bench/sandbox"
    assert kept["PATH"] == "/bin"


def test_charts_are_there_for_a_block_alone_in_a_sandbox_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, calls = Bench(tmp_path, print), list[str]()
    monkeypatch.setattr(bench, "command", lambda *words: calls.append(" ".join(words)))
    monkeypatch.setattr(bench.sandbox, "stop", lambda: calls.append("stop"))
    with bench.with_charts(Path("/charts")):
        assert bench.environment["SLIPWAY_CHARTS"] == "/charts"
    assert "SLIPWAY_CHARTS" not in bench.environment
    assert calls == ["stop", "sandbox start", "stop"]


def test_bytecode_is_kept_in_the_directory_of_the_bench() -> None:
    kept = clean_environment(USER, Path("/bench"))
    assert kept["PYTHONPYCACHEPREFIX"] == "/bench/bytecode"
    assert "PYTHONDONTWRITEBYTECODE" not in kept
