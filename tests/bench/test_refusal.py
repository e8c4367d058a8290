from pathlib import Path

import pytest

from spec.settings import ConfigurationError, load, read_stack
from tests.bench.machine import BenchError
from tests.bench.numbers.refusal import STACK, make_checkout, without_zones_of_efa


def test_the_wrong_file_has_a_mistake_that_only_a_check_across_parts_sees(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "wrong")
    with pytest.raises(ConfigurationError) as raised:
        load(read_stack(STACK, checkout / "stacks"), stack=STACK)
    assert {problem.path for problem in raised.value.problems} == {"pools.h100.zones"}


def test_a_file_in_which_the_mistake_cannot_be_made_is_reported() -> None:
    with pytest.raises(BenchError, match="make another mistake here"):
        without_zones_of_efa("pools: {}\n")
