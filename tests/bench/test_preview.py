from tests.bench.baselines import PLAIN_RECORDS, SAME_IMPORTS, Baseline
from tests.bench.figure import Figure
from tests.bench.numbers import preview
from tests.bench.timing import Pairs, Sample, Series


def figure(wall: float, bound: float, baseline: Baseline) -> Figure:
    pairs = Pairs(Series([Sample(wall, wall)]), Series([Sample(1.0, 1.0)]))
    return preview.figure("preview", pairs, bound, baseline)


def test_either_ratio_has_a_bound_of_its_own() -> None:
    assert figure(1.35, preview.SAME_IMPORTS_BOUND, SAME_IMPORTS).result == "missed by 4%"
    assert figure(1.35, preview.PLAIN_RECORDS_BOUND, PLAIN_RECORDS).result == "held"
    assert figure(2.6, preview.PLAIN_RECORDS_BOUND, PLAIN_RECORDS).result == "missed by 30%"


def test_how_names_the_baseline_of_prod() -> None:
    assert "with the same imports" in figure(1.0, 1.3, SAME_IMPORTS).how
    assert "plain records of AWS" in figure(1.0, 2.0, PLAIN_RECORDS).how
