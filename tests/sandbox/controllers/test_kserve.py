"""KServe of its charts: a model in a raw deployment gets its Deployment and Service, and is ready."""

from pathlib import Path

import pytest

from components.addons.kserve.addon import values
from components.addons.kserve.runtimes import runtimes
from sandbox.kubernetes.client import ApiError
from sandbox.kubernetes.controllers.table import BY_NAME
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.running import install
from sandbox.kubernetes.objects import Object, Ref
from spec.pools import resolve_all
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, wait
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
