"""Canaries: which are rolled back, which go on, and why; what is asked of Prometheus, and what the CronJob may do.
KServe's part is in tests/sandbox/controllers/test_kserve.py."""

import ast
import io
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest

from components.addons.kserve.runtimes import SERVERS, TRITON_ERRORS, VLLM_ERRORS
from components.base.canaries import ROLLBACK, ROLLED_BACK, SELECTORS, VERSION, matched
from components.base.kubernetes import type_token
from components.composition import canary_rollback
from components.composition.canary_rollback import Graph, Limits, look, query, rollback_of
from components.composition.in_cluster import Body
from components.workloads import Canary, model_server
from tests.components.composition.test_cost_guards import TEAMS, record_guards
from tests.components.workloads.samples import SERVER, body

NOW: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
LIMITS: Final = Limits(window=300, requests=50)
V2: Final = "s3://models/research/v2"
MARK: Final = {"version": V2, "at": "2026-11-27T12:00:00Z", "reason": "3 of 50 requests failed in 300 s, more than 5 %"}


def graph(**annotations: str | None) -> dict[str, Any]:
    """The graph of a program, as the API server has it, with other annotations."""
    canary = Canary(storage_uri=V2, percent=10, max_error_percent=5, errors=VLLM_ERRORS)
    made: dict[str, Any] = body(model_server("chat", replace(SERVER, canary=canary)), "split")
    notes = {**made["metadata"]["annotations"], **annotations}
    kept = {key: value for key, value in notes.items() if value is not None}
    return {**made, "metadata": {**made["metadata"], "annotations": kept, "uid": "1"}}


def pod(name: str = "chat-canary-predictor-6d-x1", version: str = V2) -> dict[str, Any]:
    return {"metadata": {"name": name, "annotations": {VERSION: version}}}


class Server:
    """Pods of a namespace; it keeps what is written."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.pods = pods
        self.patches: list[list[Mapping[str, Any]]] = []
        self.events: list[Mapping[str, Any]] = []

    def __call__(self, method: str, path: str, body: Body = None) -> dict[str, Any]:
        if method == "GET":
            assert path.endswith("/pods?labelSelector=serving.kserve.io/inferenceservice%3Dchat-canary")
            return {"items": list(self.pods)}
        if isinstance(body, Mapping):
            self.events.append(body)
        else:
            graph, _, manager = path.partition("?")
            assert graph == "/apis/serving.kserve.io/v1alpha1/namespaces/research/inferencegraphs/chat-split"
            assert (method, manager) == ("PATCH", "fieldManager=slipway-canary-rollback")
            self.patches.append(list(body or ()))
        return {}


def looked(server: Server, failed: float | None, answered: float | None, **annotations: str | None) -> str:
    """The decision, if so many requests failed and were answered."""

    def count(text: str) -> float | None:
        return failed if 'status="5xx"' in text else answered

    return look(Graph(server, graph(**annotations)), count, LIMITS, NOW)


def test_a_canary_with_too_many_failures_gets_no_requests() -> None:
    server = Server(pod())
    assert looked(server, 3, 50) == "was rolled back: 3 of 50 requests failed in 300 s, more than 5 %"
    (patch,) = server.patches
    unchanged, replaced, mark = patch
    assert (unchanged["op"], unchanged["path"]) == ("test", "/spec/nodes/root/steps")
    assert unchanged["value"] == graph()["spec"]["nodes"]["root"]["steps"]
    assert replaced["value"] == [
        {"name": "stable", "serviceName": "chat", "weight": 100},
        {"name": "canary", "serviceName": "chat-canary", "weight": 0},
    ]
    assert mark["path"] == "/metadata/annotations/platform.slipway~1canary-rolled-back"
    assert json.loads(mark["value"]) == MARK
    (event,) = server.events
    assert (event["type"], event["reason"]) == ("Warning", "CanaryRolledBack")
    assert event["involvedObject"]["kind"] == "InferenceGraph"
    assert event["message"].endswith("more than 5 %. Remove the canary, or give a new version")


@pytest.mark.parametrize(
    ("failed", "answered", "said"),
    [
        (2.5, 50, "2 of 50 requests failed"),  # exactly 5 %
        (None, 50, "0 of 50 requests failed"),
        (49, 49, "50 are needed"),
        (0, 0, "50 are needed"),
    ],
)
def test_others_go_on(failed: float | None, answered: float, said: str) -> None:
    server = Server(pod())
    decision = looked(server, failed, answered)
    assert decision.startswith("goes on")
    assert said in decision
    assert (server.patches, server.events) == ([], [])


def test_silence_rolls_nothing_back_and_is_said_once_an_hour() -> None:
    server = Server(pod())
    assert "Prometheus has none of http_requests_total" in looked(server, None, None)
    (event,) = server.events
    assert (event["reason"], event["metadata"]["name"]) == ("CanaryNotMeasured", "chat-split.canarynotmeasured")
    assert server.patches == []


def test_pods_of_an_older_version_are_not_counted() -> None:
    assert looked(Server(pod(version="s3://models/research/v1")), 50, 50) == f"goes on: no pod of {V2} runs"


def test_a_version_that_was_rolled_back_gets_no_requests_again_and_a_new_one_does() -> None:
    """After an `up` that wrote the weights again."""
    server = Server(pod())
    assert looked(server, 0, 1000, **{ROLLED_BACK: json.dumps(MARK)}).startswith("was rolled back again")
    assert [step["weight"] for step in server.patches[0][1]["value"]] == [100, 0]
    assert [event["reason"] for event in server.events] == ["CanaryRolledBack"]
    new = Server(pod())
    assert looked(new, 0, 1000, **{ROLLED_BACK: json.dumps({**MARK, "version": "s3://v1"})}).startswith("goes on")
    assert looked(new, 0, 1000, **{ROLLED_BACK: "nothing"}).startswith("goes on")
    assert (new.patches, new.events) == ([], [])


def test_a_graph_that_was_rolled_back_is_left_as_it_is() -> None:
    server, rolled_back = Server(pod()), graph(**{ROLLED_BACK: json.dumps(MARK)})
    for step in rolled_back["spec"]["nodes"]["root"]["steps"]:
        step["weight"] = 0 if step["name"] == "canary" else 100
    assert "gets no requests" in look(Graph(server, rolled_back), lambda _: 50, LIMITS, NOW)
    assert (server.patches, server.events) == ([], [])


def test_the_mark_goes_with_the_canary() -> None:
    server = Server()
    looked(server, 50, 50, **{ROLLBACK: None, ROLLED_BACK: json.dumps(MARK)})
    assert [[(one["op"], one["path"]) for one in patch] for patch in server.patches] == [
        [("remove", "/metadata/annotations/platform.slipway~1canary-rolled-back")]
    ]
    assert looked(Server(), 50, 50, **{ROLLBACK: None}) == "has no canary that may be rolled back"


RULE: Final = {
    "service": "chat",
    "version": "2",
    "max_error_percent": 5,
    "failed": ["a_total"],
    "answered": ["b_total"],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"query": "up"}, "must be JSON with"),
        ({"service": 'x",namespace!="research'}, "name of an InferenceService"),
        ({"max_error_percent": 100}, "above 0 and below 100"),
        ({"max_error_percent": True}, "a number"),
        ({"failed": []}, "1 to 4"),
        ({"failed": "a_total"}, "1 to 4"),
        ({"answered": ["a_total"] * (SELECTORS + 1)}, "1 to 4"),
        ({"answered": [1]}, "1 to 4"),
        ({"failed": ['a{b="c"} or vector(1)']}, "1 to 4"),
        ({"failed": ['a{b="c",d=~".*"}']}, "1 to 4"),
        ({"failed": ['a{b="c\\"}"}']}, "1 to 4"),
        ({"failed": ["a[5m]"]}, "1 to 4"),
    ],
)
def test_an_annotation_that_somebody_wrote_is_checked(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        rollback_of(json.dumps({**RULE, **change}))
    server = Server(pod())
    assert "nothing can roll it back" in looked(server, 50, 50, **{ROLLBACK: json.dumps({**RULE, **change})})
    assert [event["reason"] for event in server.events] == ["CanaryNotMeasured"]


def test_a_query_is_of_these_pods_whatever_its_labels() -> None:
    asked = query('a_total{namespace="other"}', "research", ["p-1", "p.2"], 60)
    assert (
        asked.count('a_total{namespace="research",pod=~"p-1|p[.]2",namespace="other"}') == asked.count("a_total") == 3
    )
    for server in SERVERS.values():
        assert all(map(matched, (*server.errors.failed, *server.errors.answered) if server.errors else ()))
    assert TRITON_ERRORS.answered[1] in TRITON_ERRORS.failed[0]


def test_what_fails_for_one_namespace_or_graph_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(url: str, timeout: float) -> io.StringIO:
        asked = parse_qs(urlsplit(url).query)["query"][0]
        if "broken" in asked:
            raise HTTPError(url, 503, "unavailable", None, None)  # type: ignore[arg-type]
        value = "10" if "5xx" in asked else "100"
        return io.StringIO(json.dumps({"data": {"result": [{"metric": {}, "value": [0, value]}]}}))

    monkeypatch.setattr("urllib.request.urlopen", answer)
    server, lines = Server(pod()), list[str]()

    def api(method: str, path: str, body: Body = None) -> dict[str, Any]:
        if path.endswith("/inferencegraphs"):
            if "/secret/" in path:
                raise HTTPError(path, 403, "forbidden", None, None)  # type: ignore[arg-type]
            broken = {**RULE, "service": "chat-canary", "version": V2, "failed": ["broken_total"]}
            return {"items": [graph(**{ROLLBACK: json.dumps(broken)}), graph()]}
        return server(method, path, body)

    wrong = canary_rollback.main("http://p:9090", "300", "50", "secret", "research", api=api, say=lines.append)
    assert wrong == 2
    assert [line.partition(": ")[2][:24] for line in lines] == [
        "its graphs can't be read", "is left as it is: HTTP E", "was rolled back: 10 of 1",
    ]  # fmt: skip


def test_the_cron_job_may_change_graphs_in_namespaces_for_serving_alone() -> None:
    addons = {
        "certManager": {}, "kueue": {}, "kubePrometheusStack": {},
        "kserve": {"ingress": "none", "canaryRollback": {"window": "10m", "minRequests": 20}},
    }  # fmt: skip
    teams = {"nlp": {**TEAMS["nlp"], "namespaces": {"serving": {"purpose": "serving"}, "lab": {"purpose": "training"}}}}
    recording = record_guards(teams=teams, addons=addons)
    job = recording.one(type_token("batch/v1", "CronJob")).inputs["spec"]
    spec = job["jobTemplate"]["spec"]["template"]["spec"]
    (container,), (volume,) = spec["containers"], spec["volumes"]
    assert (job["schedule"], container["command"][4:]) == ("* * * * *", ["600", "20", "nlp-serving"])
    # Each module where Python looks for it, and nothing imported that is not there.
    data = recording.one(type_token("v1", "ConfigMap")).inputs["data"]
    items = volume["configMap"]["items"]
    there = {item["path"].removesuffix(".py").replace("/", "."): data[item["key"]] for item in items}
    assert container["command"][2] in there
    for source in there.values():
        for node in ast.walk(ast.parse(source)):
            named = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            named += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert all(one in there or one.partition(".")[0] in sys.stdlib_module_names for one in named), named
    rbac = "rbac.authorization.k8s.io/v1"
    rules = recording.one(type_token(rbac, "ClusterRole")).inputs["rules"]
    assert [(one["resources"], one["verbs"]) for one in rules] == [
        (["pods"], ["get", "list"]), (["events"], ["create"]), (["inferencegraphs"], ["get", "list", "patch"]),
    ]  # fmt: skip
    assert recording.one(type_token(rbac, "RoleBinding")).inputs["metadata"]["namespace"] == "nlp-serving"
    trained = {"nlp": {**TEAMS["nlp"], "namespaces": {"lab": {"purpose": "training"}}}}
    assert record_guards(teams=trained, addons=addons).of(type_token("batch/v1", "CronJob")) == {}
