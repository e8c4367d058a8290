"""Charts as their projects publish them, with their templates."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from tests.sandbox.kubernetes.helm.charts import needs_helm
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane, existing

pytestmark = [pytest.mark.sandbox, needs_helm]


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path, shared: Path) -> Hooks:
    return make_hooks(plane, tmp_path, shared / "charts-full")


def release(chart: str, namespace: str, **values: Any) -> dict[str, Any]:
    """No pod runs on this control plane, so nothing is awaited."""
    return {"chart": chart, "name": chart, "namespace": namespace, "values": values, "skipAwait": True}


def test_a_null_of_a_template_is_pruned_as_in_a_cluster(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    """GPU Operator v26.7.0 renders `mig:` without a value if the strategy is empty."""
    hooks.create(RELEASE, release("gpu-operator", namespace, mig={"strategy": ""}))
    assert "mig" not in existing(client, Ref("nvidia.com/v1", "ClusterPolicy", "cluster-policy"))["spec"]


def test_objects_of_a_list_are_installed(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    """The chart of aws-load-balancer-controller 3.5.0 renders its IngressClass inside `kind: List`."""
    id, outputs, inputs = hooks.create(RELEASE, release("aws-load-balancer-controller", namespace, clusterName="c"))
    assert client.get(Ref("networking.k8s.io/v1", "IngressClass", "alb")) is not None
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref("networking.k8s.io/v1", "IngressClass", "alb")) is None
