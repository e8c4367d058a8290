"""Workload manifests as resources, and the target of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from components.workloads import (
    DistributedTraining,
    ModelDeployment,
    RayCluster,
    RayJob,
    RayService,
    TrainingJob,
    WorkloadRefused,
    connect,
)
from components.workloads.connect import kubeconfig
from tests.components.workloads.examples import ROOT
from tests.components.workloads.samples import (
    DEPLOYMENT,
    DISTRIBUTED,
    RAY_CLUSTER,
    RAY_JOB,
    RAY_SERVICE,
    TARGET,
    TRAINING,
)
from tests.support.mocks import PROJECT, Recording, providers, run


def record(component: type[pulumi.ComponentResource], name: str, args: Any) -> Recording:
    return run(lambda: component(name, args, pulumi.ResourceOptions(providers=providers())).urn)  # type: ignore[arg-type]


def test_children_are_named_after_the_component_and_their_role() -> None:
    recording = record(ModelDeployment, "chat", DEPLOYMENT)
    assert {each.name for each in recording if each.type.startswith("kubernetes:")} == {
        "chat-deployment",
        "chat-service",
        "chat-budget",
        "chat-metrics",
        "chat-autoscaler",
    }
    assert recording.default_provider_users == ()


def test_an_update_does_not_change_fields_that_the_queue_sets() -> None:
    jobs = {
        "kubernetes:batch/v1:Job": (record(TrainingJob, "mnist", TRAINING), ["spec.suspend"]),
        "kubernetes:trainer.kubeflow.org/v1alpha1:TrainJob": (
            record(DistributedTraining, "llm", DISTRIBUTED),
            ["spec.suspend"],
        ),
        "kubernetes:kubeflow.org/v1:PyTorchJob": (
            record(DistributedTraining, "llm", replace(DISTRIBUTED, kind="PyTorchJob")),
            ["spec.runPolicy.suspend"],
        ),
        "kubernetes:ray.io/v1:RayCluster": (record(RayCluster, "lab", RAY_CLUSTER), ["spec.suspend"]),
        "kubernetes:ray.io/v1:RayJob": (record(RayJob, "tune", RAY_JOB), ["spec.suspend"]),
        "kubernetes:ray.io/v1:RayService": (
            record(RayService, "chat", RAY_SERVICE),
            ["spec.rayClusterConfig.suspend"],
        ),
    }
    for token, (recording, ignored) in jobs.items():
        assert list(recording.one(token).ignore_changes) == ignored


def test_a_train_job_depends_on_its_runtime() -> None:
    recording = record(DistributedTraining, "llm", DISTRIBUTED)
    job = recording.one("kubernetes:trainer.kubeflow.org/v1alpha1:TrainJob")
    assert recording.waits(job, recording.one("kubernetes:trainer.kubeflow.org/v1alpha1:TrainingRuntime"))


def test_a_workload_has_the_dependencies_of_its_target() -> None:
    def build() -> Any:
        both = providers()
        space = kubernetes.core.v1.Namespace("space", opts=pulumi.ResourceOptions(provider=both[1]))
        args = replace(TRAINING, target=replace(TARGET, after=(space,)))
        return TrainingJob("mnist", args, pulumi.ResourceOptions(providers=both)).urn

    recording = run(build)
    assert recording.waits(recording.one("kubernetes:batch/v1:Job"), recording.one(kubernetes.core.v1.Namespace))


def test_a_refused_workload_declares_no_resource() -> None:
    with pytest.raises(WorkloadRefused):
        record(TrainingJob, "mnist", replace(TRAINING, deadline_seconds=None))


@pytest.fixture
def configured() -> Iterator[Callable[[str], None]]:
    """Sets the program's configuration for a namespace; the SDK keeps it beyond a run."""

    def configure(namespace: str) -> None:
        keys = {"namespace": namespace, "platform": "dev", "stacks": str(ROOT / "stacks")}
        pulumi.runtime.set_all_config({f"{PROJECT}:{key}": value for key, value in keys.items()})

    yield configure
    pulumi.runtime.set_all_config({})


def test_the_configuration_selects_platform_namespace_and_cluster(
    configured: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/somewhere/config:/elsewhere")

    def build() -> Any:
        configured("vision")
        target, _ = connect()
        return target.namespace

    recording = run(build)
    assert recording.returned == "vision"
    provider = recording.one("pulumi:providers:kubernetes")
    assert (provider.inputs["kubeconfig"], provider.inputs["context"]) == ("/somewhere/config", "slipway-dev")


def test_a_wrong_namespace_ends_a_program_without_a_traceback(configured: Callable[[str], None]) -> None:
    def build() -> Any:
        configured("unknown")
        return connect()

    with pytest.raises(pulumi.RunError, match="namespace: it must be a namespace of a team"):
        run(build)


def test_the_default_kubeconfig_is_used_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert kubeconfig() == str(Path.home() / ".kube/config")
