from pathlib import Path

import pytest

from spec import catalog
from spec.catalog import document
from tests.spec.catalog import facts

FILES = sorted((Path(catalog.__file__).parent / "data").iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_or_every_entry_in_it_has_source_and_date(path: Path) -> None:
    facts.check_sources(document.load(path.name))


def test_data_is_of_known_formats() -> None:
    assert {path.suffix for path in FILES} == {".json", ".yaml"}
    for path in FILES:
        if path.suffix == ".yaml":
            facts.check_lines(path)
