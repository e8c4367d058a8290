"""The files that come from installed packages are as the packages have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import refresh_catalog


def test_committed_files_are_what_the_packages_give() -> None:
    assert refresh_catalog.instance_types() == (refresh_catalog.DATA / "ec2-types.json").read_text()
    assert refresh_catalog.regions() == (refresh_catalog.DATA / "regions.json").read_text()


def test_check_tells_stale_files_and_a_run_mends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(refresh_catalog, "DATA", tmp_path)

    assert refresh_catalog.main(["--check"]) == 1
    assert "stale: ec2-types.json, regions.json" in capsys.readouterr().out
    assert refresh_catalog.main([]) == 0
    assert refresh_catalog.main(["--check"]) == 0
    assert json.loads((tmp_path / "ec2-types.json").read_text())["date"] >= "2026-09-30"
