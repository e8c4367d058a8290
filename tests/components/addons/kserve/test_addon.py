"""KServe's releases and values."""

from __future__ import annotations

from typing import Any

import pytest

from components.addons.kserve import Kserve
from components.addons.kserve.addon import gateway, values
from spec.catalog.charts import KSERVE, KSERVE_CRD
from spec.settings.addons.serving import Kserve as Settings
from tests.support.context import seen_parts

PLACEMENT = {"nodeSelector": {"x": "y"}, "tolerations": []}


def gateway_values(**settings: Any) -> dict[str, Any]:
    chart_values = values(Settings(**settings), region="us-east-1", placement=PLACEMENT)
    gateway: dict[str, Any] = chart_values["kserve"]["controller"]["gateway"]
    return gateway


def test_crds_come_first_with_the_controllers_version() -> None:
    parts = seen_parts(lambda: Kserve(Settings())).parts
    assert [chart.ref for chart in parts.releases] == [KSERVE_CRD, KSERVE]
    assert KSERVE_CRD.version == KSERVE.version


def test_the_default_deployment_mode_is_standard() -> None:
    chart_values = values(Settings(), region="us-east-1", placement=PLACEMENT)
    assert chart_values["kserve"]["controller"]["deploymentMode"] == "Standard"
    assert gateway_values()["ingressGateway"] == {"enableGatewayApi": False, "className": "alb"}
    knative = values(Settings(defaultDeploymentMode="Knative"), region="us-east-1", placement=PLACEMENT)
    assert knative["kserve"]["controller"]["deploymentMode"] == "Knative"
    assert "className" not in gateway_values(defaultDeploymentMode="Knative")["ingressGateway"]


def test_there_is_no_istio() -> None:
    assert gateway_values()["disableIstioVirtualHost"] is True


@pytest.mark.parametrize(("ingress", "off"), [("alb", False), ("gateway", False), ("none", True)])
def test_ingress_none_disables_ingress_creation(ingress: str, off: bool) -> None:
    assert gateway_values(ingress=ingress)["disableIngressCreation"] is off


def test_kserve_uses_the_declared_gateway() -> None:
    named = gateway_values(ingress="gateway")["ingressGateway"]
    seen = seen_parts(lambda: Kserve(Settings(ingress="gateway")))
    metadata = seen.objects["gateway"]["metadata"]
    assert named == {
        "enableGatewayApi": True,
        "kserveGateway": f"{metadata['namespace']}/{metadata['name']}",
        "className": "alb",
    }
    assert "gateway" not in seen_parts(lambda: Kserve(Settings())).objects


def test_the_gateway_listens_for_the_domain_of_models() -> None:
    (plain,) = gateway(Settings(ingressDomain="models.example.com"))["spec"]["listeners"]
    assert (plain["hostname"], plain["port"], plain["protocol"]) == ("*.models.example.com", 80, "HTTP")
    (secure,) = gateway(Settings(https=True))["spec"]["listeners"]
    assert (secure["port"], secure["protocol"]) == (443, "HTTPS")
    assert gateway_values(https=True)["urlScheme"] == "https"


def test_the_controller_has_larger_limits_than_the_chart() -> None:
    chart_values = values(Settings(), region="us-east-1", placement=PLACEMENT)["kserve"]["controller"]
    assert chart_values["resources"]["limits"] == {"memory": "512Mi"}
    assert chart_values["nodeSelector"] == {"x": "y"}
