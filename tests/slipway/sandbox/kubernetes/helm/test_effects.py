from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm.effects import perform
from slipway.sandbox.kubernetes.helm.preview import Rendered
from slipway.sandbox.kubernetes.helm.records import ReleaseName
from slipway.sandbox.kubernetes.objects import Object, Ref
from tests.slipway.sandbox.kubernetes.helm.charts import chart_at, write_chart
from tests.slipway.sandbox.plane import crd

pytestmark = pytest.mark.sandbox


def job(name: str, events: str, *arguments: str) -> Object:
    pod = {"containers": [{"name": "c", "image": "i", "args": list(arguments)}]}
    metadata = {"name": name, "annotations": {"helm.sh/hook": events}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def done(client: KubeClient, chart: Path, namespace: str, *, upgrade: bool = False, **found: Any) -> list[str]:
    rendered = Rendered(tuple(found.get("objects", ())), tuple(found.get("hooks", ())), ())
    return perform(client, ReleaseName("one", namespace), chart_at(chart), rendered, upgrade=upgrade)


def hosts(client: KubeClient, secret: Ref, key: str) -> list[str]:
    live = client.get(secret)
    assert live is not None
    certificate = x509.load_pem_x509_certificate(base64.b64decode(live["data"][key]))
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(
        x509.DNSName
    )


def test_a_job_that_makes_a_certificate_is_performed(client: KubeClient, tmp_path: Path, namespace: str) -> None:
    """As kube-prometheus-stack's admission-create."""
    hook = job("admission-create", "pre-install,pre-upgrade", "create", "--host=a.x,b.x", "--secret-name=admission")
    texts = done(client, write_chart(tmp_path), namespace, hooks=[hook])
    assert texts == [f"Secret {namespace}/admission made, as hook Job admission-create would"]
    assert hosts(client, Ref("v1", "Secret", "admission", namespace), "cert") == ["a.x", "b.x"]


def test_a_certificate_of_cert_manager_is_issued_once(client: KubeClient, tmp_path: Path, namespace: str) -> None:
    certificate = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": "serving"},
        "spec": {"secretName": "serving-cert", "dnsNames": ["webhook.x.svc"]},
    }
    chart, secret = write_chart(tmp_path), Ref("v1", "Secret", "serving-cert", namespace)
    done(client, chart, namespace, objects=[certificate])
    first = client.get(secret)
    assert hosts(client, secret, "tls.crt") == ["webhook.x.svc"]
    done(client, chart, namespace, objects=[certificate], upgrade=True)
    assert client.get(secret) == first


def test_a_job_that_upgrades_crds_is_performed_at_an_upgrade(
    client: KubeClient, tmp_path: Path, namespace: str
) -> None:
    """As the GPU Operator's; Helm itself never changes a CRD of `crds/`."""
    chart = write_chart(tmp_path, definitions=[crd("effects.test", "Dial", {"level": {"type": "integer"}})])
    hook, ref = job("upgrade-crd", "pre-upgrade", "apply"), Ref.of(chart_at(chart).crds[0])
    assert done(client, chart, namespace, hooks=[hook]) == []
    assert client.metadata(ref) is None
    assert done(client, chart, namespace, hooks=[hook], upgrade=True) == [
        "CRDs of the chart applied, as hook Job upgrade-crd would"
    ]
    assert client.metadata(ref) is not None


def test_other_jobs_are_reported_where_they_run(client: KubeClient, tmp_path: Path, namespace: str) -> None:
    hooks = [job("check", "post-install"), job("migrate", "pre-upgrade"), job("prune", "post-delete")]
    chart = write_chart(tmp_path)
    assert done(client, chart, namespace, hooks=hooks) == ["hook Job check ran without effect"]
    assert done(client, chart, namespace, hooks=hooks, upgrade=True) == ["hook Job migrate ran without effect"]


def test_the_certificate_that_an_operator_creates_itself_is_there(
    client: KubeClient, tmp_path: Path, namespace: str
) -> None:
    """As KEDA's, which its metrics server and its webhooks mount."""
    operator = job("keda-operator", "", "--enable-cert-rotation=true", "--cert-secret-name=kedaorg-certs")
    operator = {**operator, "kind": "Deployment", "apiVersion": "apps/v1"}
    texts = done(client, write_chart(tmp_path), namespace, objects=[operator])
    assert texts == [f"Secret {namespace}/kedaorg-certs made, as keda-operator would"]
    assert hosts(client, Ref("v1", "Secret", "kedaorg-certs", namespace), "tls.crt") == [
        f"keda-operator.{namespace}.svc"
    ]
