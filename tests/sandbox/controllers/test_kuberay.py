"""KubeRay of its chart: a typed RayCluster gets its pods, on the pools that it names, and loses them with itself."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.tenancy.priorities import priority_class
from components.workloads import ray_cluster
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.launch import arguments, of_deployment
from sandbox.kubernetes.controllers.table import BY_NAME
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from spec.settings.teams import PriorityName
from tests.components.workloads.samples import RAY_CLUSTER, TARGET, body
from tests.sandbox.controllers.installed import applied, cluster, release, until_running
from tests.sandbox.plane import existing
from tests.slipway.charts.rendering import releases, rendered
from tests.support.patience import SECONDS

VALUES = {"health": 1001, "root": "/box/root"}
CLUSTER = Ref("ray.io/v1", "RayCluster", "lab", TARGET.namespace)
POOL = "platform.slipway/pool"
LOOKS_AGAIN = {"name": "RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV", "value": "10"}
"""KubeRay waits for the pods that it made to be in its cache. Those that were deleted before are given up after 30 s
(kuberay v1.6.2, scale_expectations.go), but nothing makes it look again for 300 s."""


def test_no_value_of_a_flag_is_left_over(shared: Path) -> None:
    """The chart gives some values as arguments of their own, and Go reads no flag behind one that belongs to none."""
    objects = rendered(shared / "charts-full", releases("dev")["kuberay-operator"])
    assert objects is not None
    (launch,) = [found for each in objects if each["kind"] == "Deployment" if (found := of_deployment(each))]
    assert launch.controller is BY_NAME["kuberay"]
    given = arguments(launch, VALUES)
    for before, each in zip(["", *given], given, strict=False):
        assert each.startswith("--") or (before.startswith("--") and "=" not in before), given
    assert given[-3:] == [
        "--health-probe-bind-address=127.0.0.1:1001",
        "--metrics-addr=0",
        "--enable-leader-election=false",
    ]
    assert [each for each in given if each.startswith("--enable-leader-election")] == given[-1:]


@pytest.fixture
def client(tmp_path: Path, shared: Path) -> Iterator[KubeClient]:
    """The operator runs; the test is skipped where its binary is not built (tests/allowed_skips.yaml)."""
    with cluster(tmp_path, "kuberay") as plane:
        account = Ref("v1", "ServiceAccount", TARGET.service_account, TARGET.namespace).as_object()
        space = Ref("v1", "Namespace", TARGET.namespace).as_object()
        applied(plane.client, space, account, priority_class(PriorityName.INTERACTIVE))
        release(plane.client, shared / "charts-full", "kuberay", "kuberay", env=[LOOKS_AGAIN])
        until_running(tmp_path, "kuberay")
        yield plane.client


def until_pods(client: KubeClient, count: int) -> list[Object]:
    """The pods of the cluster, once there are so many."""

    def pods() -> list[Object]:
        kind = client.discovery.find("v1", "Pod")
        return list(client.list(kind, TARGET.namespace, f"ray.io/cluster={CLUSTER.name}"))

    def look() -> list[Object] | None:
        found = pods()
        return found if len(found) == count else None

    return until(look, SECONDS, lambda: f"not {count} pods: {len(pods())}")


@pytest.mark.sandbox
def test_a_cluster_gets_its_pods_and_loses_them(client: KubeClient) -> None:
    args: dict[str, Any] = {"target": replace(TARGET, queue=None), "suspend": False}
    client.apply(body(ray_cluster("lab", replace(RAY_CLUSTER, **args)), "cluster"), "test")
    pods = until_pods(client, 5)
    places = sorted((each["metadata"]["labels"]["ray.io/group"], each["spec"]["nodeSelector"][POOL]) for each in pods)
    assert places == [("headgroup", "cpu"), ("slices", "slices"), *[("spot", "spot")] * 3]

    head = next(each for each in pods if each["metadata"]["labels"]["ray.io/node-type"] == "head")
    service = existing(client, Ref("v1", "Service", "lab-head-svc", TARGET.namespace))
    assert service["spec"]["selector"].items() <= head["metadata"]["labels"].items()
    worker = next(each for each in pods if each["metadata"]["labels"]["ray.io/node-type"] == "worker")
    (wait,) = worker["spec"]["initContainers"]
    assert wait["securityContext"]["runAsNonRoot"] is True, "the level `restricted` evaluates it as well"

    client.merge(CLUSTER, {"spec": {"suspend": True}})
    until_pods(client, 0)
    client.merge(CLUSTER, {"spec": {"suspend": False}})
    until_pods(client, 5)
    client.delete(CLUSTER)
    until_pods(client, 0)
