"""The client of an API server: what it sends again, its discovery of kinds, and the end of a watch."""

import io
import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from itertools import repeat
from typing import Any, cast
from unittest.mock import Mock, patch

import pytest
import urllib3

from sandbox.errors import of_call
from sandbox.kubernetes.client import ApiError, Discovery, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import Watch
from tests.sandbox.plane import ControlPlane
from tests.support.patience import SECONDS


@pytest.mark.sandbox
def test_lists_are_read_to_the_end_and_have_their_kind(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.kubernetes.client.PAGE", 2)
    for index in range(5):
        labels = {"metadata": {"name": f"c{index}", "namespace": namespace, "labels": {"even": str(index % 2 == 0)}}}
        client.apply({"apiVersion": "v1", "kind": "ConfigMap", **labels}, "test")
    kind = client.discovery.find("v1", "ConfigMap")
    # Every namespace has one of the controller manager.
    found = [each for each in client.list(kind, namespace) if each["metadata"]["name"] != "kube-root-ca.crt"]
    assert [Ref.of(each) for each in found] == [Ref("v1", "ConfigMap", f"c{index}", namespace) for index in range(5)]
    assert len(list(client.list(kind, namespace, "even=True"))) == 3


@pytest.mark.sandbox
def test_a_server_that_does_not_answer_is_reported_by_address(plane: ControlPlane) -> None:
    stopped = KubeClient("https://127.0.0.1:9", plane.pki.authority_text, "token")
    with pytest.raises(UnreachableError, match=r"API server at https://127.0.0.1:9 does not answer"):
        stopped.get_path("/version")


METHODS = ("GET", "PATCH", "DELETE", "POST")


def reply(status: int, message: str = "", **headers: str) -> urllib3.HTTPResponse:
    return urllib3.HTTPResponse(json.dumps({"message": message}).encode(), headers, status)


DONE = reply(200, "done")
TIMED_OUT = reply(504, "Timeout: request did not complete within requested timeout - context deadline exceeded")
LATE = urllib3.exceptions.ReadTimeoutError(Mock(), "/", "Read timed out.")
STORE = reply(500, "etcdserver: request timed out")
WEBHOOK = reply(500, 'failed calling webhook "m.io": Post "https://w": context deadline exceeded')
QUOTA = reply(403, "x is forbidden: status unknown for quota: addons, resources: count/xs.example.com")
BUSY = [TIMED_OUT, LATE, STORE, WEBHOOK, QUOTA, reply(503), reply(429, **{"Retry-After": "7"})]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between two calls, which take no time."""
    found: list[float] = []
    monkeypatch.setattr("sandbox.kubernetes.client.time", Mock(sleep=found.append))
    return found


def asked(method: str, answers: Iterable[Any]) -> Any:
    """What a call of a server that answers so returns."""
    client = KubeClient("http://it", "", "")
    with patch.object(client._http, "request", side_effect=answers):
        return client.call(method, "/version")


@pytest.mark.parametrize("method", METHODS)
def test_a_request_that_a_restarting_server_dropped_is_sent_again_unless_it_creates(method: str) -> None:
    dropped = urllib3.exceptions.ProtocolError("Connection aborted")
    with pytest.raises(UnreachableError, match="Connection aborted") if method == "POST" else nullcontext():
        assert asked(method, [dropped, DONE]) == {"message": "done"}


@pytest.mark.parametrize("method", METHODS)
def test_a_call_that_a_busy_server_did_not_get_to_is_repeated(pauses: list[float], method: str) -> None:
    assert asked(method, [*BUSY, DONE]) == {"message": "done"}
    assert pauses == [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0]


@pytest.mark.parametrize("answer", [TIMED_OUT, LATE])
def test_a_call_is_given_up_once_the_server_makes_no_progress(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    monkeypatch.setattr("sandbox.kubernetes.client.BUSY_SECONDS", 0.01)
    monkeypatch.setattr("os.getloadavg", lambda: (900.0, 0.0, 0.0))
    why = r"the machine was too busy for it, at load 900.0 on \d+ processors, after .*: the same command goes on"
    with pytest.raises((ApiError, UnreachableError), match=why):
        asked("GET", repeat(answer))
    assert pauses


def test_repetitions_go_on_with_progress_take_turns_and_end_with_the_operation(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.kubernetes.client.BUSY_SECONDS", 0.2)
    client, turn, cancelled = KubeClient("http://it", "", ""), threading.Lock(), threading.Event()
    client.progress = lambda: len(pauses)
    taken: list[bool] = []

    def attempt() -> None:
        taken.append(turn.locked())
        time.sleep(0.1)
        if len(taken) == 5:
            cancelled.set()
        raise ApiError(504, {})

    def operation() -> None:
        of_call(cancelled)
        client.persist(attempt, turn)

    with pytest.raises(ApiError):
        copy_context().run(operation)
    assert taken == [False, *[True] * 4]


DEPLOYMENTS = {"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["list"]}
SCALE = {"name": "deployments/scale", "kind": "Scale", "namespaced": True, "verbs": ["get"]}


class Server:
    """Answers from a table, and counts the requests."""

    def __init__(self) -> None:
        core = {**DEPLOYMENTS, "name": "nodes", "kind": "Node", "namespaced": False}
        self.answers: dict[str, Any] = {
            "/apis/apps/v1": {"resources": [DEPLOYMENTS, SCALE]},
            "/api/v1": {"resources": [core]},
        }
        self.asked: list[str] = []

    def get(self, path: str, headers: object = None) -> Any:
        self.asked.append(path)
        if path not in self.answers:
            raise ApiError(404, {"message": "not found"})
        return self.answers[path]


@pytest.fixture
def server() -> Server:
    return Server()


def test_paths_follow_the_group_and_the_scope(server: Server) -> None:
    discovery = Discovery(server.get)
    deployment = discovery.find("apps/v1", "Deployment")
    assert deployment.path("team", "web") == "/apis/apps/v1/namespaces/team/deployments/web"
    assert deployment.path("") == "/apis/apps/v1/deployments"
    assert discovery.find("v1", "Node").path("ignored", "n") == "/api/v1/nodes/n"


def test_a_served_kind_is_cached(server: Server) -> None:
    discovery = Discovery(server.get)
    for _ in range(3):
        discovery.find("apps/v1", "Deployment")
    assert server.asked == ["/apis/apps/v1"]


def test_a_kind_that_is_served_later_is_found(server: Server) -> None:
    discovery = Discovery(server.get)
    with pytest.raises(NoSuchKindError, match=r'no matches for kind "Widget" in version "acme\.io/v1"'):
        discovery.find("acme.io/v1", "Widget")
    server.answers["/apis/acme.io/v1"] = {"resources": [{**DEPLOYMENTS, "name": "widgets", "kind": "Widget"}]}
    assert discovery.find("acme.io/v1", "Widget").plural == "widgets"


def test_only_a_forgotten_group_is_read_again(server: Server) -> None:
    discovery = Discovery(server.get)
    for _ in range(2):
        discovery.find("apps/v1", "Deployment")
        discovery.find("v1", "Node")
        discovery.forget("apps")
    assert server.asked == ["/apis/apps/v1", "/api/v1", "/apis/apps/v1"]


def test_an_error_other_than_not_found_is_passed_on() -> None:
    down = Mock(side_effect=ApiError(503, {"message": "down"}))
    with pytest.raises(ApiError, match="down"):
        Discovery(down).find("apps/v1", "Deployment")


def test_everything_lists_each_kind_once_in_the_preferred_version(server: Server) -> None:
    def version(name: str, *resources: dict[str, Any]) -> dict[str, Any]:
        return {"version": name, "resources": list(resources)}

    jobs = {"resource": "jobs", "scope": "Namespaced", "verbs": ["list"], "responseKind": {"kind": "Job"}}
    old = {"resource": "oldjobs", "scope": "Cluster", "verbs": ["list"], "responseKind": {"kind": "OldJob"}}
    review = {"resource": "reviews", "scope": "Cluster", "verbs": ["create"], "responseKind": {"kind": "Review"}}
    batch = {"metadata": {"name": "batch"}, "versions": [version("v1", jobs, review), version("v1beta1", jobs, old)]}
    server.answers |= {"/api": {"items": []}, "/apis": {"items": [batch]}}
    found = {each.kind: (each.api_version, each.namespaced) for each in Discovery(server.get).everything()}
    assert found == {"Job": ("batch/v1", True), "OldJob": ("batch/v1beta1", False)}


class Endless:
    """Answers each watch at once with nothing, as a server that is being stopped."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def call(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"items": [], "metadata": {"resourceVersion": "7"}}

    @contextmanager
    def stream(self, *_: Any) -> Iterator[urllib3.HTTPResponse]:
        answer = urllib3.HTTPResponse(io.BytesIO(b""), preload_content=False)
        try:
            yield answer
        finally:
            answer.close()
            self.ended.set()


def test_a_watch_whose_answer_has_ended_can_be_stopped() -> None:
    server = Endless()
    watch = Watch(cast("KubeClient", server), "/api/v1/ends", lambda *_: None)
    watch.start()
    assert server.ended.wait(SECONDS)
    watch.stop()
    assert not [each for each in threading.enumerate() if each.name == "watch /api/v1/ends"]
