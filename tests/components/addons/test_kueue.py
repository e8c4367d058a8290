"""The configuration of Kueue's manager."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.kueue import ALWAYS, FRAMEWORKS, Kueue, configuration, frameworks
from spec.catalog.software import SOFTWARE
from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue as Settings
from tests.support.context import seen_parts

FIELDS = {
    "apiVersion", "kind", "health", "metrics", "webhook", "leaderElection", "controller", "clientConnection",
    "manageJobsWithoutQueueName", "managedJobsNamespaceSelector", "waitForPodsReady", "integrations", "resources",
    "objectRetentionPolicies", "fairSharing", "multiKueue",
}  # fmt: skip
"""Fields of Kueue's Configuration (v1beta2, v0.19) that are used here; Kueue doesn't start with an unknown one."""


def configured(**settings: Any) -> dict[str, Any]:
    return configuration(Settings(**settings), cluster="ml", integrations=("batch/job",))


def addons(**on: Any) -> Addons:
    return Addons.model_validate(on)


@pytest.mark.parametrize("settings", [{}, {"fairSharing": False}, {"multiKueue": "manager"}, {"multiKueue": "worker"}])
def test_every_field_exists_in_kueues_configuration(settings: dict[str, Any]) -> None:
    assert set(configured(**settings)) <= FIELDS


def test_only_namespaces_of_teams_are_managed() -> None:
    selector = configured()["managedJobsNamespaceSelector"]
    assert selector == {"matchExpressions": [{"key": "platform.slipway/team", "operator": "Exists"}]}


def test_kinds_are_queued_if_their_add_on_is_enabled() -> None:
    assert frameworks(addons()) == ("batch/job", "deployment", "pod", "statefulset")
    on = addons(jobset={}, leaderWorkerSet={}, trainer={}, kuberay={})
    assert set(frameworks(on)) - set(frameworks(addons())) == {
        "jobset.x-k8s.io/jobset",
        "leaderworkerset.x-k8s.io/leaderworkerset",
        "ray.io/raycluster",
        "ray.io/rayjob",
        "ray.io/rayservice",
        "trainer.kubeflow.org/trainjob",
    }


def test_the_configured_kinds_of_the_training_operator_are_queued_and_those_of_the_mpi_operator() -> None:
    names = frameworks(addons(trainingOperator={"kinds": ("PyTorchJob", "TFJob")}, mpiOperator={}))
    assert {name for name in names if name.startswith("kubeflow.org/")} == {
        "kubeflow.org/mpijob",
        "kubeflow.org/pytorchjob",
        "kubeflow.org/tfjob",
    }


def test_kueue_knows_every_framework(shared: Path) -> None:
    """The chart lists them, most of them commented out."""
    text = (shared / "charts-full/kueue/values.yaml").read_text()
    queued = {name for row in SOFTWARE.values() for name in row.queued_kinds.values()}
    assert {name for name in {*ALWAYS, *FRAMEWORKS.values(), *queued} if f'"{name}"' not in text} == set()


def test_fair_sharing_is_enabled_by_its_presence() -> None:
    assert configured()["fairSharing"]["preemptionStrategies"] == ["LessThanOrEqualToFinalShare"]
    assert "fairSharing" not in configured(fairSharing=False)


def test_a_job_whose_pods_are_not_ready_is_requeued_with_backoff() -> None:
    manifest = configured(waitForPodsReadyMinutes=30, backoffLimitCount=3)["waitForPodsReady"]
    assert (manifest["timeout"], manifest["recoveryTimeout"]) == ("30m", "15m")
    assert manifest["requeuingStrategy"]["backoffLimitCount"] == 3
    assert manifest["blockAdmission"] is False


def test_efa_and_huge_pages_need_no_quota() -> None:
    assert configured()["resources"]["excludeResourcePrefixes"] == [
        "ephemeral-storage", "hugepages-", "vpc.amazonaws.com/efa"
    ]  # fmt: skip


def test_only_a_manager_has_a_multikueue_configuration() -> None:
    manifest = configured(multiKueue="manager", workerLostTimeoutMinutes=30)["multiKueue"]
    assert (manifest["origin"], manifest["workerLostTimeout"]) == ("ml", "30m")
    assert configured(multiKueue="worker") == configured()


def test_the_release_has_the_configuration_as_text() -> None:
    seen = seen_parts(lambda: Kueue(Settings()), addons={"kueue": {}, "jobset": {}})
    text = seen.values["kueue"]["managerConfig"]["controllerManagerConfigYaml"]
    read = yaml.safe_load(text)
    assert read["kind"] == "Configuration"
    assert "jobset.x-k8s.io/jobset" in read["integrations"]["frameworks"]
