"""Certificates and the kubeconfig."""

import base64
import ipaddress
import stat
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from sandbox.cluster.pki import Pki, create_pki, issue, kubeconfig, read_admin_token, write_kubeconfig
from sandbox.ports import ClusterEndpoint


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    return create_pki(tmp_path / "pki")


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_serving_certificate_is_for_loopback_and_signed_by_the_authority(pki: Pki) -> None:
    serving, authority = certificate(pki.serving.certificate), certificate(pki.authority.certificate)
    serving.verify_directly_issued_by(authority)
    names = serving.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert ipaddress.ip_address("127.0.0.1") in names.get_values_for_type(x509.IPAddress)
    assert "localhost" in names.get_values_for_type(x509.DNSName)


def test_a_further_server_gets_a_certificate_of_the_same_authority(pki: Pki) -> None:
    webhook = issue(pki.authority, "webhook", ["127.0.0.1"])
    certificate(webhook.certificate).verify_directly_issued_by(certificate(pki.authority.certificate))
    assert webhook.certificate.name == "webhook.crt"


def test_the_authority_has_the_form_of_eks(pki: Pki) -> None:
    assert base64.b64decode(pki.certificate_authority) == pki.authority.certificate.read_bytes()


def test_only_the_owner_may_read_the_keys(pki: Pki) -> None:
    directory = pki.authority.key.parent
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir()} == {0o600}


def test_a_second_sandbox_shares_no_secret_with_the_first(pki: Pki, tmp_path: Path) -> None:
    other = create_pki(tmp_path / "other")
    assert other.admin_token != pki.admin_token
    assert other.certificate_authority != pki.certificate_authority


def test_the_token_can_be_read_from_the_files(pki: Pki) -> None:
    assert read_admin_token(pki.authority.key.parent) == pki.admin_token


def test_creating_it_again_replaces_all_files(pki: Pki) -> None:
    again = create_pki(pki.authority.key.parent)
    assert again.admin_token != pki.admin_token
    assert again.admin_token in again.tokens.read_text()


DEV, PROD = ClusterEndpoint("https://127.0.0.1:1", "REVW"), ClusterEndpoint("https://127.0.0.1:2", "UFJPRA==")


def test_the_newest_cluster_is_the_current_context() -> None:
    document = kubeconfig({"dev": DEV, "prod": PROD}, "token")
    assert document["current-context"] == "prod"
    assert [each["cluster"]["server"] for each in document["clusters"]] == [DEV.server, PROD.server]


def test_every_context_uses_the_admin_and_its_own_cluster() -> None:
    document = kubeconfig({"dev": DEV, "prod": PROD}, "token")
    assert {each["name"]: each["context"]["cluster"] for each in document["contexts"]} == {"dev": "dev", "prod": "prod"}
    assert {each["context"]["user"] for each in document["contexts"]} == {document["users"][0]["name"]}
    assert document["users"][0]["user"] == {"token": "token"}


def test_without_clusters_there_is_no_current_context() -> None:
    assert kubeconfig({}, "token")["current-context"] == ""


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, {"dev": DEV}, "token")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text()) == kubeconfig({"dev": DEV}, "token")
