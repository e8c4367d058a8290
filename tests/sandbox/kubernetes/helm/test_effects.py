from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm.preview import Rendered, perform
from sandbox.kubernetes.objects import Object, Ref
from tests.sandbox.kubernetes.helm.charts import chart_at, write_chart
from tests.sandbox.plane import crd

pytestmark = pytest.mark.sandbox


def job(name: str, events: str, *arguments: str, image: str = "i") -> Object:
    pod = {"containers": [{"name": "c", "image": image, "args": list(arguments)}]}
    metadata = {"name": name, "annotations": {"helm.sh/hook": events}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def done(client: KubeClient, chart: Path, *, upgrade: bool = False, **found: Any) -> list[str]:
    rendered = Rendered(tuple(found.get("objects", ())), tuple(found.get("hooks", ())), ())
    return perform(client, chart_at(chart), rendered, upgrade=upgrade)


def test_a_job_that_makes_a_certificate_is_not_reported(client: KubeClient, tmp_path: Path) -> None:
    """As those of kube-prometheus-stack: its pod makes the Secret (sandbox/nodes/mounts.py)."""
    hooks = [
        job("admission-create", "pre-install,pre-upgrade", "create", image="registry.k8s.io/kube-webhook-certgen:v1"),
        job("admission-patch", "post-install,post-upgrade", "patch", image="registry.k8s.io/kube-webhook-certgen:v1"),
    ]
    chart = write_chart(tmp_path)
    assert done(client, chart, hooks=hooks) == []
    assert done(client, chart, hooks=hooks, upgrade=True) == []


def test_a_job_that_upgrades_crds_is_performed_at_an_upgrade(client: KubeClient, tmp_path: Path) -> None:
    """As the GPU Operator's; Helm itself never changes a CRD of `crds/`."""
    chart = write_chart(tmp_path, definitions=[crd("effects.test", "Dial", {"level": {"type": "integer"}})])
    hook, ref = job("upgrade-crd", "pre-upgrade", "apply"), Ref.of(chart_at(chart).crds[0])
    assert done(client, chart, hooks=[hook]) == []
    assert client.metadata(ref) is None
    assert done(client, chart, hooks=[hook], upgrade=True) == [
        "CRDs of the chart applied, as hook Job upgrade-crd would"
    ]
    assert client.metadata(ref) is not None


def test_other_jobs_are_reported_where_they_run(client: KubeClient, tmp_path: Path) -> None:
    hooks = [job("check", "post-install"), job("migrate", "pre-upgrade"), job("prune", "post-delete")]
    chart = write_chart(tmp_path)
    assert done(client, chart, hooks=hooks) == ["hook Job check ran without effect"]
    assert done(client, chart, hooks=hooks, upgrade=True) == ["hook Job migrate ran without effect"]
