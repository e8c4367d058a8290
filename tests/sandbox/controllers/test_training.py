"""Kubeflow's operators and Trainer, as the platform's add-ons install them: a job of each kind runs to its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.addons import mpi_operator, training_operator
from components.addons.kubeflow_crds import KINDS, definition
from sandbox.kubernetes.client import ApiError
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.running import State, load
from sandbox.kubernetes.controllers.webhooks import as_applied
from sandbox.kubernetes.objects import Object, Ref
from spec.settings.addons.batch import MpiOperator, TrainingOperator
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, until_served, wait
from tests.sandbox.plane import ControlPlane

pytestmark = pytest.mark.sandbox
TEAM = "team"
KIND = KINDS["PyTorchJob"]


def replica(name: str, count: int, duration: str = "") -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {"sandbox.slipway/duration": duration} if duration else {}},
        "spec": {"containers": [{"name": name, "image": "busybox"}]},
    }
    return {"replicas": count, "restartPolicy": "Never", "template": template}


def job(kind: str, api_version: str, name: str, **spec: Any) -> Object:
    return {**Ref(api_version, kind, name, TEAM).as_object(), "spec": spec}


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster with both operators, from the platform's manifests."""
    directory = tmp_path_factory.mktemp("operators")
    with cluster(directory, "training-operator", "mpi-operator") as plane:
        client = plane.client
        spaces = (training_operator.NAMESPACE, mpi_operator.OPERATOR.namespace, TEAM)
        applied(client, *(Ref("v1", "Namespace", name).as_object() for name in spaces))
        applied(client, definition(KIND), mpi_operator.definition())
        until_served(client, "kubeflow.org/v2beta1", "MPIJob")
        operator = training_operator.deployment(TrainingOperator(), [KIND], placement={}, gang_scheduler=None)
        applied(
            client,
            *training_operator.access([KIND]).values(),
            training_operator.certificate(),
            training_operator.service(),
            operator,
            as_applied(training_operator.webhooks([KIND]), table.served()),
            *mpi_operator.access().values(),
            mpi_operator.deployment(MpiOperator(), placement={}, gang_scheduler=None),
        )
        until_running(directory, "training-operator", "mpi-operator")
        yield plane
        assert {each.state for each in load(directory)} == {State.RUNNING}


def test_a_pytorchjob_runs_to_its_end(operators: ControlPlane) -> None:
    replicas = {"Master": replica("pytorch", 1, "3s"), "Worker": replica("pytorch", 2, "3s")}
    trained = job("PyTorchJob", "kubeflow.org/v1", "trained", pytorchReplicaSpecs=replicas)
    applied(operators.client, trained)
    wait(operators.client, Ref.of(trained), holds("Succeeded"), "not succeeded")


def test_a_pytorchjob_that_the_webhook_refuses(operators: ControlPlane) -> None:
    wrong = {"Master": replica("other", 1, "3s")}
    with pytest.raises(ApiError, match=r"validator.pytorchjob.* denied the request"):
        operators.client.apply(job("PyTorchJob", "kubeflow.org/v1", "wrong", pytorchReplicaSpecs=wrong), "test")


def test_an_mpijob_runs_to_its_end(operators: ControlPlane) -> None:
    """Its workers serve SSH, so they run until the launcher has ended, and without `cleanPodPolicy` longer."""
    replicas = {"Launcher": replica("mpi", 1, "5s"), "Worker": replica("mpi", 2)}
    reduced = job("MPIJob", "kubeflow.org/v2beta1", "reduced", mpiReplicaSpecs=replicas, slotsPerWorker=1)
    applied(operators.client, reduced)
    wait(operators.client, Ref.of(reduced), holds("Succeeded"), "not succeeded")
    pods = operators.client.discovery.find("v1", "Pod")
    workers = operators.client.list(pods, TEAM, "training.kubeflow.org/job-role=worker")
    assert [pod["status"]["phase"] for pod in workers] == ["Running", "Running"]
    operators.client.delete(Ref.of(reduced))


def test_an_mpijob_that_was_suspended_runs_again(operators: ControlPlane) -> None:
    """As Kueue does when it preempts one. Upstream's role does not let the operator resume its launcher."""
    replicas = {"Launcher": replica("mpi", 1, "600s"), "Worker": replica("mpi", 2, "600s")}
    paused = job("MPIJob", "kubeflow.org/v2beta1", "paused", mpiReplicaSpecs=replicas, slotsPerWorker=1)
    applied(operators.client, paused)

    def launchers(count: int) -> None:
        def look(found: Object) -> bool | None:
            status = (found.get("status") or {}).get("replicaStatuses") or {}
            return ((status.get("Launcher") or {}).get("active") or 0) == count or None

        wait(operators.client, Ref.of(paused), look, f"not {count} launchers")

    launchers(1)
    for suspend, count in ((True, 0), (False, 1)):
        operators.client.merge(Ref.of(paused), {"spec": {"runPolicy": {"suspend": suspend}}})
        launchers(count)
    operators.client.delete(Ref.of(paused))


def test_a_trainjob_runs_to_its_end(tmp_path: Path, shared: Path) -> None:
    with cluster(tmp_path, "trainer", "jobset") as plane:
        charts = shared / "charts-full"
        release(plane.client, charts, "jobset", "jobset-system")
        release(plane.client, charts, "trainer", "kubeflow-system", jobset={"install": False})
        until_running(tmp_path, "trainer", "jobset")
        inner = {
            "metadata": {"annotations": {"sandbox.slipway/duration": "3s"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "node", "image": "busybox"}]},
        }
        labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
        node = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": inner}}}
        spec = {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}
        runtime = Ref("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "torch").as_object() | {"spec": spec}
        reference = {"name": "torch", "kind": "ClusterTrainingRuntime", "apiGroup": "trainer.kubeflow.org"}
        trained = job("TrainJob", "trainer.kubeflow.org/v1alpha1", "trained", runtimeRef=reference)
        applied(plane.client, Ref("v1", "Namespace", TEAM).as_object(), runtime, trained)
        wait(plane.client, Ref.of(trained), holds("Complete"), "not complete")
