"""Workload manifests as resources, and the target of a program."""

from collections.abc import Callable, Iterator, Mapping
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
    model_server,
    training_job,
)
from infra.target import connect, kubeconfig, target_from_file, target_of
from spec.settings import ConfigurationError
from spec.settings.addons.batch import Kueue
from spec.settings.addons.tracking import Mlflow
from spec.teams import labels, tracking
from tests.components.pools.samples import platform
from tests.components.workloads.examples import EXAMPLES, ROOT, manifests, target
from tests.components.workloads.samples import (
    DEPLOYMENT,
    DISTRIBUTED,
    RAY_CLUSTER,
    RAY_JOB,
    RAY_SERVICE,
    SERVER,
    TARGET,
    TRAINING,
    body,
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
        "kubernetes:ray.io/v1:RayService": (record(RayService, "chat", RAY_SERVICE), ["spec.rayClusterConfig.suspend"]),
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


TEAMS = {
    "vision": {"project": "perception", "costCenter": "cc-1",
        "namespaces": {"training": {"purpose": "training"}, "serving": {"purpose": "serving"}},
        "gpus": {"spot": {"nominalQuota": 3}}, "priorities": ["experiment", "interactive"]},
}  # fmt: skip
PLATFORM = platform({"spot": {"preset": "gpu-spot"}}, teams=TEAMS, addons={"kueue": {}})


def test_a_teams_namespace_has_its_labels_shares_and_priorities() -> None:
    target = target_of(PLATFORM, namespace="vision-serving")
    assert target.labels == {
        "platform.slipway/team": "vision",
        "platform.slipway/project": "perception",
        "platform.slipway/cost-center": "cc-1",
    }
    assert target.shares == {"spot": 3}
    assert set(target.priorities) == {"experiment", "interactive"}
    assert target.open


def test_load_balancers_do_not_reach_a_namespace_for_training() -> None:
    assert not target_of(PLATFORM, namespace="vision-training").open


def test_an_unknown_namespace_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="vision-serving, vision-training"):
        target_of(PLATFORM, namespace="vision")


def test_without_teams_any_namespace_is_accepted_and_shares_are_unknown() -> None:
    target = target_of(platform({}), namespace="lab")
    assert target.labels == {"platform.slipway/team": "lab"}
    assert target.shares is None


def test_it_has_the_installed_add_ons() -> None:
    target = target_of(PLATFORM, namespace="vision-training")
    assert target.addons is not None
    assert Kueue in target.addons
    assert target.runtimes == {}


def test_it_has_the_serving_runtimes_of_a_platform_with_kserve() -> None:
    target = target_from_file("prod", ROOT / "stacks", namespace="vision-serving")
    assert target.runtimes is not None
    assert "vllm-a100-2g.20gb" in target.runtimes
    assert (target.cluster, target.region) == ("slipway-prod", "us-east-1")


def test_a_missing_stack_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="must exist"):
        target_from_file("prod", tmp_path, namespace="vision")


def containers(at: Any) -> Iterator[Mapping[str, Any]]:
    """Everything with an image, and the model of an InferenceService, which becomes one."""
    if isinstance(at, Mapping):
        if "image" in at or "storageUri" in at:
            yield at
        for value in at.values():
            yield from containers(value)
    elif isinstance(at, list | tuple):
        for value in at:
            yield from containers(value)


def env(container: Mapping[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in container.get("env", ())}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_container_has_the_address_of_its_teams_server(name: str) -> None:
    team = target(name).labels[labels.TEAM]
    found = [container for manifest in manifests(name) for container in containers(manifest) if "image" in container]
    assert found
    tracked = Mlflow in (target(name).addons or ())
    wanted = f"http://mlflow-{team}.mlflow" if tracked else None
    assert {env(container).get(tracking.VARIABLE) for container in found} == {wanted}


def test_so_does_the_model_of_a_named_runtime() -> None:
    server = replace(SERVER, runtime="triton-a100", target=replace(SERVER.target, runtimes=None, env={"A": "b"}))
    (model,) = containers(body(model_server("m", server), "service"))
    assert env(model) == {"A": "b"}


def test_a_variable_of_the_pod_overrides_it() -> None:
    pod = replace(TRAINING.pod, env={"A": "own"})
    job = body(training_job("j", replace(TRAINING, pod=pod, target=replace(TRAINING.target, env={"A": "b", "C": "d"}))))
    (container,) = containers(job)
    assert {"A": "own", "C": "d"}.items() <= env(container).items()


def test_a_platform_without_a_tracking_server_gives_none(tmp_path: Any) -> None:
    text = (ROOT / "stacks" / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.strip().startswith("mlflow:")]
    (tmp_path / "Pulumi.dev.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert target_from_file("dev", tmp_path, namespace="vision").env == {}
