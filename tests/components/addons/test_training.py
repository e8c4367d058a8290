"""The MPI Operator's manifests, compared with upstream's."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.mpi_operator import MpiOperator
from components.addons.mpi_operator import definition as crd_of
from components.addons.trainer import IMAGE, NAME, runtimes
from components.base.placement import NOT_MOVED
from components.queues import resource_flavor
from components.workloads.checks.fit import need, tolerates
from spec.catalog.software import MANIFESTS
from spec.jobs import DO_NOT_DISRUPT
from spec.pools import resolve_all
from spec.pools.allocatable import allocatable
from spec.settings.addons.batch import MpiOperator as Settings
from spec.settings.queues import Queues
from tests.components.addons.charts import beyond, granted
from tests.components.addons.test_training_operator import fields
from tests.components.pools.samples import platform
from tests.support.context import POOLS, Seen, seen_parts
from tests.support.structural import complaints, definition, schema

PIN = MANIFESTS["mpi-operator"]


def seen(**settings: Any) -> Seen:
    return seen_parts(lambda: MpiOperator(Settings(**settings)))


@pytest.fixture(scope="module")
def upstream(shared: Path) -> dict[str, dict[str, Any]]:
    """Its manifests by kind; one object of each kind is compared."""
    text = (shared / "manifests-full/mpi-operator/mpi-operator.yaml").read_text()
    objects = [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]
    return {each["kind"]: each for each in objects if each["kind"] != "ClusterRole" or each.get("rules")}


def test_the_crd_has_upstreams_fields_and_defaults(upstream: dict[str, dict[str, Any]]) -> None:
    real, ours = upstream["CustomResourceDefinition"], crd_of()
    assert ours["metadata"]["name"] == real["metadata"]["name"]
    assert [each["name"] for each in ours["spec"]["versions"]] == [each["name"] for each in real["spec"]["versions"]]
    for part in ("spec", "status"):
        wanted, actual = (schema(each, "v2beta1")["properties"][part] for each in (real, ours))
        assert set(fields(wanted["properties"])) - set(fields(actual["properties"])) == set(), part
        assert wanted.get("required") == actual.get("required")
        defaults = {name: each["default"] for name, each in wanted["properties"].items() if "default" in each}
        assert {name: actual["properties"][name]["default"] for name in defaults} == defaults


RESUMES = ("batch", "jobs/status", "update")
"""Upstream's role lacks it, and its operator can't resume a launcher that was suspended."""


def test_it_has_no_permission_that_upstream_lacks_but_the_one_to_resume(upstream: dict[str, dict[str, Any]]) -> None:
    real = granted(upstream["ClusterRole"])
    ours = granted(seen().before["role"])
    assert beyond(ours, real) == {RESUMES}


def test_its_image_is_that_of_the_pinned_release_of_upstreams_repository(upstream: dict[str, dict[str, Any]]) -> None:
    (container,) = seen().objects["operator"]["spec"]["template"]["spec"]["containers"]
    (real,) = upstream["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == PIN.image
    name, _, tag = container["image"].partition(":")
    assert (name, f"v{tag}") == (real["image"].partition(":")[0], PIN.version)
    assert set(container["args"]) <= set(real["args"])


def test_its_pod_satisfies_the_pod_security_level() -> None:
    (container,) = seen().objects["operator"]["spec"]["template"]["spec"]["containers"]
    security = container["securityContext"]
    assert (security["runAsNonRoot"], security["seccompProfile"]) == (True, {"type": "RuntimeDefault"})
    assert MpiOperator.namespace.enforce == "restricted"


def test_the_operator_waits_for_its_crd_and_permissions() -> None:
    recording = seen().recording
    operator = recording.of("kubernetes:apps/v1:Deployment")["mpi-operator-operator"]
    for name in ("mpi-operator-crd-mpijobs", "mpi-operator-binding"):
        (before,) = [each for each in recording if each.name == name]
        assert recording.waits(operator, before), name


# Kubeflow Trainer and its runtimes.


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
