"""KEDA's operator: it asks Prometheus, scales from none and back, and makes the autoscaler that other tests play."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from components.workloads.serving.scaling import Autoscaling, Scaled, queries, scaled_object
from sandbox import toolchain
from sandbox.cluster.pki import issue, kubeconfig
from sandbox.cluster.process import Process, ProcessSpec, with_free_ports
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from tests.e2e.workloads.load import autoscaler
from tests.sandbox.controllers.installed import applied, holds, wait
from tests.sandbox.living import living_plane
from tests.sandbox.plane import CLUSTER, ControlPlane, answers
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
SPACE: Final = "models"
NAME: Final = "chat"
DEPLOYMENT: Final = Ref("apps/v1", "Deployment", NAME, SPACE)
SCALED: Final = Ref("keda.sh/v1alpha1", "ScaledObject", NAME, SPACE)
HPA: Final = Ref("autoscaling/v2", "HorizontalPodAutoscaler", f"keda-hpa-{NAME}", SPACE)


class Prometheus(ThreadingHTTPServer):
    """Its HTTP API, as far as KEDA asks: every query has one value, and is kept."""

    value: float = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: set[str] = set()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Prometheus

    def do_GET(self) -> None:
        self.server.asked |= set(parse_qs(urlsplit(self.path).query)["query"])
        result = [{"metric": {}, "value": [0, str(self.server.value)]}]
        body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log of the test is pytest's."""


@contextmanager
def prometheus() -> Iterator[Prometheus]:
    with Prometheus() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def operator(plane: ControlPlane, directory: Path, ports: tuple[int, ...]) -> Process:
    """The operator with the admin's rights, on loopback, with a certificate for its server of metrics."""
    endpoint, binary = plane.pool.get(CLUSTER), toolchain.find("keda")
    assert endpoint is not None
    assert binary is not None
    (directory / "kubeconfig").write_text(yaml.safe_dump(kubeconfig({CLUSTER: endpoint}, plane.pki.admin_token)))
    pair, certificates = issue(plane.pki.authority, "keda", ["127.0.0.1"]), directory / "certificates"
    certificates.mkdir(exist_ok=True)
    files = {"ca.crt": plane.pki.authority.certificate, "tls.crt": pair.certificate, "tls.key": pair.key}
    for name, file in files.items():
        (certificates / name).write_bytes(file.read_bytes())
    flags = {
        "health-probe-bind-address": f"127.0.0.1:{ports[0]}",
        "metrics-service-bind-address": f"127.0.0.1:{ports[1]}",
        "enable-prometheus-metrics": "false",
        "cert-dir": str(certificates),
    }
    environment = {
        "KUBECONFIG": str(directory / "kubeconfig"),
        "WATCH_NAMESPACE": "",
        "POD_NAMESPACE": "keda",
        "KEDA_CLUSTER_OBJECT_NAMESPACE": "keda",
    }
    health = f"http://127.0.0.1:{ports[0]}/readyz"

    argv = [str(binary), *(f"--{name}={value}" for name, value in flags.items())]
    log = directory / "logs" / "keda.log"
    return plane.supervisor.start(
        ProcessSpec("keda", argv, log, ready=lambda: answers(health), environment=environment)
    )


@pytest.fixture
def plane(tmp_path: Path, shared: Path) -> Iterator[ControlPlane]:
    """A living cluster with KEDA's CRDs, its operator, and a Deployment."""
    if toolchain.find("keda") is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure keda`")
    with living_plane(tmp_path) as plane:
        files = sorted((shared / "charts/keda/crds").glob("*.yaml"))
        define(plane.client, [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files])
        labels = {"app": NAME}
        containers = [{"name": "vllm", "image": "registry.example.com/vllm:1"}]
        template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
        server = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        spaces = (Ref("v1", "Namespace", name).as_object() for name in ("keda", SPACE))
        applied(plane.client, *spaces, {**DEPLOYMENT.as_object(), "spec": server})
        with_free_ports(2, lambda ports: operator(plane, tmp_path, ports))
        yield plane


def replicas(client: KubeClient, count: int) -> None:
    """Wait until so many pods of the Deployment are ready."""

    def look() -> bool | None:
        found = client.get(DEPLOYMENT) or {}
        ready = (found.get("status") or {}).get("readyReplicas", 0)
        return (found["spec"]["replicas"], ready) == (count, count) or None

    until(look, SECONDS, lambda: f"not {count}: {(client.get(DEPLOYMENT) or {}).get('status')}")


def scaled(server: Prometheus, **more: Any) -> Object:
    """A ScaledObject of a typed model that scales by waiting requests, whose Prometheus is the test's."""
    scaling = Autoscaling(gpu_percent=None, waiting=10, prometheus=server.url)
    spec = scaled_object(scaling, Scaled(namespace=SPACE, deployment=NAME, mig=False))
    return {**SCALED.as_object(), "spec": {**spec, **more}}


def test_it_makes_the_autoscaler_that_other_tests_play_and_asks_the_query_of_a_model(plane: ControlPlane) -> None:
    with prometheus() as server:
        applied(plane.client, scaled(server))
        wait(plane.client, SCALED, holds("Ready"), "not ready")
        made = wait(plane.client, HPA, lambda found: found, "not made")
        played = autoscaler(plane.client.get(SCALED) or {})
        assert made["spec"] == played["spec"]
        assert [each["uid"] for each in made["metadata"]["ownerReferences"]] == [
            each["uid"] for each in played["metadata"]["ownerReferences"]
        ]
        query, _ = queries(Autoscaling(), Scaled(namespace=SPACE, deployment=NAME, mig=False))["waiting"]
        until(lambda: query in server.asked or None, SECONDS, lambda: f"not asked: {server.asked}")


def test_a_model_goes_to_none_and_comes_back_by_what_prometheus_answers(plane: ControlPlane) -> None:
    with prometheus() as server:
        # KEDA decides about none and one; between one and the most, the autoscaler does.
        idle = scaled(server, minReplicaCount=0, pollingInterval=1, cooldownPeriod=1)
        # Of an answer that fails, KEDA would make one replica.
        del idle["spec"]["fallback"]
        applied(plane.client, idle)
        replicas(plane.client, 0)
        server.value = 40
        replicas(plane.client, 1)
        wait(plane.client, SCALED, holds("Active"), "not active")
        server.value = 0
        replicas(plane.client, 0)


def test_a_trigger_that_keda_cannot_read_is_said_in_the_scaled_object(plane: ControlPlane) -> None:
    with prometheus() as server:
        wrong = scaled(server)
        del wrong["spec"]["triggers"][0]["metadata"]["threshold"]
        applied(plane.client, wrong)

        def refused(found: Object) -> str | None:
            conditions = {each["type"]: each for each in (found.get("status") or {}).get("conditions", ())}
            ready = conditions.get("Ready", {})
            return str(ready["message"]) if ready.get("status") == "False" and ready.get("message") else None

        assert "threshold" in wait(plane.client, SCALED, refused, "not refused")
