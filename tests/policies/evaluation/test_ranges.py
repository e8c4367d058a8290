"""Address ranges that include the internet, in every spelling."""

from __future__ import annotations

import pytest

from policies.evaluation.ranges import internet, parsed_range
from policies.resources.access import UNKNOWN, Node, WrongTypeError


def found(*ranges: object) -> list[str]:
    nodes = [Node(f"[{index}]", one) for index, one in enumerate(ranges)]
    return [str(node.raw) for node in internet(nodes)]


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0/0",
        "8.8.8.8/0",
        "0.0.0.0/00",
        "0.0.0.0/0.0.0.0",
        "0.0.0.0/1",
        "128.0.0.0/1",
        "::/0",
        "0:0:0:0:0:0:0:0/0",
        "0000:0000:0000:0000:0000:0000:0000:0000/0",
        "::0.0.0.0/0",
        "2000::/3",
        "8000::/1",
    ],
)
def test_the_internet_is_found_in_every_spelling(text: str) -> None:
    assert found(text) == [text]


@pytest.mark.parametrize(
    "text", ["10.0.0.0/8", "172.16.0.0/12", "100.64.0.0/10", "203.0.113.0/24", "17.0.0.0/8", "fc00::/7", "2600::/20"]
)
def test_a_network_is_not_the_internet(text: str) -> None:
    assert found(text) == []


def test_ranges_that_are_the_internet_together_are_found() -> None:
    quarters = [f"{first}.0.0.0/8" for first in range(64)]
    assert found("10.0.0.0/8", *quarters[:10]) == quarters[:10]
    assert found("203.0.113.0/24", "10.0.0.0/8", "fd00::/8") == []
    assert found("::/1", "8000::/1", "10.0.0.0/8") == ["::/1", "8000::/1"]


def test_an_unknown_range_is_not_decided_and_other_text_is_refused() -> None:
    assert found(UNKNOWN, None) == []
    with pytest.raises(WrongTypeError, match="a CIDR range"):
        parsed_range(Node("place", "everywhere"))
