"""The generated files are current with the installed packages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import generated

Content = dict[str, str]


@pytest.fixture(scope="module")
def refresh_catalog() -> Any:
    """The tool, which imports moto's EC2: every worker that only collects this file would wait for that."""
    from tools import refresh_catalog  # noqa: PLC0415

    return refresh_catalog


@pytest.fixture(scope="module")
def content(refresh_catalog: Any) -> Content:
    """Content that the packages give, by file: read once, because it takes half a second (2026-11)."""
    return {"ec2-types.json": refresh_catalog.instance_types(), "regions.json": refresh_catalog.regions()}


@pytest.mark.parametrize("name", ["ec2-types.json", "regions.json"])
def test_committed_files_are_current(refresh_catalog: Any, content: Content, name: str) -> None:
    generated.check(refresh_catalog.DATA / name, content[name], generated.CATALOG)


def test_check_reports_stale_files_and_a_run_updates_them(
    refresh_catalog: Any,
    content: Content,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(refresh_catalog, "DATA", tmp_path)
    monkeypatch.setattr(refresh_catalog, "instance_types", lambda: content["ec2-types.json"])
    monkeypatch.setattr(refresh_catalog, "regions", lambda: content["regions.json"])

    assert refresh_catalog.main(["--check"]) == 1
    assert "stale: ec2-types.json, regions.json" in capsys.readouterr().out
    assert refresh_catalog.main([]) == 0
    assert refresh_catalog.main(["--check"]) == 0
    assert json.loads((tmp_path / "ec2-types.json").read_text())["date"] >= "2026-09-30"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == content
