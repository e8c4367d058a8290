from pathlib import Path

import pytest

from tests.bench.charts import directory


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("named", "samples/charts", "shared/charts", "checkout"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "checkout"


def test_charts_are_where_the_variable_says_then_among_the_samples_then_beside_the_checkout(checkout: Path) -> None:
    place = checkout.parent
    named, samples = {"SLIPWAY_CHARTS": str(place / "named")}, {"SLIPWAY_SHARED": str(place / "samples")}
    assert directory({**named, **samples}, checkout) == place / "named"
    assert directory(samples, checkout) == place / "samples" / "charts"
    assert directory({}, checkout) == place / "shared" / "charts"


def test_whole_charts_come_before_those_of_values_and_crds(checkout: Path) -> None:
    whole = checkout.parent / "shared" / "charts-full"
    whole.mkdir()
    assert directory({}, checkout) == whole


def test_a_folder_that_does_not_exist_is_not_taken(checkout: Path) -> None:
    assert directory({"SLIPWAY_CHARTS": "/no/such/folder"}, checkout) == checkout.parent / "shared" / "charts"
    assert directory({}, checkout / "deeper") is None
