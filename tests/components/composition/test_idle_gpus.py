"""Idle GPUs: who is warned, who is stopped, who keeps them; and what the CronJob may do. Kueue's part is in
tests/sandbox/controllers/test_kueue_teams.py."""

import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from components.base.kubernetes import type_token
from components.composition import take_back
from components.composition.cron_jobs import OURS
from components.composition.in_cluster import Body
from components.composition.scripts import IDLE_GPUS
from components.composition.take_back import KEEP, WARNED, WORKLOAD, Limits
from components.observability.alerts import IDLE
from components.observability.recording import GPU_ACTIVE
from components.workloads.serving.scaling import PROMETHEUS
from spec.pools import keys
from tests.components.composition.test_cost_guards import TEAMS, record_guards

NOW: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
LIMITS: Final = Limits(after=timedelta(hours=2), warning=timedelta(hours=1))
MEASURED: Final[dict[str, Any]] = {"kueue": {}, "kubePrometheusStack": {}, "gpuOperator": {}}
OWNER: Final = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1"}


def pod(name: str, *, gpu: bool = True, phase: str = "Running", keep: str | None = None) -> dict[str, Any]:
    limits = {keys.GPU: "1"} if gpu else {"cpu": "1"}
    kept = {} if keep is None else {KEEP: keep}
    return {
        "metadata": {"name": name, "annotations": {WORKLOAD: "job-train", **kept}},
        "spec": {"containers": [{"name": "main"}, {"name": "gpu", "resources": {"limits": limits}}]},
        "status": {"phase": phase},
    }


class Server:
    """Pods and one Workload of a namespace; it keeps what is written."""

    def __init__(self, *pods: dict[str, Any], warned: str | None = None) -> None:
        self.pods = pods
        meta: dict[str, Any] = {"name": "job-train", "namespace": "nlp", "ownerReferences": [OWNER]}
        if warned:
            meta["annotations"] = {WARNED: warned}
        self.workload: dict[str, Any] = {"metadata": meta, "spec": {}}
        self.patches: list[Mapping[str, Any]] = []
        self.events: list[Mapping[str, Any]] = []

    def __call__(self, method: str, path: str, body: Body = None) -> dict[str, Any]:
        if method == "GET":
            return {"items": list(self.pods) if path == "/api/v1/namespaces/nlp/pods" else [self.workload]}
        assert isinstance(body, Mapping)
        if method == "PATCH":
            assert path == "/apis/kueue.x-k8s.io/v1beta2/namespaces/nlp/workloads/job-train"
            self.patches.append(body)
        else:
            assert (method, path) == ("POST", "/api/v1/namespaces/nlp/events")
            self.events.append(body)
        return {}


def looked(server: Server, *idle: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    """What is patched, and the reasons of events."""
    take_back.take_back(server, "nlp", idle, LIMITS, NOW)
    return server.patches, [event["reason"] for event in server.events]


def test_a_team_is_warned_with_the_command_that_keeps_the_gpus() -> None:
    server = Server(pod("a"), pod("b"), pod("launcher", gpu=False), pod("ended", phase="Succeeded"))
    patches, reasons = looked(server, "a", "b")
    assert patches == [{"metadata": {"annotations": {WARNED: "2026-11-27T12:00:00Z"}}}]
    assert reasons == ["GpusIdle"]
    (event,) = server.events
    assert event["involvedObject"] == {**OWNER, "namespace": "nlp"}
    assert "idle for 2:00:00. It is stopped at 13:00 UTC" in event["message"]
    assert event["message"].endswith(f"kubectl annotate pod -n nlp a {KEEP}=2026-11-27T14:00:00Z")


def test_after_the_warning_kueue_is_to_stop_the_job() -> None:
    patches, reasons = looked(Server(pod("a"), warned="2026-11-27T11:00:00Z"), "a")
    assert (patches, reasons) == ([{"spec": {"active": False}}], ["GpusTakenBack"])


def test_a_stopped_job_whose_pods_take_long_to_end_is_not_stopped_again() -> None:
    server = Server(pod("a"), warned="2026-11-27T10:00:00Z")
    server.workload["spec"]["active"] = False
    assert looked(server, "a") == ([], [])


def test_a_job_is_not_marked_as_warned_if_the_warning_does_not_arrive() -> None:
    class Silent(Server):
        def __call__(self, method: str, path: str, body: Body = None) -> dict[str, Any]:
            if method == "POST":
                msg = "no answer"
                raise OSError(msg)
            return super().__call__(method, path, body)

    server = Silent(pod("a"))
    with pytest.raises(OSError, match="no answer"):
        looked(server, "a")
    assert server.patches == []


def test_until_then_it_runs() -> None:
    assert looked(Server(pod("a"), warned="2026-11-27T11:00:01Z"), "a") == ([], [])


@pytest.mark.parametrize("pods", [(pod("a"), pod("b")), (pod("a", keep="2026-11-27T12:00:01+00:00"),), ()])
def test_a_job_that_works_or_is_kept_is_warned_anew_the_next_time(pods: tuple[dict[str, Any], ...]) -> None:
    """One of its GPUs works, an answer of its team, or it runs no more."""
    forgotten = [{"metadata": {"annotations": {WARNED: None}}}]
    assert looked(Server(*pods, warned="2026-11-27T10:00:00Z"), "a") == (forgotten, [])
    assert looked(Server(*pods), "a") == ([], [])


@pytest.mark.parametrize("answer", ["2026-11-27T11:59:59Z", "2026-11-27T11:59", "always", ""])
def test_an_answer_that_is_over_or_no_time_keeps_nothing(answer: str) -> None:
    assert looked(Server(pod("a", keep=answer), warned="2026-11-27T10:00:00Z"), "a")[1] == ["GpusTakenBack"]


def test_a_pod_that_is_no_queued_job_is_left_alone() -> None:
    server = Server(pod("a"))
    del server.pods[0]["metadata"]["annotations"]
    assert looked(server, "a") == ([], [])


def test_a_look_asks_prometheus_once_and_judges_each_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(url: str, timeout: float) -> io.StringIO:
        asked.extend(parse_qs(urlsplit(url).query)["query"])
        found = [{"metric": {"namespace": "nlp", "pod": "a"}}, {"metric": {"namespace": "vision", "pod": "b"}}]
        return io.StringIO(json.dumps({"data": {"result": found}}))

    monkeypatch.setattr("urllib.request.urlopen", answer)
    server = Server(pod("a"))
    take_back.main("http://prometheus:9090", "7200", "3600", "nlp", api=server)
    assert asked == [take_back.query(LIMITS.after)]
    assert [event["reason"] for event in server.events] == ["GpusIdle"]


def test_idle_is_what_the_alert_calls_idle() -> None:
    assert (take_back.USED, take_back.ACTIVE, take_back.DEVICES) == (IDLE, GPU_ACTIVE, keys.NVIDIA)


def test_the_cron_job_may_change_workloads_in_namespaces_of_teams_alone() -> None:
    recording = record_guards(teams=TEAMS, cost={"idleGpus": {"after": "90m", "warning": "30m"}}, addons=MEASURED)
    (container,) = recording.one(type_token("batch/v1", "CronJob")).inputs["spec"]["jobTemplate"]["spec"]["template"][
        "spec"
    ]["containers"]
    assert container["command"][3:] == [PROMETHEUS, "5400", "1800", "nlp"]
    rbac = "rbac.authorization.k8s.io/v1"
    role = recording.one(type_token(rbac, "ClusterRole")).inputs
    assert [(one["resources"], one["verbs"]) for one in role["rules"]] == [
        (["pods"], ["get", "list"]), (["events"], ["create"]), (["workloads"], ["get", "list", "patch"]),
    ]  # fmt: skip
    binding = recording.one(type_token(rbac, "RoleBinding")).inputs
    assert (binding["metadata"]["namespace"], binding["roleRef"]["name"]) == ("nlp", OURS.named(IDLE_GPUS.name))
    assert recording.of(type_token(rbac, "ClusterRoleBinding")) == {}
    assert record_guards(cost={"idleGpus": {}}, addons=MEASURED).of(type_token("batch/v1", "CronJob")) == {}
