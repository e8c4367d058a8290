"""Access to clusters, and what `slipway verify` asks before it uses one."""

import argparse
import base64
import json
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox.cluster.pki import Pki, create_pki
from sandbox.kubernetes.client import UnreachableError
from slipway.cli import cluster, main, verify
from slipway.cli import cluster as kubeconfig
from spec.errors import SlipwayError
from tests.support.stacks import platform_of

# The user's kubeconfig: contexts, and tokens of each kind.


ARN = "arn:aws:eks:us-east-1:111122223333:cluster/slipway-dev"
PRINTS = "import json, os; print(json.dumps({'status': {'token': os.environ['WHICH']}}))"


def write(
    path: Path,
    users: dict[str, Any],
    *,
    authority: str = "",
    current: str = "second",
    server: str = "https://127.0.0.1:1",
) -> Path:
    data = {"certificate-authority-data": base64.b64encode(authority.encode()).decode()} if authority else {}
    clusters = [{"name": ARN, "cluster": {"server": server, **data}}]
    contexts = [{"name": name, "context": {"cluster": ARN, "user": name, "namespace": "vision"}} for name in users]
    named = [{"name": name, "user": user} for name, user in users.items()]
    document = {"clusters": clusters, "contexts": contexts, "users": named, "current-context": current}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    return create_pki(tmp_path_factory.mktemp("pki")).authority_text


def test_the_current_context_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "config", {"first": {"token": "a"}, "second": {"token": "b"}})
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{path}")
    found = kubeconfig.contexts()
    assert [one.name for one in found] == ["second", "first"]
    assert (found[0].namespace, found[0].cluster_name) == ("vision", "slipway-dev")


def test_tokens_are_written_in_a_file_or_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: str
) -> None:
    (tmp_path / "token").write_text("from-file\n", encoding="utf-8")
    program = {"command": sys.executable, "args": ["-c", PRINTS], "env": [{"name": "WHICH", "value": "printed"}]}
    users = {"given": {"token": "given"}, "file": {"tokenFile": str(tmp_path / "token")}, "program": {"exec": program}}
    monkeypatch.setenv("KUBECONFIG", str(write(tmp_path / "config", users, authority=authority)))
    tokens = {one.name: one.client().token for one in kubeconfig.contexts()}
    assert tokens == {"given": "given", "file": "from-file", "program": "printed"}


def test_relative_paths_begin_at_the_folder_of_the_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: str
) -> None:
    """As kubectl reads them, wherever it is started; a program without a folder is one of PATH."""
    folder = tmp_path / "kube"
    (folder / "bin").mkdir(parents=True)
    (folder / "token").write_text("from-file", encoding="utf-8")
    (folder / "ca.crt").write_text(authority, encoding="utf-8")
    (folder / "bin" / "login").symlink_to(sys.executable)
    rest = {"args": ["-c", PRINTS], "env": [{"name": "WHICH", "value": "printed"}]}
    users = {
        "file": {"tokenFile": "token"},
        "program": {"exec": {"command": "./bin/login", **rest}},
        "path": {"exec": {"command": "login", **rest}},
    }
    path = write(folder / "config", users)
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setenv("KUBECONFIG", str(path))
    tokens = {one.name: one.client().token for one in kubeconfig.contexts()}
    assert tokens == {"file": "from-file", "program": "printed", "path": "printed"}


@pytest.mark.parametrize(
    ("user", "error"),
    [
        ({"username": "x"}, "neither a token, nor a client certificate"),
        ({"exec": {"command": sys.executable, "args": ["-c", "print(1)"]}}, "gave no credentials"),
        ({"exec": {"command": "/nowhere/aws"}}, "gave no credentials"),
    ],
)
def test_other_credentials_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: str, user: dict[str, Any], error: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(write(tmp_path / "config", {"one": user}, authority=authority)))
    with pytest.raises(SlipwayError, match=error):
        kubeconfig.contexts()[0].client()


class Whoami(BaseHTTPRequestHandler):
    """Answers with the name in the client's certificate, and with the header that would have a token."""

    def do_GET(self) -> None:
        """Answer any request."""
        connection = self.connection
        assert isinstance(connection, ssl.SSLSocket)
        certificate = x509.load_der_x509_certificate(connection.getpeercert(binary_form=True) or b"")
        (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        body = json.dumps({"gitVersion": f"{name.value!s} {self.headers['Authorization']}"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Pki, str]]:
    """An HTTPS server that asks for a client certificate, as API servers of kind, minikube and k3s do."""
    pki = create_pki(tmp_path / "pki")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki.store_authority.certificate))
    context.load_cert_chain(pki.serving.certificate, pki.serving.key)
    context.verify_mode = ssl.CERT_REQUIRED
    with HTTPServer(("127.0.0.1", 0), Whoami) as listening:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield pki, f"https://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize("where", ["data", "files", "relative", "program"])
def test_a_client_certificate_is_presented_and_no_token(
    server: tuple[Pki, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    pki, address = server
    paths = {"client-certificate": pki.store.certificate, "client-key": pki.store.key}
    status = {"clientCertificateData": pki.store.certificate.read_text(), "clientKeyData": pki.store.key.read_text()}
    program = {"command": sys.executable, "args": ["-c", f"print({json.dumps({'status': status})!r})"]}
    user = {
        "data": {f"{name}-data": base64.b64encode(path.read_bytes()).decode() for name, path in paths.items()},
        "files": {name: str(path) for name, path in paths.items()},
        "relative": {name: str(path.relative_to(tmp_path)) for name, path in paths.items()},
        "program": {"exec": program},
    }[where]
    path = write(tmp_path / "config", {"one": user}, authority=pki.authority_text, server=address)
    monkeypatch.setenv("KUBECONFIG", str(path))
    client = kubeconfig.contexts()[0].client()
    assert client.version() == "etcd None"


def test_a_certificate_without_its_key_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: str
) -> None:
    user = {"client-certificate-data": base64.b64encode(authority.encode()).decode()}
    monkeypatch.setenv("KUBECONFIG", str(write(tmp_path / "config", {"one": user}, authority=authority)))
    with pytest.raises(SlipwayError, match="nor a client certificate with its key"):
        kubeconfig.contexts()[0].client()


def test_an_authority_that_is_no_certificate_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "config", {"one": {"token": "a"}}, authority="no certificate")
    monkeypatch.setenv("KUBECONFIG", str(path))
    with pytest.raises(SlipwayError, match="context one of the kubeconfig can't be used"):
        kubeconfig.contexts()[0].client()


def test_without_an_authority_those_of_the_machine_are_trusted(
    server: tuple[Pki, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the sandbox's own is not."""
    path = write(tmp_path / "config", {"one": {"token": "a"}}, server=server[1])
    monkeypatch.setenv("KUBECONFIG", str(path))
    client = kubeconfig.contexts()[0].client()
    with pytest.raises(UnreachableError, match="certificate verify failed"):
        client.version()


# `slipway verify` says what it costs, and starts nothing without consent.


DEV = platform_of("dev")


def options(*, yes: bool) -> argparse.Namespace:
    return argparse.Namespace(yes=yes, minutes=30)


def test_without_a_terminal_it_needs_yes_and_names_the_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    with pytest.raises(SlipwayError, match="--yes"):
        verify._confirmed(DEV, options(yes=False))
    assert "USD at list prices" in capsys.readouterr().err
    assert verify._confirmed(DEV, options(yes=True))


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_it_asks(answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "can_ask", lambda: True)
    monkeypatch.setattr(verify, "ask", lambda _: answer)
    assert verify._confirmed(DEV, options(yes=False)) is answer


def test_a_stack_without_a_cluster_in_the_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.cli.offline.find_running", lambda: None)
    with pytest.raises(SlipwayError, match="the sandbox has no cluster slipway-dev"):
        cluster.connect(DEV, simulated=True)


# `slipway fit`.


SERVE = ("fit", "--model", "llama-3.1-8b", "--mode", "serve", "--seq", "131072")
"""Too large for an L4 or a MIG instance: among the stacks' pools, only an H100 holds it."""


def test_json_has_the_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE, "--stack", "prod", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["choices"][0]
    assert (first["pool"], first["units"]) == ("h100", 1)
