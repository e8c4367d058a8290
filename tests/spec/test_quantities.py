"""Quantities are parsed as Kubernetes parses them, and other text is refused."""

from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.quantities import (
    counted,
    is_amount,
    parse,
    percent,
    quantity,
    readable,
    seconds,
    to_mebibytes,
    total,
    written,
)
from tests.support.cases import beside

CASES: Final = beside(__file__)


@pytest.mark.parametrize(("text", "value"), CASES["quantities are parsed exactly"])
def test_quantities_are_parsed_exactly(text: str | int, value: str | int) -> None:
    assert parse(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", ".", "1 GB", "1.2.3", "1e3Gi", "1gi", "Gi", "--1", "1e999", "1\n"])
def test_text_that_is_not_a_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a Kubernetes quantity"):
        parse(text)
    assert not is_amount(text)


@pytest.mark.parametrize(("thing", "holds"), [("1e3", True), (0, True), ("-1", False), (True, False), (1.5, False)])
def test_an_amount_that_can_be_requested_is_text_or_whole_and_not_negative(thing: object, holds: bool) -> None:
    assert is_amount(thing) is holds


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1000, "1k"), (1500, "1500"), (20_000, "20k"), (3_000_000, "3M")]
)
def test_a_number_is_spelled_as_the_api_server_returns_it(number: int, text: str) -> None:
    assert counted(number) == text
    assert parse(text) == number


@given(st.text(alphabet="0123456789.+-eEmunkKMGTPi ", max_size=8))
def test_any_text_is_either_an_amount_or_not(text: str) -> None:
    assert is_amount(text) in (True, False)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("250m", "250m"), ("1.5", "1500m"), (2, "2"), ("1Ki", "1024"), ("2k", "2000"), ("1e3", "1000"), ("1n", "1m")],
)
def test_amounts_are_written_in_base_units(text: str | int, canonical: str) -> None:
    assert written(parse(text)) == canonical


def test_readable_amounts_have_memory_in_gib_and_the_rest_as_numbers() -> None:
    assert to_mebibytes("1Gi") == 1024
    assert readable("memory", parse("1536Mi")) == "1.5 GiB"
    assert readable("hugepages-2Mi", parse("512Mi")) == "0.5 GiB"
    assert readable("cpu", parse("1500m")) == "1.5"
    assert readable("nvidia.com/gpu", parse("100")) == "100"


@pytest.mark.parametrize(
    ("duration", "expected"), [("24h", 86400), ("1h30m", 5400), ("90s", 90), ("10m", 600), ("0s", 0)]
)
def test_hours_minutes_and_seconds_add_up(duration: str, expected: int) -> None:
    assert seconds(duration) == expected


@pytest.mark.parametrize(("resource", "amount", "written"), CASES["a quantity is written as the api server returns it"])
def test_a_quantity_is_written_as_the_api_server_returns_it(resource: str, amount: int, written: str) -> None:
    assert quantity(resource, amount) == written


def test_sums_are_by_resource_and_sorted() -> None:
    assert list(total([{"memory": 1, "cpu": 2}, {"cpu": 3}]).items()) == [("cpu", 5), ("memory", 1)]


def test_a_part_is_rounded_up_so_that_it_is_never_zero() -> None:
    assert percent({"nvidia.com/gpu": 1, "cpu": 1000}, 50) == {"nvidia.com/gpu": 1, "cpu": 500}
    assert percent({"nvidia.com/gpu": 0}, 50) == {"nvidia.com/gpu": 0}
