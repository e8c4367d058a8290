"""A stack's own directory of charts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from slipway.charts import uses
from slipway.charts.uses import of_platform
from spec.settings import ConfigurationError, Platform
from spec.settings.charts import Charts
from tests.components.pools.samples import platform

POOLS: Mapping[str, Mapping[str, Any]] = {"system": {"preset": "system"}, "cpu": {"preset": "cpu", "max": 6}}


def with_directory(directory: str) -> Platform:
    return platform(POOLS).model_copy(update={"charts": Charts.model_validate({"directory": directory})})


def write(folder: Path, name: str, version: str, more: str = "") -> Path:
    chart = folder / name
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {version}\n{more}", encoding="utf-8")
    return chart


@pytest.fixture
def wanted() -> Mapping[str, str]:
    """The charts of the stack, which has Karpenter pools alone."""
    return {use.chart: use.version for use in of_platform(with_directory("charts"), "test")}


@pytest.fixture
def charts(tmp_path: Path, wanted: Mapping[str, str]) -> Path:
    for name, version in wanted.items():
        write(tmp_path / "charts", name, version)
    return tmp_path / "charts"


def problems(root: Path, directory: str = "charts") -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        uses.require(with_directory(directory), "test", root)
    return [f"{one.path}: {one.rule} ({one.value}) {one.fix}" for one in caught.value.problems]


def test_a_directory_with_every_chart_is_accepted_relative_and_absolute(charts: Path, tmp_path: Path) -> None:
    uses.require(with_directory("charts"), "test", tmp_path)
    uses.require(with_directory(str(charts)), "test", tmp_path / "elsewhere")


def test_without_a_directory_nothing_is_looked_for(tmp_path: Path) -> None:
    uses.require(platform(POOLS), "test", tmp_path / "missing")


def test_every_missing_chart_is_reported_with_its_version(tmp_path: Path, wanted: Mapping[str, str]) -> None:
    found = problems(tmp_path)
    assert len(found) == len(wanted) > 1
    assert f"must have chart karpenter {wanted['karpenter']}" in "".join(found)
    assert f"slipway catalog pull karpenter --dir {tmp_path / 'charts'}" in "".join(found)


def test_another_version_is_reported(charts: Path, tmp_path: Path, wanted: Mapping[str, str]) -> None:
    chart = charts / "karpenter"
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: karpenter\nversion: 0.0.1\n", encoding="utf-8")
    (found,) = problems(tmp_path)
    assert f"pinned version {wanted['karpenter']} (0.0.1 in {chart})" in found


def test_a_chart_of_a_source_tree_may_name_its_version_in_a_file(
    charts: Path, tmp_path: Path, wanted: Mapping[str, str]
) -> None:
    chart = charts / "karpenter"
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: karpenter\nversion: 0.0.1\n", encoding="utf-8")
    (chart / "SOURCE.txt").write_text(f"chart_version: {wanted['karpenter']}\n", encoding="utf-8")
    uses.require(with_directory("charts"), "test", tmp_path)


def test_a_missing_subchart_is_reported_and_a_packed_one_is_not(
    charts: Path, tmp_path: Path, wanted: Mapping[str, str]
) -> None:
    more = "dependencies:\n- {name: first, version: 1.0.0}\n- {name: second, version: 1.0.0}\n"
    text = f"apiVersion: v2\nname: karpenter\nversion: {wanted['karpenter']}\n{more}"
    (charts / "karpenter" / "Chart.yaml").write_text(text, encoding="utf-8")
    write(charts / "karpenter" / "charts", "first", "1.0.0")
    (found,) = problems(tmp_path)
    assert f"(no second in {charts / 'karpenter' / 'charts'})" in found
    (charts / "karpenter" / "charts" / "second-1.0.0.tgz").touch()
    uses.require(with_directory("charts"), "test", tmp_path)
