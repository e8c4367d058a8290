import json
import shutil
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.managed import CHARTS, AddonReleases
from sandbox.kubernetes.objects import Ref
from sandbox.ports import Outcome
from spec.catalog import addons as catalog
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, needs_helm, write_chart
from tests.sandbox.plane import CLUSTER, ControlPlane

pytestmark = pytest.mark.sandbox

CONFIG = Ref("v1", "ConfigMap", "aws-vpc-cni-config", "kube-system")


@pytest.fixture
def addons(plane: ControlPlane, tmp_path: Path) -> AddonReleases:
    return AddonReleases(plane.targets, Charts(tmp_path / "charts"))


INSTALLED = Outcome(installed=True, text="chart aws-vpc-cni 1.2.3: installed by Helm")


@needs_helm
def test_an_add_on_with_a_chart_is_installed_with_its_configuration_changed_and_removed(
    addons: AddonReleases, client: KubeClient, tmp_path: Path
) -> None:
    write_chart(tmp_path / "charts", "aws-vpc-cni", templates={"config.yaml": CONFIG_MAP})
    addons.changed(CLUSTER, "vpc-cni", json.dumps({"replicas": 2}))
    assert (client.get(CONFIG) or {})["data"]["replicas"] == "2"
    assert addons.outcome(CLUSTER, "vpc-cni") == INSTALLED
    addons.changed(CLUSTER, "vpc-cni", None)
    assert (client.get(CONFIG) or {})["data"]["replicas"] == "1"
    addons.deleted(CLUSTER, "vpc-cni")
    assert client.get(CONFIG) is None
    assert addons.outcome(CLUSTER, "vpc-cni") is None
    addons.deleted(CLUSTER, "vpc-cni")


def test_an_add_on_without_a_chart_is_recorded(addons: AddonReleases) -> None:
    addons.changed(CLUSTER, "kube-proxy", None)
    addons.changed(CLUSTER, "vpc-cni", None)
    assert addons.outcome(CLUSTER, "vpc-cni") == Outcome(
        installed=False, text="add-on vpc-cni has no chart in SLIPWAY_CHARTS: none of its pods runs"
    )
    addons.deleted(CLUSTER, "vpc-cni")


@needs_helm
def test_an_add_on_whose_chart_comes_and_goes(addons: AddonReleases, client: KubeClient, tmp_path: Path) -> None:
    addons.changed(CLUSTER, "vpc-cni", None)
    assert not addons.behind(CLUSTER, "vpc-cni")
    chart = write_chart(tmp_path / "charts", "aws-vpc-cni", templates={"config.yaml": CONFIG_MAP})
    assert addons.behind(CLUSTER, "vpc-cni")
    addons.changed(CLUSTER, "vpc-cni", json.dumps({"replicas": 2}))
    assert not addons.behind(CLUSTER, "vpc-cni")
    shutil.rmtree(chart)
    assert not addons.behind(CLUSTER, "vpc-cni")
    addons.changed(CLUSTER, "vpc-cni", json.dumps({"replicas": 2}))
    assert addons.outcome(CLUSTER, "vpc-cni") == INSTALLED
    with pytest.raises(SandboxError, match="add-on vpc-cni is installed, and can't be changed"):
        addons.changed(CLUSTER, "vpc-cni", json.dumps({"replicas": 3}))
    addons.deleted(CLUSTER, "vpc-cni")
    assert client.get(CONFIG) is None


def test_a_configuration_that_the_chart_does_not_have_is_a_problem(addons: AddonReleases, tmp_path: Path) -> None:
    assert addons.problems("vpc-cni", '{"replicaz": 2}') == []
    write_chart(tmp_path / "charts", "aws-vpc-cni")
    (problem,) = addons.problems("vpc-cni", '{"replicaz": 2}')
    assert problem.startswith("configurationValues: values.replicaz: chart aws-vpc-cni 1.2.3 has no such value")
    assert "is not a JSON object" in addons.problems("kube-proxy", "[1]")[0]
    assert "is not a JSON object" in addons.problems("vpc-cni", "enabled: yes")[0]
    assert addons.problems("vpc-cni", None) == []


@needs_helm
def test_an_add_on_that_is_refused_says_why(addons: AddonReleases, client: KubeClient, tmp_path: Path) -> None:
    refused = "apiVersion: v1\nkind: Service\nmetadata: {name: refused}\nspec: {ports: [{port: 99999}]}\n"
    write_chart(tmp_path / "charts", "aws-vpc-cni", templates={"a.yaml": CONFIG_MAP, "b.yaml": refused})
    with pytest.raises(SandboxError, match=r"(?s)add-on vpc-cni does not become ACTIVE: .*99999"):
        addons.changed(CLUSTER, "vpc-cni", None)
    assert client.get(CONFIG) is None


def test_every_chart_belongs_to_an_add_on_of_the_catalog() -> None:
    assert set(CHARTS) <= set(catalog.ADDONS)
