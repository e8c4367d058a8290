import ssl
import sys
from pathlib import Path

import pytest
import urllib3
from cryptography.x509.oid import ExtendedKeyUsageOID

from sandbox.cluster.etcd import start_etcd
from sandbox.cluster.pki import HOSTS, create_pki, issue
from sandbox.cluster.process import Supervisor
from sandbox.errors import SandboxError
from tests.sandbox.plane import ControlPlane
from tests.support.patience import SECONDS, wait_for


@pytest.mark.sandbox
def test_wiping_one_prefix_keeps_a_longer_one(plane: ControlPlane) -> None:
    http = plane.etcd._http
    for key in ("L3dpcGUvYQ==", "L3dpcGUtbm90L2E="):  # /wipe/a, /wipe-not/a
        http.request("POST", f"{plane.etcd.url}/v3/kv/put", json={"key": key, "value": "eA=="})
    assert plane.etcd.wipe("wipe") == 1
    assert plane.etcd.wipe("wipe-not") == 1


@pytest.mark.sandbox
def test_a_full_store_refuses_to_write_and_then_takes_it(plane: ControlPlane) -> None:
    def put() -> str:
        body = {"key": "L2Z1bGwvYQ==", "value": "eA=="}
        return plane.etcd._http.request("POST", f"{plane.etcd.url}/v3/kv/put", json=body).data.decode()

    plane.etcd.fill(1)
    assert wait_for(lambda: "database space exceeded" in put())
    assert wait_for(lambda: "header" in put())
    assert plane.etcd.wipe("full") == 1


@pytest.mark.sandbox
@pytest.mark.parametrize("signed", ["", "the authority of clusters", "nobody"])
def test_the_store_refuses_clients_without_its_own_certificate(
    plane: ControlPlane, tmp_path: Path, signed: str
) -> None:
    """Every user of the machine reaches the port, and a team may have a certificate signed in its cluster."""
    context = ssl.create_default_context(cafile=str(plane.pki.store_authority.certificate))
    if signed:
        pki = plane.pki if "clusters" in signed else create_pki(tmp_path / "pki")
        pair = issue(pki.authority, "somebody", HOSTS, [ExtendedKeyUsageOID.CLIENT_AUTH])
        context.load_cert_chain(pair.certificate, pair.key)
    http = urllib3.PoolManager(ssl_context=context, retries=False, timeout=SECONDS)
    with pytest.raises(urllib3.exceptions.HTTPError):
        http.request("POST", f"{plane.etcd.url}/v3/kv/range", json={"key": "Lw==", "range_end": "MA=="})
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.PoolManager(retries=False, timeout=SECONDS).request("GET", plane.etcd.url.replace("https", "http"))


def test_a_program_that_is_not_etcd_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is not etcd"):
        start_etcd(
            Path(sys.executable), tmp_path / "data", tmp_path / "log", Supervisor(), create_pki(tmp_path / "pki")
        )
