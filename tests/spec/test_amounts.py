import pytest

from spec.quantities import percent, quantity, total


@pytest.mark.parametrize(
    ("resource", "amount", "written"),
    [
        ("cpu", 0, "0"),
        ("cpu", 2000, "2"),
        ("cpu", 15890, "15890m"),
        ("memory", 0, "0"),
        ("memory", 512, "512Mi"),
        ("memory", 2048, "2Gi"),
        ("memory", 1024 * 1024, "1Ti"),
        ("memory", 1536, "1536Mi"),
        ("nvidia.com/gpu", 8, "8"),
    ],
)
def test_a_quantity_is_written_as_the_api_server_returns_it(resource: str, amount: int, written: str) -> None:
    assert quantity(resource, amount) == written


def test_sums_are_by_resource_and_sorted() -> None:
    assert list(total([{"memory": 1, "cpu": 2}, {"cpu": 3}]).items()) == [("cpu", 5), ("memory", 1)]


def test_a_part_is_rounded_up_so_that_it_is_never_zero() -> None:
    assert percent({"nvidia.com/gpu": 1, "cpu": 1000}, 50) == {"nvidia.com/gpu": 1, "cpu": 500}
    assert percent({"nvidia.com/gpu": 0}, 50) == {"nvidia.com/gpu": 0}
