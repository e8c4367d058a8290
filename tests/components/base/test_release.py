"""How charts are installed."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi_kubernetes.helm.v3 import Release

from components.base.release import Location, locate, release
from spec.catalog.charts import ChartRef
from spec.settings.charts import Charts
from tests.support.mocks import providers, run

DAY = date(2026, 9, 1)
IN_REPOSITORY = ChartRef(chart="thing", repository="https://charts.example", version="1.2.3", released=DAY, source="s")
OCI = ChartRef(chart="oci://registry.example/thing", version="v1.2.3", released=DAY, source="s")


def source(**settings: str) -> Charts:
    return Charts.model_validate_json(json.dumps(settings))


def installed(chart: ChartRef, **more: Any) -> Any:
    def build() -> None:
        opts = pulumi.ResourceOptions(provider=providers()[1])
        release("thing", locate(chart, Charts()), namespace="kube-system", values={"replicas": 2}, opts=opts, **more)

    return run(build).one(Release).inputs


def test_a_release_is_atomic() -> None:
    recording = installed(IN_REPOSITORY)
    assert recording["atomic"] is True
    assert recording["cleanupOnFail"] is True
    assert recording["timeout"] == 600


def test_a_chart_of_a_repository_names_it_and_an_oci_chart_does_not() -> None:
    assert installed(IN_REPOSITORY)["repositoryOpts"] == {"repo": "https://charts.example"}
    recording = installed(OCI)
    assert "repositoryOpts" not in recording
    assert (recording["chart"], recording["version"]) == ("oci://registry.example/thing", "v1.2.3")


def test_the_release_name_defaults_to_the_logical_name() -> None:
    assert installed(OCI)["name"] == "thing"
    assert installed(OCI, release_name="other")["name"] == "other"


def test_crds_of_the_chart_can_be_skipped() -> None:
    assert installed(OCI)["skipCrds"] is False
    assert installed(OCI, skip_crds=True)["skipCrds"] is True


@pytest.mark.parametrize("chart", [IN_REPOSITORY, OCI])
def test_charts_come_from_a_directory_or_a_registry_at_the_same_version(chart: ChartRef) -> None:
    version = chart.version
    absolute = Location(chart="/opt/charts/thing", version=version)
    assert locate(chart, source(directory="/opt/charts")) == absolute
    mirror = Location(chart="oci://registry.example.com/charts/thing", version=version)
    assert locate(chart, source(registry="oci://registry.example.com/charts")) == mirror


def test_a_relative_directory_begins_at_the_project_whose_program_is_one_folder_below() -> None:
    assert locate(OCI, source(directory="charts")).chart == "../charts/thing"
    project = yaml.safe_load((Path(__file__).parents[3] / "Pulumi.yaml").read_text(encoding="utf-8"))
    assert Path(project["main"]).parts == ("infra",)
