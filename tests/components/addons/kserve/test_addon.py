"""KServe's releases and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.kserve import Kserve
from components.addons.kserve.addon import replicated, values
from components.addons.kserve.ingress import gateway, load_balancer, manifests
from spec.catalog.charts import KSERVE, KSERVE_CRD
from spec.settings.addons.serving import Kserve as Settings
from tests.support.context import seen_parts
from tests.support.structural import complaints, definition, schema

ARN = "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"
OTHER = "arn:aws:acm:us-east-1:111122223333:certificate/87654321-1234-1234-1234-123456789012"
SECURE = Settings(ingressDomain="models.example.com", https=True, certificateArn=(ARN,))
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
    assert gateway_values()["ingressGateway"] == {"enableGatewayApi": False, "className": "models"}
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
    assert named == {"enableGatewayApi": True, "kserveGateway": f"{metadata['namespace']}/{metadata['name']}"}
    assert "gateway" not in seen_parts(lambda: Kserve(Settings())).objects


def test_the_gateway_listens_for_the_domain_of_models() -> None:
    (plain,) = gateway(Settings(ingressDomain="models.example.com"))["spec"]["listeners"]
    assert (plain["hostname"], plain["port"], plain["protocol"]) == ("*.models.example.com", 80, "HTTP")
    (secure,) = gateway(SECURE)["spec"]["listeners"]
    assert (secure["port"], secure["protocol"]) == (443, "HTTPS")
    assert gateway_values(https=True)["urlScheme"] == "https"


def test_kserves_ingresses_share_one_load_balancer_with_the_certificate() -> None:
    objects = seen_parts(lambda: Kserve(SECURE)).objects
    params = objects["ingress-params"]
    assert gateway_values()["ingressGateway"]["className"] == objects["ingress-class"]["metadata"]["name"]
    reference = objects["ingress-class"]["spec"]["parameters"]
    assert (reference["kind"], reference["name"]) == (params["kind"], params["metadata"]["name"])
    # The controller listens on 443, and only there, if the class has a certificate and the Ingress no listen-ports.
    assert params["spec"]["certificateArn"] == [ARN]
    assert params["spec"]["group"] == {"name": "models"}
    plain = seen_parts(lambda: Kserve(Settings(scheme="internet-facing"))).objects["ingress-params"]["spec"]
    assert plain == {"group": {"name": "models"}, "scheme": "internet-facing"}


def test_the_load_balancer_of_the_gateway_has_the_certificates() -> None:
    both = Settings(ingress="gateway", https=True, certificateArn=(ARN, OTHER))
    (listener,) = load_balancer(both)["spec"]["listenerConfigurations"]
    assert (listener["protocolPort"], listener["defaultCertificate"]) == ("HTTPS:443", ARN)
    assert listener["certificates"] == [OTHER]
    assert "listenerConfigurations" not in load_balancer(Settings(ingress="gateway"))["spec"]


@pytest.mark.parametrize("ingress", ["alb", "gateway"])
def test_objects_of_the_ingress_satisfy_the_crds_of_its_controller(shared: Path, ingress: Any) -> None:
    settings = Settings(ingress=ingress, https=True, certificateArn=(ARN, OTHER))
    folder = shared / "charts-full/aws-load-balancer-controller/crds"
    checked = 0
    for manifest in manifests(settings).values():
        group, _, version = manifest["apiVersion"].partition("/")
        file = {"elbv2.k8s.aws": "crds.yaml", "gateway.k8s.aws": "gateway-crds.yaml"}.get(group)
        if file:
            checked += 1
            assert list(complaints(manifest, schema(definition(folder / file, manifest["kind"]), version))) == []
    assert checked


def test_two_replicas_answer_for_webhooks_that_fail_closed() -> None:
    objects = seen_parts(lambda: Kserve(Settings())).objects
    spec = objects["replicas"]["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 2)
    assert objects["budget"]["spec"]["minAvailable"] == 1
    assert not {"replicas", "budget"} & set(seen_parts(lambda: Kserve(Settings(replicas=1))).objects)


def test_the_chart_has_the_deployment_that_is_replicated_and_no_replicas_of_its_own(shared: Path) -> None:
    text = (shared / "charts-full/kserve-resources/files/kserve/resources.yaml").read_text()
    (deployment,) = (each for each in yaml.load_all(text, yaml.CSafeLoader) if each and each["kind"] == "Deployment")
    objects = replicated(2)
    assert deployment["metadata"]["name"] == objects["replicas"]["spec"]["scaleTargetRef"]["name"]
    selected = objects["budget"]["spec"]["selector"]["matchLabels"]
    assert selected.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert "replicas" not in deployment["spec"]
    assert "--leader-elect" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]


def test_the_controller_has_larger_limits_than_the_chart() -> None:
    chart_values = values(Settings(), region="us-east-1", placement=PLACEMENT)["kserve"]["controller"]
    assert chart_values["resources"]["limits"] == {"cpu": "4", "memory": "512Mi"}
    assert chart_values["nodeSelector"] == {"x": "y"}
