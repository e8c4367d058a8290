"""Sums are compared with those by hand, at prices that stay."""

from collections.abc import Iterator

import pytest

from tests.support import price_book


@pytest.fixture(scope="package", autouse=True)
def _fixed_prices() -> Iterator[None]:
    with price_book.fixed():
        yield
