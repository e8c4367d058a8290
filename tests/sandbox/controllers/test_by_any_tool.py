"""Controllers that helm or plain manifests install run, and webhooks that nothing answers refuse nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers.running import load
from sandbox.kubernetes.controllers.webhooks import CLOSED
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from slipway.why.refusals import refusal, with_server
from tests.sandbox.controllers.installed import applied, cluster, until_running, wait
from tests.sandbox.plane import ControlPlane, existing
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
NAMESPACE = "jobset-system"
DOWN = (
    f'failed calling webhook "mjobset.kb.io": failed to call webhook: Post "https://jobset-webhook-service.{NAMESPACE}'
    '.svc:443/mutate?timeout=10s": no endpoints available for service "jobset-webhook-service"'
)
"""As an API server without the sandbox's proxy says it."""
CONTROLLER = Ref("apps/v1", "Deployment", "jobset-controller", NAMESPACE)


@pytest.fixture(scope="module")
def charts(shared: Path) -> Path:
    """Whole charts."""
    return shared / "charts-full"


@pytest.fixture(scope="module")
def helm() -> Path:
    found = binary.available()
    if found is None:
        pytest.skip("no helm here: run `python -m sandbox.toolchain ensure helm`")
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any-tool")


@pytest.fixture(scope="module")
def plane(home: Path) -> Iterator[ControlPlane]:
    with cluster(home, "jobset") as plane:
        yield plane


def jobset(name: str) -> Object:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}
    spec = {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": {"template": template}}}]}
    return {**Ref("jobset.x-k8s.io/v1alpha2", "JobSet", name, "default").as_object(), "spec": spec}


def scale(client: KubeClient, replicas: int) -> None:
    client.merge(CONTROLLER, {"spec": {"replicas": replicas}})


def test_helm_installs_a_controller_that_runs_until_it_is_scaled_to_zero(
    plane: ControlPlane, charts: Path, helm: Path, home: Path
) -> None:
    client = plane.client
    where = ["--namespace", NAMESPACE, "--create-namespace", "--wait", "--timeout", f"{SECONDS:.0f}s"]
    binary.run(helm, client, ["install", "jobset", str(charts / "jobset"), *where])
    until_running(home, "jobset")
    applied(client, jobset("one"))
    wait(client, Ref("batch/v1", "Job", "one-workers-0", "default"), lambda job: True if job else None, "no Job")

    scale(client, 0)
    until(lambda: load(home) == () or None, SECONDS, "it still runs")
    with pytest.raises(ApiError, match=f"failed calling webhook.*Deployment {NAMESPACE}/jobset-.* is scaled to zero"):
        client.apply(jobset("two"), "test")
    refused = refusal(DOWN)
    assert refused is not None
    assert with_server(refused, client).fix == (
        f"`kubectl -n {NAMESPACE} scale deployment {CONTROLLER.name} --replicas=1`"
    )
    scale(client, 1)
    applied(client, jobset("three"))
    until_running(home, "jobset")
    binary.run(helm, client, ["uninstall", "jobset", "--namespace", NAMESPACE, "--wait"])
    until(lambda: load(home) == () or None, SECONDS, "it still runs")


def test_webhooks_of_a_chart_that_nothing_answers_refuse_no_request(
    plane: ControlPlane, charts: Path, helm: Path
) -> None:
    client = plane.client
    text = binary.template(helm, ["cert", str(charts / "cert-manager"), "--namespace", "default"], {})
    hooks = [one for one in yaml.safe_load_all(text) if one and one["kind"].endswith("WebhookConfiguration")]
    assert [one["kind"] for one in hooks] == ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    # About ConfigMaps instead of certificates, whose CRDs are not here.
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    applied(client, *({**one, "webhooks": [{**each, "rules": [rule]} for each in one["webhooks"]]} for one in hooks))
    assert {each["failurePolicy"] for one in hooks for each in one["webhooks"]} == {"Fail"}
    applied(client, Ref("v1", "ConfigMap", "free", "default").as_object())
    for each in map(Ref.of, hooks):
        assert all(hook["matchConditions"][-1]["name"] == CLOSED for hook in existing(client, each)["webhooks"])
