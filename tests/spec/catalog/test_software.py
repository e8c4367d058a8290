"""Pins of software, and what is derived from their rows."""

import re
from typing import Any

import pytest

from spec.catalog import kubernetes
from spec.catalog.document import load
from spec.catalog.software import CHARTS, CLUSTER_AUTOSCALER_IMAGES, FILE, SOFTWARE, ChartRef, Software, row_of
from spec.settings.addons import Addons
from tests.spec.catalog import facts
from tests.support.day import TODAY


@pytest.mark.parametrize("row", SOFTWARE.values(), ids=lambda row: row.name)
def test_software_has_an_exact_version_and_a_source(row: Software) -> None:
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", row.version)
    assert row.source
    assert row.released > facts.EARLIEST


@pytest.mark.parametrize("row", CHARTS.values(), ids=lambda row: row.name)
def test_a_chart_is_in_a_repository_or_a_registry(row: ChartRef) -> None:
    assert re.fullmatch(r"(https|oci)://[^*?]+[^/*?]", row.repository)
    assert row.chart == (f"{row.repository}/{row.name}" if row.repository.startswith("oci:") else row.name)


def test_rows_name_add_ons_of_the_stack_file() -> None:
    keys = {str(field.alias) for field in Addons.model_fields.values()}
    assert {row.addon for row in SOFTWARE.values() if row.addon} <= keys
    assert all(row.addon for row in SOFTWARE.values() if row.queued_kinds)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"image": "x"}, r"lws.image: is no key of a row"),
        ({"version": 1.2}, r"lws.version: must be a str"),
        ({"date": "2026-01-01"}, r"lws.date: must be a date"),
        ({"namespace": {"name": "x"}}, r"lws.namespace: .*pod_security"),
        ({"budget": {"name": "x", "selects": "y"}}, r"lws.budget.selects: must be a dict"),
    ],
)
def test_an_unknown_key_and_a_value_of_another_type_are_errors(change: dict[str, Any], problem: str) -> None:
    row = {"name": "lws", **load(FILE)["lws"]}
    assert row_of(ChartRef, "lws", row) == CHARTS["lws"]
    with pytest.raises(ValueError, match=problem):
        row_of(ChartRef, "lws", {**row, **change})


def test_karpenter_and_its_crds_are_of_one_version() -> None:
    assert CHARTS["karpenter"].version == CHARTS["karpenter-crd"].version


def test_the_autoscaler_has_the_version_of_every_cluster_that_is_still_supported() -> None:
    supported = {v for v in kubernetes.VERSIONS if kubernetes.support(v, TODAY) == "standard"}
    assert supported <= set(CLUSTER_AUTOSCALER_IMAGES)
    assert all(image.startswith(f"v{version}.") for version, image in CLUSTER_AUTOSCALER_IMAGES.items())
