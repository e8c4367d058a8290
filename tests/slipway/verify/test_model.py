"""A model that answers: what is created, what its answer proves, and the script that asks it."""

import base64
import json
import os
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import NoSuchKindError
from sandbox.kubernetes.objects import Object, Ref
from slipway.verify import model, report
from slipway.verify.checks import CheckStatus, ClusterCheck
from tests.slipway.verify.cluster import ANSWER, Cluster, runs, verified
from tests.support.stacks import platform_of

PROD = platform_of("prod")
INSIDE = "the model answers inside the cluster"
OUTSIDE = "the model answers at https://slipway-verify-model-language-serving.models.example.com"
ADMITTED = "the API server admits an InferenceService and a Job that asks it"


def verify(cluster: Cluster, *, simulated: bool = False) -> dict[str, ClusterCheck]:
    found = verified(cluster, PROD, simulated=simulated)
    return {one.what: one for one in found if one.subject == "model (language-serving)"}


def says(message: str) -> Cluster:
    def react(cluster: Cluster, job: Object) -> None:
        runs(cluster, job, message=message if job["metadata"]["name"] == model.NAME else None)

    return Cluster(react)


def test_a_model_that_answers_inside_and_outside_passes() -> None:
    cluster = Cluster(runs)
    found = verify(cluster)
    assert {what: one.status for what, one in found.items()} == dict.fromkeys(
        (ADMITTED, "its queue admits the Job", INSIDE, OUTSIDE), CheckStatus.PASSED
    )
    assert not [ref for ref in cluster.objects if ref.kind == "InferenceService"]


@pytest.mark.parametrize(
    ("message", "failed"),
    [
        (ANSWER.replace("inside 200", ""), {INSIDE}),
        (ANSWER.replace("predictions", "error"), {INSIDE}),
        (ANSWER.replace("outside 200", "outside 503 "), {OUTSIDE}),
        ("inside 200\n" + ANSWER.splitlines()[1], {OUTSIDE}),
        ("", {INSIDE, OUTSIDE}),
    ],
)
def test_a_model_that_does_not_answer_is_reported(message: str, failed: set[str]) -> None:
    found = verify(says(message))
    assert {what for what, one in found.items() if one.status is CheckStatus.FAILED} == failed


def test_a_queue_that_never_admits_the_job_is_reported() -> None:
    cluster = Cluster(lambda cluster, job: None if job["spec"].get("suspend") else runs(cluster, job))
    assert verify(cluster)["its queue admits the Job"].detail == "the Job is still suspended"


def test_the_sandbox_without_kueue_proves_admission_and_says_that_the_rest_needs_aws() -> None:
    found = verify(Cluster(runs), simulated=True)
    assert {what: one.status for what, one in found.items()} == {
        ADMITTED: CheckStatus.PASSED,
        **dict.fromkeys(("its queue admits the Job", INSIDE, OUTSIDE), CheckStatus.NEEDS_AWS),
    }


def test_the_sandbox_with_kueue_proves_placement() -> None:
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "language"},
        "status": {"conditions": [{"type": "Active", "status": "True"}]},
    }  # fmt: skip
    found = verify(Cluster(runs, queue), simulated=True)
    assert {what: one.status for what, one in found.items()} == {
        **dict.fromkeys((ADMITTED, "its queue admits the Job", "its Job is placed on pool cpu"), CheckStatus.PASSED),
        **dict.fromkeys((INSIDE, OUTSIDE), CheckStatus.NEEDS_AWS),
    }


@pytest.mark.parametrize(("simulated", "status"), [(True, CheckStatus.NEEDS_AWS), (False, CheckStatus.FAILED)])
def test_a_cluster_without_the_crds_of_kserve_is_reported(simulated: bool, status: CheckStatus) -> None:
    class Bare(Cluster):
        def create(self, obj: Mapping[str, Any], manager: str) -> Object:
            if obj["kind"] == "InferenceService":
                raise NoSuchKindError(obj["apiVersion"], obj["kind"])
            return super().create(obj, manager)

    found = verify(Bare(runs), simulated=simulated)
    assert [(one.what, one.status) for one in found.values()] == [(ADMITTED, status)]


def test_an_inference_service_of_a_killed_run_is_removed_first() -> None:
    (probe,) = model.of_model(PROD, 60)
    cluster = Cluster(runs, *probe.before)
    assert verify(cluster)[INSIDE].status is CheckStatus.PASSED
    assert cluster.get(Ref.of(probe.before[0])) is None


def test_the_model_is_in_a_namespace_that_serves_with_its_runtime_and_queue() -> None:
    (probe,) = model.of_model(PROD, 60, uri="s3://models/flowers")
    (service,) = probe.before
    assert service["metadata"]["namespace"] == "language-serving"
    assert service["spec"]["predictor"]["model"]["storageUri"] == "s3://models/flowers"
    assert service["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert probe.job["spec"]["suspend"]
    assert probe.pool.gpu is None


def test_a_stack_without_kserve_reports_that_no_model_is_asked() -> None:
    assert model.of_model(platform_of("dev"), 60) == []
    assert any("a model that answers" in text for text in report.not_covered(platform_of("dev")))
    assert not any("a model that answers" in text for text in report.not_covered(PROD))


def test_the_request_has_a_png_of_the_stated_size() -> None:
    (instance,) = json.loads(model.request())["instances"]
    picture = base64.b64decode(instance["image_bytes"]["b64"])
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture[16:24] == (8).to_bytes(4, "big") * 2
    length = int.from_bytes(picture[33:37], "big")
    assert len(zlib.decompress(picture[41 : 41 + length])) == 8 * (1 + 3 * 8)


class Server(BaseHTTPRequestHandler):
    """Answers 503 until it was asked often enough, then a prediction."""

    wait = 0
    asked: list[str] = []  # noqa: RUF012 - the class is made anew for each test

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append(self.path)
        ready = len(self.asked) > self.wait and "instances" in json.loads(body)
        answer = b'{"predictions": [1]}' if ready else b"{}"
        self.send_response(200 if ready else 503)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Server]]]:
    handler = type("Handler", (Server,), {"asked": []})
    with HTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", handler
        http.shutdown()


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl: apt-get install curl")
@pytest.mark.parametrize(("outside", "last"), [("/outside", "outside 200"), ("", ""), ("closed", "outside 000")])
def test_the_script_asks_until_the_model_answers(
    outside: str, last: str, server: tuple[str, type[Server]], tmp_path: Path
) -> None:
    address, handler = server
    handler.wait = 1
    url = "http://127.0.0.1:1" if outside == "closed" else f"{address}{outside}" if outside else ""
    text = model.ASK.replace("/tmp/", f"{tmp_path}/").replace("/dev/termination-log", str(tmp_path / "last"))  # noqa: S108
    text = text.replace("sleep 5", "sleep 0.1").replace("sleep 10", "sleep 0.1")
    variables = {"REQUEST": model.request(), "INSIDE": f"{address}/inside", "OUTSIDE": url, "PUBLIC_SECONDS": "1"}
    subprocess.run(["sh", "-c", text], env={**os.environ, **variables}, check=True, timeout=120)
    lines = (tmp_path / "last").read_text().splitlines()
    assert lines[:2] == ["inside 200", '{"predictions": [1]}']
    assert (lines[2] if len(lines) > 2 else "").startswith(last)
    assert handler.asked[:2] == ["/inside", "/inside"]
