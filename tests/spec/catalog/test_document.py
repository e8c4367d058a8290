from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from spec import catalog
from spec.catalog import document

FILES = sorted((Path(catalog.__file__).parent / "data").iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_or_every_entry_in_it_has_source_and_date(path: Path) -> None:
    loaded = document.load(path.name)

    entries = [loaded] if "source" in loaded else [*loaded["prices"].values(), loaded["spot"]]
    for entry in entries:
        origin = document.source(entry)
        assert origin.text
        assert origin.day <= date(2026, 11, 21), "a fact is not newer than the date on which it was recorded"


def test_data_is_of_known_formats() -> None:
    assert {path.suffix for path in FILES} == {".json", ".yaml"}
    assert max(len(line) for path in FILES if path.suffix == ".yaml" for line in path.read_text().splitlines()) <= 120
