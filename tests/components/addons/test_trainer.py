"""Kubeflow Trainer and its runtimes."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from components.addons.trainer import IMAGE, NAME, runtimes
from components.base.placement import NOT_MOVED
from components.queues import resource_flavor
from components.workloads.checks.fit import need, tolerates
from spec.jobs import DO_NOT_DISRUPT
from spec.pools import resolve_all
from spec.pools.allocatable import allocatable
from spec.settings.queues import Queues
from tests.components.pools.samples import platform
from tests.support.context import POOLS
from tests.support.structural import complaints, definition, schema

WHOLE = {"big": {"preset": "a100"}, **POOLS}


def all_runtimes() -> dict[str, dict[str, Any]]:
    return runtimes(resolve_all(platform(WHOLE)), image=IMAGE)


def pod(runtime: dict[str, Any]) -> dict[str, Any]:
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    spec: dict[str, Any] = job["template"]["spec"]["template"]["spec"]
    return spec


def test_there_is_a_general_runtime_and_one_per_pool_whose_whole_nodes_train() -> None:
    pools = {name.removeprefix("torch-distributed") for name in all_runtimes()}
    assert pools == {"", "-big", "-h100", "-cpu"}


def test_a_pools_runtime_requests_whole_nodes_with_efa() -> None:
    spec = resolve_all(platform(WHOLE))["h100"]
    manifest = pod(all_runtimes()["torch-distributed-h100"])
    (container,) = manifest["containers"]
    devices = {name: amount for name, amount in container["resources"]["limits"].items() if "/" in name}
    assert devices == {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": str(spec.efa_count)}
    assert container["env"] == [{"name": "FI_PROVIDER", "value": "efa"}]
    assert manifest["nodeSelector"] == {"platform.slipway/pool": "h100"}
    assert {each["key"] for each in manifest["tolerations"]} == {taint.key for taint in spec.taints}


def notes_of(runtime: dict[str, Any]) -> dict[str, str]:
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    notes: dict[str, str] = job["template"]["spec"]["template"]["metadata"]["annotations"]
    return notes


def test_pods_are_not_moved_unless_they_may_run_on_spot_nodes() -> None:
    """A queue may give a TrainJob of the general runtime any pool."""
    pools = resolve_all(platform(WHOLE))
    assert any(spec.may_be_spot for spec in pools.values())
    assert {name for name, runtime in all_runtimes().items() if DO_NOT_DISRUPT not in notes_of(runtime)} == {NAME}
    stable = {name: spec for name, spec in pools.items() if not spec.may_be_spot}
    assert all(notes_of(runtime) == NOT_MOVED for runtime in runtimes(stable, image=IMAGE).values())


@pytest.mark.parametrize("pool", ["big", "h100", "cpu"])
def test_a_pools_runtime_asks_for_all_of_its_smallest_node_and_no_more(pool: str) -> None:
    spec = resolve_all(platform(WHOLE))[pool]
    manifest = pod(all_runtimes()[f"torch-distributed-{pool}"])
    resources = manifest["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"]
    assert ("hugepages-2Mi" in resources["limits"]) == (spec.efa_count > 0)
    wanted = need(manifest)
    smallest = min(allocatable(spec), key=lambda node: node.memory_mib)
    assert wanted["cpu"] == Decimal(smallest.cpu_millis) / 1000
    assert wanted["memory"] == smallest.memory_mib * 2**20


def test_the_general_runtime_may_be_assigned_to_any_pool_with_gpus() -> None:
    manifest = pod(all_runtimes()["torch-distributed"])
    for spec in resolve_all(platform(WHOLE)).values():
        for taint in resource_flavor(spec, Queues())["spec"].get("nodeTaints", ()):
            assert any(tolerates(each, taint) for each in manifest["tolerations"]), spec.name


def test_without_efa_no_libfabric_provider_is_set() -> None:
    (container,) = pod(all_runtimes()["torch-distributed-big"])["containers"]
    assert "env" not in container


def test_runtimes_mount_shared_memory() -> None:
    for runtime in all_runtimes().values():
        manifest = pod(runtime)
        assert manifest["volumes"] == [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}]
        assert manifest["containers"][0]["volumeMounts"][0]["mountPath"] == "/dev/shm"  # noqa: S108


def test_container_and_job_have_the_names_that_trainer_requires() -> None:
    for runtime in all_runtimes().values():
        (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        assert job["name"] == pod(runtime)["containers"][0]["name"] == "node"
        assert job["template"]["metadata"]["labels"] == {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def test_a_lost_node_restarts_all_pods_and_is_no_failure() -> None:
    """As in a typed training, whose runtime is tested with the controllers (tests/e2e/test_workloads.py)."""
    for runtime in all_runtimes().values():
        job_set = runtime["spec"]["template"]["spec"]
        (rule,) = job_set["failurePolicy"]["rules"]
        assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
        (job,) = job_set["replicatedJobs"]
        assert job["template"]["spec"]["backoffLimit"] == 0
        (failure,) = job["template"]["spec"]["podFailurePolicy"]["rules"]
        assert failure == {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
        # The API server accepts a podFailurePolicy with no other, and JobSet's webhook sets OnFailure.
        assert pod(runtime)["restartPolicy"] == "Never"


@pytest.mark.parametrize("name", all_runtimes())
def test_every_runtime_satisfies_the_crd(shared: Path, name: str) -> None:
    file = shared / "charts/kubeflow-trainer/crds/clustertrainingruntimes.trainer.kubeflow.org.yaml"
    expected = schema(definition(file, "ClusterTrainingRuntime"), "v1alpha1")
    assert list(complaints(all_runtimes()[name], expected)) == []
