from pathlib import Path

import pytest

from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.launch import of_deployment
from sandbox.kubernetes.controllers.table import CERTIFICATES, CONTROLLERS, Controller, of_service, served
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.toolchain.tools import TOOLS
from spec.catalog.software import MANIFESTS
from tests.slipway.charts.rendering import objects_without_cluster

VALUES = {"jobset": {"install": False}, "settings": {"clusterName": "here"}, "embedAdmissionController": False}
"""Trainer's chart would install JobSet too, and YuniKorn's a second Deployment; Karpenter's needs a cluster."""
OF_CHARTS = [each for each in CONTROLLERS if each.chart]


def test_the_binaries_of_manifests_stand_for_their_image() -> None:
    rows = {each.name: each for each in CONTROLLERS if not each.chart}
    operators = {name: pin for name, pin in MANIFESTS.items() if pin.team_kinds}
    assert set(rows) == set(operators)
    for name, pin in operators.items():
        assert pin.image.endswith(f"{rows[name].image}:{rows[name].tag}")


def test_every_controller_is_a_tool_that_is_built_in_the_background() -> None:
    assert {each.name for each in CONTROLLERS} <= {name for name, tool in TOOLS.items() if tool.in_background}


@pytest.mark.parametrize("row", OF_CHARTS, ids=lambda row: row.name)
def test_a_row_fits_its_chart(row: Controller, shared: Path) -> None:
    chart, helm = Charts(shared / "charts-full").find(row.chart), binary.available()
    if chart is None or helm is None:
        pytest.skip(f"no helm, or no chart {row.chart} with templates")
    objects = objects_without_cluster(helm, chart, ReleaseName(row.chart, "here"), VALUES, ())
    deployments = [each for each in objects if each["kind"] == "Deployment"]
    for each in deployments:
        each["metadata"].setdefault("namespace", "here")
    (launch,) = [found for each in deployments if (found := of_deployment(each)) and found.controller is row]
    services = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Service"}
    for name in row.services:
        spec = services[name]["spec"]
        assert launch.selected(spec["selector"])
        numbers = {launch.port(port["targetPort"]) for port in spec["ports"] if port["port"] == 443}
        assert numbers <= set(row.ports)
    called = {
        each["clientConfig"]["service"]["name"]
        for obj in objects
        if obj["kind"].endswith("WebhookConfiguration")
        for each in obj["webhooks"]
    }
    assert called <= set(row.services)
    assert any(each.kind == "Secret" and each.path == f"/{CERTIFICATES}" for each in launch.mounts) or not row.services


def test_a_service_belongs_to_one_controller() -> None:
    names = [name for each in CONTROLLERS for name in each.services]
    assert len(names) == len(set(names))
    assert of_service("kueue-webhook-service") is table.BY_NAME["kueue"]
    assert of_service("unknown") is None


def test_controllers_run_for_the_version_of_their_chart_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Controller, "binary", None)
    version = table.BY_NAME["kueue"].version
    assert served("kueue", version) == served("kueue", f"v{version}") == {"kueue": False}
    assert served("kueue", "0.1.0") == {}
    assert served("other", version) == {}
    assert set(served()) == {"training-operator", "mpi-operator", "katib"}


@pytest.mark.parametrize(
    ("value", "wanted"), [("", True), ("none", False), ("kueue", True), ("jobset, kueue", True), ("jobset", False)]
)
def test_the_user_may_name_the_controllers(monkeypatch: pytest.MonkeyPatch, value: str, wanted: bool) -> None:
    monkeypatch.setenv(table.VARIABLE, value)
    assert table.BY_NAME["kueue"].wanted is wanted
