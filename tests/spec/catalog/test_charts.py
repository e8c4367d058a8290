"""Pins of charts."""

from __future__ import annotations

import re

import pytest

from spec.catalog import charts, kubernetes
from spec.catalog.charts import CLUSTER_AUTOSCALER_IMAGES, ChartRef
from tests.spec.catalog import facts
from tests.support.day import TODAY

CHARTS = {name: value for name, value in vars(charts).items() if isinstance(value, ChartRef)}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_has_an_exact_version_and_one_location(name: str) -> None:
    chart = CHARTS[name]
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", chart.version)
    assert chart.chart.startswith("oci://") == (chart.repository is None)
    assert chart.source
    assert chart.released > facts.EARLIEST


def test_karpenter_and_its_crds_are_of_one_version() -> None:
    assert charts.KARPENTER.version == charts.KARPENTER_CRD.version


def test_the_autoscaler_has_the_version_of_every_cluster_that_is_still_supported() -> None:
    supported = {v for v in kubernetes.VERSIONS if kubernetes.support(v, TODAY) == "standard"}
    assert supported <= set(CLUSTER_AUTOSCALER_IMAGES)
    assert all(image.startswith(f"v{version}.") for version, image in CLUSTER_AUTOSCALER_IMAGES.items())
