"""LeaderWorkerSet of its chart: a leader's workers follow it, and a group restarts as one."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, wait
from tests.sandbox.plane import existing
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
SPACE = "models"
NAME = "llama"
LEADER, WORKER = f"{NAME}-0", f"{NAME}-0-1"


def group(**more: Any) -> Object:
    """Two groups of a leader and two workers."""
    template = {"spec": {"containers": [{"name": "vllm", "image": "registry.example.com/vllm:1"}]}}
    pods = {"size": 3, "restartPolicy": "RecreateGroupOnPodRestart", "workerTemplate": template}
    group = Ref("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", NAME, SPACE).as_object()
    return {**group, "spec": {"replicas": 2, "leaderWorkerTemplate": pods, **more}}


def names(client: KubeClient) -> set[str]:
    """Pods that are not being deleted."""
    pods = client.get_path(f"/api/v1/namespaces/{SPACE}/pods")["items"]
    return {each["metadata"]["name"] for each in pods if "deletionTimestamp" not in each["metadata"]}


def uid(client: KubeClient, name: str) -> str | None:
    found = client.get(Ref("v1", "Pod", name, SPACE))
    return None if found is None else str(found["metadata"]["uid"])


def test_workers_follow_their_leader(tmp_path: Path, shared: Path) -> None:
    with cluster(tmp_path, "lws") as plane:
        client = plane.client
        release(client, shared / "charts-full", "lws", "lws-system")
        until_running(tmp_path, "lws")
        applied(client, Ref("v1", "Namespace", SPACE).as_object(), group())

        ref = Ref.of(group())
        wait(client, ref, holds("Available"), "not available")
        assert names(client) == {f"{NAME}-{leader}{worker}" for leader in (0, 1) for worker in ("", "-1", "-2")}
        worker = existing(client, Ref("v1", "Pod", WORKER, SPACE))
        variables = {each["name"]: each.get("value") for each in worker["spec"]["containers"][0]["env"]}
        assert variables["LWS_LEADER_ADDRESS"] == f"{LEADER}.{NAME}.{SPACE}", "how a worker finds its leader"

        # A worker that is lost takes its group with it, and no other.
        before, other = uid(client, LEADER), uid(client, f"{NAME}-1")
        client.delete(Ref("v1", "Pod", WORKER, SPACE))
        until(lambda: uid(client, LEADER) not in (None, before) or None, SECONDS, "the leader was not made again")
        wait(client, ref, holds("Available"), "not available again")
        assert uid(client, f"{NAME}-1") == other

        client.merge(ref, {"spec": {"replicas": 1}})
        until(lambda: names(client) == {LEADER, WORKER, f"{NAME}-0-2"} or None, SECONDS, lambda: f"{names(client)}")

        still = {"maxUnavailable": 0, "maxSurge": 0}
        with pytest.raises(ApiError, match="must not be 0 when `maxSurge` is 0"):
            client.apply(group(rolloutStrategy={"rollingUpdateConfiguration": still}), "test", force=True)
