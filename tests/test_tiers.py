"""Deadlines, the fast tier, and which tests a run leaves out: the rows of slow.yaml and their quarters."""

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any, Final

import pytest

from tests import tiers
from tests.tiers import ROOT

SETTINGS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]


def test_deadlines_are_by_place_and_the_process_outlives_them() -> None:
    assert tiers.seconds(PurePath("tests/spec/test_errors.py"), sandbox=False) is None
    assert tiers.seconds(PurePath("tests/sandbox/test_life.py"), sandbox=True) == tiers.SANDBOX_SECONDS
    assert tiers.seconds(PurePath("tests/e2e/test_dev.py"), sandbox=True) == tiers.SECONDS["tests/e2e"]
    assert [folder for folder in tiers.SECONDS if not (ROOT / folder).is_dir()] == []
    longest = max(tiers.SANDBOX_SECONDS, *tiers.SECONDS.values())
    assert SETTINGS["timeout"] < tiers.SANDBOX_SECONDS <= longest < SETTINGS["faulthandler_timeout"]


def test_the_fast_tier_is_folders_without_the_files_that_start_processes() -> None:
    assert tiers.fast(PurePath("tests/spec/pools/test_resolution.py"))
    assert not tiers.fast(PurePath("tests/e2e/test_dev.py"))
    assert not [file for file in tiers.STARTING if tiers.fast(PurePath(file)) or not (ROOT / file).is_file()]
    assert [file for file in tiers.STARTING if not any(PurePath(file).is_relative_to(one) for one in tiers.FAST)] == []
    printed = subprocess.check_output([sys.executable, "-m", "tests.tiers"], cwd=ROOT, text=True)
    assert printed.split() == list(tiers.FAST)


def test_every_row_of_the_rest_exists_and_the_quarters_are_about_equal() -> None:
    for name in tiers.SLOW:
        path, _, test = name.partition("::")
        assert (ROOT / "tests" / path).exists(), name
        assert not test or f"def {test}(" in (ROOT / "tests" / path).read_text(), name
    filled = Counter({quarter: 0 for quarter in range(1, tiers.QUARTERS + 1)})
    for name, quarter in tiers.QUARTER_OF.items():
        filled[quarter] += tiers.SLOW[name]
    assert max(filled.values()) <= max(1.2 * min(filled.values()), *tiers.SLOW.values())


def test_a_test_is_in_the_quarter_of_its_row_and_else_in_make_test(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"e2e/test_runs.py": 5, "scanners": 4, "spec/test_tags.py::test_one": 3, "b": 2, "a": 2}
    assert tiers.quarters(rows) == {
        "e2e/test_runs.py": 1,
        "scanners": 2,
        "spec/test_tags.py::test_one": 3,
        "a": 4,
        "b": 4,
    }
    monkeypatch.setattr(tiers, "QUARTER_OF", tiers.quarters(rows))
    assert tiers.quarter(PurePath("tests/scanners/agreement/test_x.py")) == 2
    assert tiers.quarter(PurePath("tests/spec/test_tags.py")) is None
    assert tiers.quarter(PurePath("tests/spec/test_tags.py"), "test_one") == 3
    assert tiers.quarter(PurePath("tests/e2e/test_dev.py"), "test_one") is None


@pytest.mark.parametrize(
    ("rest", "folder_is_left_out", "left"),
    [
        ("all", None, ["one", "two", "other"]),
        ("none", True, ["other"]),
        ("2", None, ["other"]),
        ("1", True, ["one", "two", "other"]),
    ],
)
def test_the_option_leaves_out_folders_and_tests(
    monkeypatch: pytest.MonkeyPatch, rest: str, folder_is_left_out: bool | None, left: list[str]
) -> None:
    monkeypatch.setattr(tiers, "QUARTER_OF", {"test_tiers.py::test_slow": 1, "scanners": 2})
    gone: list[str] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: gone.extend(item.id for item in items))
    config: Any = SimpleNamespace(getoption={"--rest": rest}.__getitem__, hook=hook)
    assert tiers.pytest_ignore_collect(ROOT / "tests/scanners", config) is folder_is_left_out
    assert tiers.pytest_ignore_collect(ROOT / "tests/test_tiers.py", config) is None
    names = {"one": "test_slow[1]", "two": "test_slow", "other": "test_other"}
    items: list[Any] = [SimpleNamespace(id=id, name=name, path=Path(__file__)) for id, name in names.items()]
    tiers.pytest_collection_modifyitems(config, items)
    assert [item.id for item in items] == left
    assert set(gone) == {"one", "two", "other"} - set(left)


def test_the_run_on_later_dates_has_no_test_of_the_sandbox_or_of_a_thread_that_waits() -> None:
    """An API server refuses certificates of a later year, and timers of threads hang under faketime 0.9.10."""
    text = (ROOT / "Makefile").read_text()
    dated = text[text.index("\nDATED := ") : text.index("\ndates: export")]
    assert '-m "not sandbox"' in dated
    assert "cli/test_display.py" in dated.partition("--ignore=")[2]
