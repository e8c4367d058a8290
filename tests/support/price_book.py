"""The prices that tests calculate with by hand, in place of the catalog's, which change whenever they are refreshed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import yaml

from spec.catalog import prices
from spec.catalog.prices import Book

FILE: Final = Path(__file__).with_name("prices.yaml")
BOOK: Final[Book] = prices.read(yaml.safe_load(FILE.read_text(encoding="utf-8")))


def write(folder: Path) -> None:
    """Put these prices in place of all in a copy of the catalog's folder."""
    for path in folder.glob("prices*.yaml"):
        path.unlink()
    shutil.copy2(FILE, folder / "prices.yaml")


@contextmanager
def fixed() -> Iterator[None]:
    """Let the catalog have these prices, and no other region."""
    parts = {"HERE": BOOK, "PRICES": BOOK.prices, "UNPRICED": BOOK.unpriced, "SPOT": BOOK.spot}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in parts.items():
            patch.setattr(prices, name, value)
        patch.setattr(prices, "book", lambda _region: BOOK)
        yield
