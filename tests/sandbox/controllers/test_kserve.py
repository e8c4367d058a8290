"""KServe of its charts: a model in a raw deployment gets its Deployment and Service, and is ready; a canary is rolled
back."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.addons.kserve.addon import values
from components.addons.kserve.runtimes import runtimes
from components.base.canaries import ROLLED_BACK, VERSION
from components.composition.canaries import NAME as ROLLBACK_ACCOUNT
from components.composition.canaries import permissions
from components.composition.canary_rollback import GRAPHS, Graph, Limits, look
from components.composition.cron_jobs import NAMESPACE as SCHEDULES
from components.workloads import VLLM_ERRORS, Canary, model_server
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers.table import BY_NAME
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.running import install
from sandbox.kubernetes.objects import Object, Ref
from spec.pools import resolve_all
from tests.components.workloads.samples import SERVER, bodies
from tests.sandbox.controllers.installed import applied, as_account, cluster, holds, release, until_running, wait
from tests.support import stacks

pytestmark = pytest.mark.sandbox
TEAM = "team"


def service(name: str, **predictor: object) -> Object:
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": TEAM,
            "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
            "labels": {"networking.kserve.io/visibility": "cluster-local"},
        },
        "spec": {"predictor": predictor},
    }


def test_a_model_is_ready(tmp_path: Path, shared: Path) -> None:
    charts = shared / "charts-full"
    crds, helm = Charts(charts).find("kserve-crd"), binary.available()
    if crds is None or helm is None:
        pytest.skip("no helm, or no charts of KServe")
    with cluster(tmp_path, BY_NAME["kserve"]) as plane:
        client = plane.client
        applied(client, *(Ref("v1", "Namespace", name).as_object() for name in ("kserve", TEAM)))
        inputs = {"name": "kserve-crd", "namespace": "kserve", "values": {}, "timeout": 600}
        install(client, helm, crds, inputs, upgrade=False)
        platform = stacks.platform_of("dev")
        settings = platform.addons.kserve
        assert settings is not None
        release(plane.client, charts, BY_NAME["kserve"], "kserve", **values(settings, region="us-east-1", placement={}))
        until_running(tmp_path, "kserve")
        # Those of the platform pass KServe's webhook.
        applied(client, *runtimes(resolve_all(platform), settings.runtimes).values())
        model = service("model", minReplicas=1, containers=[{"name": "kserve-container", "image": "example/model:1"}])
        applied(client, model)
        wait(client, Ref.of(model), holds("Ready"), "not ready")
        assert client.get(Ref("apps/v1", "Deployment", "model-predictor", TEAM)) is not None
        with pytest.raises(ApiError, match=r"kserve-webhook-server.* denied the request"):
            client.apply(service("wrong", minReplicas=3, maxReplicas=1, containers=[{"image": "example/m:1"}]), "test")
        a_canary_is_rolled_back_once(client)


def a_canary_is_rolled_back_once(client: KubeClient) -> None:
    """By the CronJob's account, and after the program has set the weights again."""
    applied(client, Ref("v1", "Namespace", SCHEDULES.name).as_object(), *permissions([TEAM]).values())
    canary = Canary(storage_uri="s3://models/team/v2", percent=10, max_error_percent=5, errors=VLLM_ERRORS)
    target = replace(SERVER.target, namespace=TEAM)
    manifests = bodies(model_server("chat", replace(SERVER, target=target, canary=canary, path="/v1/completions")))
    split = manifests["split"]
    for name in ("chat", "chat-canary"):
        model = service(name, minReplicas=1, containers=[{"name": "kserve-container", "image": "example/model:1"}])
        if name == "chat-canary":
            model["metadata"]["annotations"][VERSION] = manifests["canary"]["metadata"]["annotations"][VERSION]
        applied(client, model)
        wait(client, Ref.of(model), holds("Ready"), "not ready")
    applied(client, split)
    router = Ref("apps/v1", "Deployment", "chat-split", TEAM)

    def weights(*expected: int) -> None:
        def look(deployment: Object) -> bool | None:
            _, graph = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
            return [each["weight"] for each in json.loads(graph)["nodes"]["root"]["steps"]] == list(expected) or None

        wait(client, router, look, f"the router has not {expected}")

    api, limits, asked = as_account(client, ROLLBACK_ACCOUNT, SCHEDULES.name), Limits(300, 50), list[str]()

    def count(query: str) -> float:
        asked.append(query)
        return 6 if "5xx" in query else 100

    def decision() -> str:
        (graph,) = api("GET", GRAPHS.format(TEAM))["items"]
        return look(Graph(api, graph), count, limits, datetime(2026, 11, 27, 12, tzinfo=UTC))

    weights(90, 10)
    assert decision() == "was rolled back: 6 of 100 requests failed in 300 s, more than 5 %"
    assert 'namespace="team",pod=~"chat-canary-predictor-' in asked[0]
    weights(100, 0)
    assert decision().startswith("gets no requests")
    # Server-side apply as Pulumi's, which may take the weights back only by the annotation of the graph.
    with pytest.raises(ApiError, match="conflict"):
        client.apply(split, "test")
    client.apply(split, "test", force=True)
    weights(90, 10)
    assert decision().startswith("was rolled back again")
    weights(100, 0)
    events = client.list(client.discovery.find("v1", "Event"), TEAM)
    assert [one["reason"] for one in events].count("CanaryRolledBack") == 2
    found = client.get(Ref.of(split))
    assert found is not None
    assert ROLLED_BACK in found["metadata"]["annotations"]
    with pytest.raises(ApiError, match="forbidden"):
        api("GET", GRAPHS.format("kserve"))
