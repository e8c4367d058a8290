"""KServe of its charts: a model in a raw deployment gets its Deployment and Service, and is ready; one in an image is
mounted by the node; a canary is rolled back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from components.addons.kserve.addon import values
from components.addons.kserve.runtimes import runtimes
from components.admission import StackContext, rules
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from components.base.canaries import ROLLED_BACK, VERSION
from components.composition.canary_rollback import GRAPHS, Graph, Limits, look
from components.composition.cron_jobs import NAMESPACE as SCHEDULES
from components.composition.scripts import CANARY_ROLLBACK
from components.workloads import VLLM_ERRORS, Canary, ModelServerArgs, model_server
from infra.target import target_of
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from spec.pools import resolve_all
from spec.settings.admission import Action
from spec.teams.labels import TEAM as OF_TEAM
from tests.components.admission.samples import CONTROLLERS
from tests.components.workloads.samples import SERVER, bodies
from tests.sandbox.controllers.installed import applied, as_account, cluster, holds, release, until_running, wait
from tests.sandbox.plane import ControlPlane, existing
from tests.support import stacks
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
TEAM = "team"
GUARDED = "guarded"
"""A namespace with the rules of admission, and the Pod Security level restricted."""
MODEL = "111122223333.dkr.ecr.us-east-1.amazonaws.com/prod/chat:1.0.0"
PLATFORM: Final = stacks.platform_of("dev")


def service(name: str, **predictor: object) -> Object:
    made = Ref("serving.kserve.io/v1beta1", "InferenceService", name, TEAM).as_object()
    made["metadata"]["annotations"] = {"serving.kserve.io/deploymentMode": "Standard"}
    made["metadata"]["labels"] = {"networking.kserve.io/visibility": "cluster-local"}
    return {**made, "spec": {"predictor": predictor}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    charts, home = shared / "charts-full", tmp_path_factory.mktemp("kserve")
    with cluster(home, "kserve") as plane:
        client = plane.client
        applied(client, Ref("v1", "Namespace", TEAM).as_object())
        release(client, charts, "kserve-crd", "kserve")
        settings = PLATFORM.addons.kserve
        assert settings is not None
        release(client, charts, "kserve", "kserve", **values(settings, region="us-east-1", placement={}))
        until_running(home, "kserve")
        # Those of the platform pass KServe's webhook.
        applied(client, *runtimes(resolve_all(PLATFORM), settings.runtimes).values())
        yield plane


def test_a_model_is_ready(plane: ControlPlane) -> None:
    client = plane.client
    model = service("model", minReplicas=1, containers=[{"name": "kserve-container", "image": "example/model:1"}])
    applied(client, model)
    wait(client, Ref.of(model), holds("Ready"), "not ready")
    assert client.get(Ref("apps/v1", "Deployment", "model-predictor", TEAM)) is not None
    with pytest.raises(ApiError, match=r"kserve-webhook-server.* denied the request"):
        client.apply(service("wrong", minReplicas=3, maxReplicas=1, containers=[{"image": "example/m:1"}]), "test")


@pytest.fixture(scope="module")
def guarded(plane: ControlPlane) -> KubeClient:
    labels = {OF_TEAM: "vision", "pod-security.kubernetes.io/enforce": "restricted"}
    context = StackContext(pools=resolve_all(PLATFORM), queues=False, max_replicas=100, controllers=CONTROLLERS)
    applied(
        plane.client,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": GUARDED, "labels": labels}},
        Ref("v1", "ServiceAccount", "workload", GUARDED).as_object(),
        {**Ref("scheduling.k8s.io/v1", "PriorityClass", "production-inference").as_object(), "value": 1},
        parameters(rules(context)),
        *(policy(rule) for rule in rules(context)),
        *(binding(rule, Action.DENY) for rule in rules(context)),
    )
    wrong = model("loose", "oci+native")
    wrong["spec"]["predictor"]["model"]["storageUri"] = "oci+native://team/qwen:latest"

    def refused() -> str | None:
        try:
            plane.client.apply(wrong, "test", dry_run=True)
        except ApiError as error:
            return error.message
        return None

    # The API server watches policies.
    assert "image team/qwen:latest has no fixed version" in until(
        refused, SECONDS, "a model without a version is taken"
    )
    return plane.client


def model(name: str, scheme: str) -> Object:
    """What a ModelServer declares on the platform's Triton for CPUs, with the model's image under this scheme."""
    target = replace(target_of(PLATFORM, namespace="vision"), namespace=GUARDED, queue=None, labels={})
    uri = f"oci+native://{MODEL}"
    args = ModelServerArgs(target=target, runtime="triton", model_format="triton", storage_uri=uri)
    found: Object = {**model_server(name, args)["service"].manifest}
    found["spec"]["predictor"]["model"]["storageUri"] = f"{scheme}://{MODEL}"
    return found


def test_the_rules_accept_the_pod_whose_model_the_node_mounts(guarded: KubeClient) -> None:
    applied(guarded, model("mounted", "oci+native"))

    def made() -> Object | None:
        pods = guarded.list(guarded.discovery.find("v1", "Pod"), GUARDED, "serving.kserve.io/inferenceservice=mounted")
        return next(pods, None)

    pod = until(made, SECONDS, "no pod")["spec"]
    (server,) = pod["containers"]
    assert "initContainers" not in pod
    images = {volume["name"]: volume["image"] for volume in pod["volumes"] if "image" in volume}
    assert images == {"mnt-models": {"reference": MODEL, "pullPolicy": "IfNotPresent"}}
    mount = {"name": "mnt-models", "mountPath": "/mnt/models", "subPath": "models", "readOnly": True}
    assert mount in [{key: each[key] for key in mount if key in each} for each in server["volumeMounts"]]
    assert server["securityContext"]["runAsUser"] == 1000


def test_a_model_that_runs_beside_its_server_is_refused_under_restricted(guarded: KubeClient) -> None:
    """Why ModelServer refuses `oci://`: KServe gives its containers a user, and nothing else."""
    applied(guarded, model("beside", "oci"))
    of = Ref("apps/v1", "Deployment", "beside-predictor", GUARDED)
    failure = wait(guarded, of, holds("ReplicaFailure"), "its pods are not refused")
    assert "violates PodSecurity" in failure["message"]
    assert "allowPrivilegeEscalation" in failure["message"]
    assert "modelcar" in failure["message"]


def test_a_canary_is_rolled_back_once(plane: ControlPlane) -> None:
    """By the CronJob's account, and after the program has set the weights again."""
    client = plane.client
    applied(client, Ref("v1", "Namespace", SCHEDULES.name).as_object(), *CANARY_ROLLBACK.permissions([TEAM]).values())
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

    api, limits, asked = as_account(client, CANARY_ROLLBACK.name, SCHEDULES.name), Limits(300, 50), list[str]()

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
    assert ROLLED_BACK in existing(client, Ref.of(split))["metadata"]["annotations"]
    with pytest.raises(ApiError, match="forbidden"):
        api("GET", GRAPHS.format("kserve"))
