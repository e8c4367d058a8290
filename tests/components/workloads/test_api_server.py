"""Workloads and examples on a real API server with the CRDs of their controllers, in a namespace that enforces the Pod
Security Standard `restricted`."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from components.tenancy.priorities import priority_class
from components.workloads import TrainingJob, TrainingJobArgs
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.provider import serve
from spec.settings.teams import PriorityName
from tests.components.workloads.examples import EXAMPLES, manifests, target
from tests.components.workloads.samples import GOOD, TARGET, TRAINING, bodies, body
from tests.components.workloads.test_crds import FILES, crd
from tests.sandbox.kubernetes.hooks import make_hooks
from tests.sandbox.plane import ControlPlane
from tests.sandbox.rpc.engine import Engine
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def client(shared: Path, plane: ControlPlane) -> KubeClient:
    kinds = [kind for kind in FILES if kind != "WorkflowTaskSet"]
    define(plane.client, [crd(shared / "charts", kind) for kind in kinds])
    for name in sorted({TARGET.namespace, *(target(name).namespace for name in EXAMPLES)}):
        plane.client.apply(restricted(name), "test")
        for account in ("workload", "endpoint-picker"):
            plane.client.apply(named("v1", "ServiceAccount", account, name), "test")
    for name in TARGET.priorities:
        plane.client.apply(priority_class(PriorityName(name)), "test")
    return plane.client


def named(version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def restricted(name: str) -> dict[str, Any]:
    namespace = named("v1", "Namespace", name)
    namespace["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "restricted"}
    return namespace


def pods(manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All pod templates in a manifest."""
    for key, value in manifest.items():
        if (
            key in ("template", "submitterPodTemplate")
            and isinstance(value, Mapping)
            and "containers" in value.get("spec", {})
        ):
            metadata = {"labels": value.get("metadata", {}).get("labels", {})}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": value["spec"]}
        elif isinstance(value, Mapping):
            yield from pods(value)
        elif isinstance(value, list):
            yield from (pod for each in value if isinstance(each, Mapping) for pod in pods(each))


def check(client: KubeClient, manifests: list[dict[str, Any]], *, dry_run: bool = True) -> None:
    """Apply the objects, and a pod from each of their pod templates."""
    for manifest in manifests:
        client.apply(manifest, "test", dry_run=dry_run)
        for index, pod in enumerate(pods(manifest)):
            pod["metadata"] |= {"name": f"pod-{index}", "namespace": manifest["metadata"]["namespace"]}
            client.apply(copy.deepcopy(pod), "test", dry_run=True)


@pytest.mark.parametrize("name", GOOD)
def test_it_accepts_every_kind_of_workload_and_its_pods(client: KubeClient, name: str) -> None:
    check(client, list(bodies(GOOD[name]()).values()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_accepts_every_example_and_its_pods(client: KubeClient, name: str) -> None:
    check(client, list(manifests(name)), dry_run=False)


def test_it_refuses_a_pod_that_may_become_root(client: KubeClient) -> None:
    job = copy.deepcopy(body(GOOD["training-job"]()))
    del job["spec"]["template"]["spec"]["containers"][0]["securityContext"]["runAsNonRoot"]
    del job["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]
    with pytest.raises(ApiError, match="runAsNonRoot"):
        check(client, [job])


def test_it_refuses_a_misspelled_field(client: KubeClient) -> None:
    job = copy.deepcopy(body(GOOD["training-job"]()))
    job["spec"]["ttlSecondAfterFinished"] = job["spec"].pop("ttlSecondsAfterFinished")
    with pytest.raises(ApiError, match="ttlSecondAfterFinished"):
        check(client, [job])


def test_an_update_does_not_stop_a_job_that_the_queue_has_started(
    plane: ControlPlane, client: KubeClient, tmp_path: Path
) -> None:
    """Kueue clears `suspend`; Pulumi, which set it, must not change it even when another field changes."""
    job = Ref("batch/v1", "Job", "mnist", TARGET.namespace)

    def program(args: TrainingJobArgs) -> None:
        provider = kubernetes.Provider("platform", kubeconfig=plane.kubeconfig())
        TrainingJob("mnist", args, pulumi.ResourceOptions(providers=[provider]))

    served = serve(make_hooks(plane, tmp_path).provider)
    try:
        engine = Engine(tmp_path / "engine", {"kubernetes": served.port})
        engine.stack(lambda: program(TRAINING)).up()
        client.merge(job, {"spec": {"suspend": False}})
        later = replace(TRAINING, ttl_seconds=3600)
        assert "1 updated" in engine.stack(lambda: program(later)).up(refresh=True).stdout
        live = client.get(job)
    finally:
        served.stop()
    assert live is not None
    assert live["spec"]["ttlSecondsAfterFinished"] == 3600
    assert live["spec"]["suspend"] is False
