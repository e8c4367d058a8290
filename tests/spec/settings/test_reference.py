"""The page of all settings."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spec.settings import reference, schema
from tests.support import generated


@cache
def page() -> str:
    """The page as it would be written."""
    return reference.text()


def rows(text: str) -> dict[str, list[str]]:
    """Cells of each setting's row, by its path."""
    cells_by_path = {}
    path = ""
    for line in text.splitlines():
        if line.startswith("## "):
            path = line.removeprefix("## ").strip("`") if "`" in line else ""
        elif line.startswith("| ") and "`" in line.split("|")[1]:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            key = cells[0].partition("`")[2].partition("`")[0]
            cells_by_path[f"{path}.{key}".lstrip(".")] = cells[1:]
    return cells_by_path


def keys(name: str, definitions: dict[str, Any]) -> Iterator[str]:
    """Keys of a model and of all models inside it."""
    yield from definitions[name]["properties"]
    for part in str(definitions[name]).split("'#/$defs/")[1:]:
        below = part.partition("'")[0]
        if "properties" in definitions[below]:
            yield from keys(below, definitions)


def test_the_page_is_that_of_the_models() -> None:
    generated.check(reference.FILE, page(), generated.SETTINGS)


def test_every_setting_is_on_the_page() -> None:
    definitions = schema.generate()["$defs"]
    assert {path.rpartition(".")[2] for path in rows(page())} == set(keys("Platform", definitions))


def test_every_setting_has_a_meaning() -> None:
    assert [path for path, cells in rows(page()).items() if not cells[2]] == []


@pytest.mark.parametrize(
    ("path", "value", "default"),
    [
        ("environment.name", "text", "*required*"),
        ("pools.NAME.max", "whole number, from 1 to 1,000", "*the preset's*"),
        ("pools.NAME.mig", "settings", "*none*"),
        ("pools.NAME.instanceTypes", "list: a value listed in schema.json", "*the preset's*"),
        ("network.nat", "`single`, `per-zone`, `none`", "`single`"),
        ("network.peers", "map: network", ""),
        ("teams.NAME.retired", "true, false", "`false`"),
        ("teams.NAME.gpus.NAME.lendingLimit", "whole number, from 0 to 100,000", "*none*"),
        ("cost.limits.premium.NAME.until", "date", "*required*"),
    ],
)
def test_values_and_defaults_of_a_setting_are_listed(path: str, value: str, default: str) -> None:
    assert rows(page())[path][:2] == [value, default]


def test_it_is_written_and_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference, "FILE", tmp_path / "settings.md")
    assert reference.main(["--check"]) == 1
    assert "python -m spec.settings.reference" in capsys.readouterr().err
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0
    assert reference.main(["--wrong"]) == 2
