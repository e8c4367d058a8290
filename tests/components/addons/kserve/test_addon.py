"""KServe's releases."""

from __future__ import annotations

from typing import Any

import pytest

from components.addons.kserve import Kserve
from components.addons.kserve.addon import gateway, values
from spec.catalog.charts import KSERVE, KSERVE_CRD
from spec.settings.addons.serving import Kserve as Settings
from tests.support.context import seen_parts

PLACEMENT = {"nodeSelector": {"x": "y"}, "tolerations": []}


def way_in(**settings: Any) -> dict[str, Any]:
    found = values(Settings(**settings), region="us-east-1", placement=PLACEMENT)
    given: dict[str, Any] = found["kserve"]["controller"]["gateway"]
    return given


def test_crds_come_first_with_the_controllers_version() -> None:
    parts = seen_parts(lambda: Kserve(Settings())).parts
    assert [chart.ref for chart in parts.releases] == [KSERVE_CRD, KSERVE]
    assert KSERVE_CRD.version == KSERVE.version


def test_the_default_deployment_mode_is_standard() -> None:
    found = values(Settings(), region="us-east-1", placement=PLACEMENT)
    assert found["kserve"]["controller"]["deploymentMode"] == "Standard"
    assert way_in()["ingressGateway"] == {"enableGatewayApi": False, "className": "alb"}
    knative = values(Settings(defaultDeploymentMode="Knative"), region="us-east-1", placement=PLACEMENT)
    assert knative["kserve"]["controller"]["deploymentMode"] == "Knative"
    assert "className" not in way_in(defaultDeploymentMode="Knative")["ingressGateway"]


def test_there_is_no_istio() -> None:
    assert way_in()["disableIstioVirtualHost"] is True


@pytest.mark.parametrize(("ingress", "off"), [("alb", False), ("gateway", False), ("none", True)])
def test_ingress_none_disables_ingress_creation(ingress: str, off: bool) -> None:
    assert way_in(ingress=ingress)["disableIngressCreation"] is off


def test_kserve_uses_the_declared_gateway() -> None:
    named = way_in(ingress="gateway")["ingressGateway"]
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
    assert way_in(https=True)["urlScheme"] == "https"


def test_the_controller_has_larger_limits_than_the_chart() -> None:
    found = values(Settings(), region="us-east-1", placement=PLACEMENT)["kserve"]["controller"]
    assert found["resources"]["limits"] == {"memory": "512Mi"}
    assert found["nodeSelector"] == {"x": "y"}
