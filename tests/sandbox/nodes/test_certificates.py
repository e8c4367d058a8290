"""Secrets with certificates, for pods that can't start without them."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.nodes.mounts import Certificates
from tests.sandbox.plane import ControlPlane, crd, existing
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox

HOST = "webhook-service.kserve.svc"


@pytest.fixture
def certificates(plane: ControlPlane) -> Certificates:
    fields = {name: {"type": "string"} for name in ("secretName", "commonName")}
    names = {"type": "array", "items": {"type": "string"}}
    issuer = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    define(plane.client, [crd("cert-manager.io", "Certificate", {**fields, "dnsNames": names, "issuerRef": issuer})])
    return Certificates(plane.client)


def secret(client: KubeClient, namespace: str, name: str) -> dict[str, bytes]:
    found = existing(client, Ref("v1", "Secret", name, namespace))
    return {key: base64.b64decode(value) for key, value in found["data"].items()}


def hosts(certificate: bytes, authority: bytes) -> list[str]:
    """The names of a certificate, which the authority signed."""
    parsed = x509.load_pem_x509_certificate(certificate)
    parsed.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    names = parsed.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    assert isinstance(names, x509.SubjectAlternativeName)
    return names.get_values_for_type(x509.DNSName)


def certificate(namespace: str, **spec: Any) -> dict[str, Any]:
    made = Ref("cert-manager.io/v1", "Certificate", "serving", namespace).as_object()
    return {**made, "spec": {"secretName": "cert", "issuerRef": {"name": "selfsigned"}, **spec}}


def certgen(
    namespace: str, *arguments: str, image: str = "ghcr.io/jkroepke/kube-webhook-certgen:1.7.0"
) -> dict[str, Any]:
    container = {"name": "create", "image": image, "args": list(arguments)}
    return {"metadata": {"name": "job", "namespace": namespace}, "spec": {"containers": [container]}}


def test_the_secret_of_a_certificate_is_made_for_its_names(certificates: Certificates, namespace: str) -> None:
    client = certificates.client
    client.create(certificate(namespace, commonName=HOST, dnsNames=[HOST, "other"]), "test")
    assert certificates.supply(namespace, "cert")
    made = secret(client, namespace, "cert")
    assert made.keys() == {"tls.crt", "tls.key", "ca.crt"}
    assert hosts(made["tls.crt"], made["ca.crt"]) == [HOST, "other"]
    assert certificates.supply(namespace, "cert"), "a second look fails"
    assert secret(client, namespace, "cert") == made, "an existing Secret was replaced"


def test_without_a_certificate_there_is_no_secret(certificates: Certificates, namespace: str) -> None:
    assert not certificates.supply(namespace, "cert")
    certificates.client.create(certificate(namespace, dnsNames=[HOST]), "test")
    assert not certificates.supply(namespace, "another")


def test_the_job_of_a_chart_makes_its_secret(certificates: Certificates, namespace: str) -> None:
    certificates.run(certgen(namespace, "create", f"--host={HOST},a", f"--namespace={namespace}", "--secret-name=cert"))
    made = secret(certificates.client, namespace, "cert")
    assert made.keys() == {"ca", "cert", "key"}
    assert hosts(made["cert"], made["ca"]) == [HOST, "a"]


@pytest.mark.parametrize("rotates", ["true", "false"])
def test_an_operator_makes_the_secret_of_its_services_if_it_rotates_certificates(
    certificates: Certificates, namespace: str, rotates: str
) -> None:
    """The arguments of KEDA's operator, chart 2.20.2."""
    options = {
        "enable-cert-rotation": rotates,
        "cert-secret-name": "kedaorg-certs",
        "operator-service-name": "keda-operator",
        "webhooks-service-name": "keda-admission-webhooks",
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    certificates.run(certgen(namespace, *arguments, image="ghcr.io/kedacore/keda:2.20.2"))
    if rotates == "false":
        assert certificates.client.get(Ref("v1", "Secret", "kedaorg-certs", namespace)) is None
        return
    made = secret(certificates.client, namespace, "kedaorg-certs")
    assert made.keys() == {"tls.crt", "tls.key", "ca.crt"}
    expected = [f"{service}.{namespace}.svc" for service in ("keda-operator", "keda-admission-webhooks")]
    assert hosts(made["tls.crt"], made["ca.crt"]) == expected


@pytest.mark.parametrize(("arguments", "image"), [
    (("patch", "--webhook-name=x", "--secret-name=cert", f"--host={HOST}"), "kube-webhook-certgen:1"),
    (("create", "--secret-name=cert", f"--host={HOST}"), "busybox"),
    (("create", f"--host={HOST}"), "kube-webhook-certgen:1"),
])  # fmt: skip
def test_other_pods_make_none(
    certificates: Certificates, namespace: str, arguments: tuple[str, ...], image: str
) -> None:
    certificates.run(certgen(namespace, *arguments, image=image))
    assert certificates.client.get(Ref("v1", "Secret", "cert", namespace)) is None
