"""The endpoint picker of a model, as its component renders it: Envoy and the picker run, and replicas are servers of
the test with the metrics of vLLM.

The picker has the rights of its account. It has no flag for the address that it listens on.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
import urllib3
import yaml

from components.tenancy.roles import PICKER as ACCOUNT
from components.tenancy.roles import picker_access, picker_role_manifest
from components.workloads import Picker, model_deployment
from components.workloads.serving.picker import ASKED, HEALTH, METRICS, PICKER, PROXY, READY, addresses
from sandbox import toolchain
from sandbox.cluster.pki import kubeconfig
from sandbox.cluster.process import ProcessSpec, with_free_ports
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from tests.components.workloads.samples import DEPLOYMENT
from tests.sandbox.plane import CLUSTER, ControlPlane, answers
from tests.support.cases import beside
from tests.support.patience import SECONDS
from tools import scanners

CASES: Final = beside(__file__)
pytestmark = pytest.mark.sandbox
NAME: Final = "chat"
SPACE: Final = DEPLOYMENT.target.namespace
FIRST, SECOND, STRANGER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
PAUSE: Final = 0.2
"""Seconds between the tokens of an answer."""
HEADER: Final = "x-gateway-destination-endpoint"
METRICS_OF_VLLM: Final = CASES["metrics of vLLM"]


class Replica(ThreadingHTTPServer):
    """A server that answers with its address."""

    waiting: int = 0
    used: float = 0.0

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), _Answer)
        self.host = host


class _Answer(BaseHTTPRequestHandler):
    server: Replica

    def do_GET(self) -> None:
        metrics = METRICS_OF_VLLM.format(waiting=self.server.waiting, used=self.server.used)
        self._say(metrics if self.path == "/metrics" else self.server.host)

    def do_POST(self) -> None:
        asked = self._body()
        # Its use lacks a number, as an answer of another server than vLLM may.
        answer = {"id": self.server.host, "usage": {"prompt_tokens": 1}}
        if b'"stream":true' in asked:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for _ in range(3):
                self.wfile.write(f"data: {json.dumps(answer)}\n\n".encode())
                self.wfile.flush()
                time.sleep(PAUSE)
            self.wfile.write(b"data: [DONE]\n\n")
            return
        self._say(json.dumps(answer))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(chunks)

    def _say(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log of the test is pytest's."""


class Model:
    """A model behind its picker."""

    def __init__(self, address: str, client: KubeClient, replicas: Mapping[str, Replica]) -> None:
        self.address, self.client, self.replicas = address, client, replicas

    def get(self, path: str, **headers: str) -> urllib3.BaseHTTPResponse:
        return urllib3.request("GET", f"{self.address}{path}", headers=headers, retries=False)

    def chat(self, prompt: str, **headers: str) -> str:
        """The replica that answers."""
        asked = {"model": NAME, "messages": [{"role": "user", "content": prompt}]}
        url = f"{self.address}/v1/chat/completions"
        answer = urllib3.request("POST", url, json=asked, headers=headers, retries=False)
        assert answer.status == 200, (answer.status, answer.data)
        return str(answer.json()["id"])

    def settled(self, prompt: str, expected: str) -> None:
        """Wait until the picker has read what the replicas say now (every 50 ms), and does not choose by chance."""
        until(lambda: {self.chat(prompt) for _ in range(8)} == {expected} or None, SECONDS, f"not sent to {expected}")

    def seen(self, *hosts: str) -> None:
        """These replicas are ready, and no others."""
        for host, replica in self.replicas.items():
            ready = host in hosts
            pod = Ref("v1", "Pod", f"{NAME}-{host[-1]}", SPACE)
            conditions = [{"type": "Ready", "status": str(ready)}]
            status = {"phase": "Running", "podIP": host, "podIPs": [{"ip": host}], "conditions": conditions}
            if (found := self.client.get(pod)) is None:
                labels = {"app.kubernetes.io/name": NAME}
                spec = {"containers": [{"name": "server", "image": "vllm/vllm-openai:v0.24.0"}]}
                self.client.apply({**pod.as_object(), "metadata": {**pod.as_object()["metadata"], "labels": labels},
                                   "spec": spec}, "test")  # fmt: skip
                found = self.client.get(pod)
            assert found is not None
            self.client.apply({**pod.as_object(), "status": status}, "test", force=True, subresource="status")
            replica.waiting, replica.used = 0, 0.0


@contextmanager
def replicas(*hosts: str) -> Iterator[dict[str, Replica]]:
    """Servers on the same port of different addresses."""

    def start(ports: tuple[int, ...]) -> dict[str, Replica]:
        return {host: Replica(host, ports[0]) for host in hosts}

    servers = with_free_ports(1, start)
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield servers
    for server in servers.values():
        server.shutdown()
        server.server_close()


def container(deployment: Mapping[str, Any], name: str) -> Any:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return next(each for each in containers if each["name"] == name)


def account(plane: ControlPlane, directory: Path) -> Path:
    """The kubeconfig of the picker's account."""
    endpoint = plane.pool.get(CLUSTER)
    assert endpoint is not None
    for each in (picker_role_manifest(), *picker_access(SPACE).values()):
        plane.client.apply(each, "test")
    path = f"/api/v1/namespaces/{SPACE}/serviceaccounts/{ACCOUNT}/token"
    token = plane.client.call("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"})
    file = directory / "kubeconfig"
    file.write_text(yaml.safe_dump(kubeconfig({CLUSTER: endpoint}, token["status"]["token"])))
    return file


def start(plane: ControlPlane, stack: ExitStack, directory: Path, port: int, ports: tuple[int, ...]) -> str:
    """Both containers of a picker's pod, with the ports of the test instead of their own; the address of Envoy."""
    binary, envoy = toolchain.find("endpoint-picker"), scanners.find("envoy")
    assert binary is not None
    assert envoy is not None
    asked, health, metrics, ready, here = ports
    rendered = model_deployment(NAME, replace(DEPLOYMENT, picker=Picker(pools=("cpu",))))["picker"].manifest
    changed = {ASKED: asked, HEALTH: health, METRICS: metrics, DEPLOYMENT.port: port}
    arguments = [_with(each, changed) for each in container(rendered, PICKER)["args"]]
    named = {
        each["name"]: f"{NAME}-picker-5d4f8c7b9-x2x4z"
        for each in container(rendered, PICKER)["env"]
        if each.get("valueFrom") == {"fieldRef": {"fieldPath": "metadata.name"}}
    }
    environment = {"KUBECONFIG": str(account(plane, directory)), **named}
    log = directory / "logs"
    spec = ProcessSpec(
        PICKER, [str(binary), *arguments], log / "picker.log", environment=environment,
        ready=lambda: answers(f"http://127.0.0.1:{metrics}/metrics"),
    )  # fmt: skip
    stack.callback(plane.supervisor.stop, plane.supervisor.start(spec))
    changed = {ASKED: asked, READY: ready, DEPLOYMENT.port: here}
    first, text, *rest = container(rendered, PROXY)["args"]
    configuration = json.loads(text)
    service = {f"{NAME}-replicas.{SPACE}.svc.cluster.local": (SECOND, port)}
    for address in addresses(configuration):
        where, number = address["address"], address["port_value"]
        # Nobody listens on all addresses of this machine, and its Services have no names.
        address["address"], address["port_value"] = service.get(where, ("127.0.0.1", changed[number]))
    arguments = [first, json.dumps(configuration), *rest]
    log = directory / "logs" / "envoy.log"
    spec = ProcessSpec(PROXY, [str(envoy), *arguments], log, ready=lambda: answers(f"http://127.0.0.1:{ready}/ready"))
    stack.callback(plane.supervisor.stop, plane.supervisor.start(spec))
    return f"http://127.0.0.1:{here}"


def _with(flag: str, ports: Mapping[int, int]) -> str:
    name, _, value = flag.partition("=")
    return f"{name}={ports[int(value)]}" if value.isdecimal() and int(value) in ports else flag


@pytest.fixture(scope="module")
def behind(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    if toolchain.find("endpoint-picker") is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure endpoint-picker`")
    if scanners.find("envoy") is None:
        pytest.skip("no Envoy: run `make scanners`")
    plane.client.apply(Ref("v1", "Namespace", SPACE).as_object(), "test")
    plane.client.apply(Ref("v1", "ServiceAccount", "default", SPACE).as_object(), "test")
    with ExitStack() as stack:
        servers = stack.enter_context(replicas(FIRST, SECOND, STRANGER))
        port = servers[FIRST].server_port
        directory = tmp_path_factory.mktemp("picker")
        address = with_free_ports(5, lambda ports: start(plane, stack, directory, port, ports))
        yield Model(address, plane.client, {host: servers[host] for host in (FIRST, SECOND)})


@pytest.fixture
def model(behind: Model) -> Model:
    """With two idle replicas."""
    behind.seen(FIRST, SECOND)
    for host in (FIRST, SECOND):
        for other in (FIRST, SECOND):
            behind.replicas[other].waiting = 0 if other == host else 20
        behind.settled(f"is {host} known?", host)
    behind.seen(FIRST, SECOND)
    return behind


def test_a_request_goes_where_fewer_wait(model: Model) -> None:
    model.replicas[FIRST].waiting = 8
    model.settled("hello", SECOND)
    assert {model.chat(f"question {number}") for number in range(10)} == {SECOND}


def test_a_prompt_goes_where_its_beginning_is_cached_unless_that_replica_is_busy(model: Model) -> None:
    document = "A platform for machine learning on Kubernetes. " * 200
    where = model.chat(f"{document} first?")
    other = SECOND if where == FIRST else FIRST
    assert {model.chat(f"{document} question {number}?") for number in range(10)} == {where}
    model.replicas[where].waiting, model.replicas[where].used = 30, 0.9
    model.settled(f"{document} later?", other)


def test_other_requests_go_to_the_service_of_the_replicas_whatever_their_body(model: Model) -> None:
    assert (model.get("/v1/models").status, model.get("/v1/models").data.decode()) == (200, SECOND)
    for path, body in {
        "/v1/embeddings": b'{"model": "chat", "input": "x"}',
        "/v1/audio/transcriptions": b"--x",
    }.items():
        answer = urllib3.request("POST", f"{model.address}{path}", body=body, retries=False)
        assert (answer.status, answer.json()["id"]) == (200, SECOND), path


def test_an_answer_comes_as_it_is_written(model: Model) -> None:
    asked = {"model": NAME, "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    url = f"{model.address}/v1/chat/completions"
    answer = urllib3.request("POST", url, json=asked, retries=False, preload_content=False)
    parts = [(time.monotonic(), part) for part in iter(lambda: answer.read1(1024), b"")]
    assert parts[-1][1].endswith(b"data: [DONE]\n\n")
    assert parts[-1][0] - parts[0][0] > 2 * PAUSE, parts


ODD: Final = (
    b"{", b"[]", b"null", b'{"model": 5}', b'{"model": "chat"}', b'{"model": "chat", "messages": 3}',
    b'{"model": "chat", "messages": [null, {"content": [1, {"type": "text"}]}]}', b'{"model": "chat", "prompt": {}}',
    b'{"model": "chat", "prompt": [1, 2]}', b"\xff\xfe" * 100,
)  # fmt: skip


def test_what_is_no_prompt_is_refused_and_the_next_request_is_answered(model: Model) -> None:
    for path in ("/v1/chat/completions", "/v1/completions"):
        for body in ODD:
            answer = urllib3.request("POST", f"{model.address}{path}", body=body, retries=False)
            assert answer.status == 400, (path, body)
    assert model.chat("hello") in (FIRST, SECOND)


def test_nobody_chooses_the_address_but_the_picker(model: Model) -> None:
    port = model.replicas[FIRST].server_port
    for host in (STRANGER, "169.254.170.23"):
        named = {HEADER: f"{host}:{port}"}
        assert model.chat("hello", **named) in (FIRST, SECOND)
        assert model.get("/v1/models", **named).data.decode() == SECOND


def test_a_replica_that_is_not_ready_gets_nothing_and_without_one_a_request_is_refused(model: Model) -> None:
    model.seen(SECOND)
    model.settled("hello", SECOND)
    assert {model.chat(f"question {number}") for number in range(10)} == {SECOND}
    model.seen()
    asked = {"model": NAME, "messages": [{"role": "user", "content": "hello"}]}
    url = f"{model.address}/v1/chat/completions"
    until(lambda: urllib3.request("POST", url, json=asked, retries=False).status >= 500 or None, SECONDS, "answered")
