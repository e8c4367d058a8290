"""The configuration of Kueue's manager."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from components.addons.kueue import Kueue, configuration
from components.addons.kueue.configuration import TEAM_LABEL, frameworks
from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue as Settings
from spec.teams import labels
from tests.support.context import seen_parts

FIELDS = {
    "apiVersion", "kind", "health", "metrics", "webhook", "leaderElection", "controller", "clientConnection",
    "manageJobsWithoutQueueName", "managedJobsNamespaceSelector", "waitForPodsReady", "integrations", "resources",
    "objectRetentionPolicies", "fairSharing", "multiKueue",
}  # fmt: skip
"""Fields of Kueue's Configuration (v1beta2, v0.19) that are used here; it refuses to start with any other."""


def configured(**settings: Any) -> dict[str, Any]:
    return configuration.configuration(Settings(**settings), cluster="ml", integrations=("batch/job",))


def addons(**on: Any) -> Addons:
    return Addons.model_validate(on)


@pytest.mark.parametrize("settings", [{}, {"fairSharing": False}, {"multiKueue": "manager"}, {"multiKueue": "worker"}])
def test_it_holds_no_field_that_kueue_does_not_know(settings: dict[str, Any]) -> None:
    assert set(configured(**settings)) <= FIELDS


def test_only_namespaces_of_teams_are_managed() -> None:
    selector = configured()["managedJobsNamespaceSelector"]
    assert selector == {"matchExpressions": [{"key": "platform.slipway/team", "operator": "Exists"}]}
    assert TEAM_LABEL == labels.TEAM


def test_kinds_are_queued_where_their_add_on_is_on() -> None:
    assert frameworks(addons()) == ("batch/job", "deployment", "pod", "statefulset")
    on = addons(jobset={}, leaderWorkerSet={}, trainer={})
    assert set(frameworks(on)) - set(frameworks(addons())) == {
        "jobset.x-k8s.io/jobset",
        "leaderworkerset.x-k8s.io/leaderworkerset",
        "trainer.kubeflow.org/trainjob",
    }


def test_kinds_of_the_training_operator_are_queued_but_its_mpi_jobs() -> None:
    found = frameworks(addons(trainingOperator={"kinds": ("PyTorchJob", "TFJob", "MPIJob")}))
    assert {name for name in found if name.startswith("kubeflow.org/")} == {
        "kubeflow.org/pytorchjob",
        "kubeflow.org/tfjob",
    }


def test_fair_sharing_is_switched_on_by_being_there() -> None:
    assert configured()["fairSharing"]["preemptionStrategies"][0] == "LessThanOrEqualToFinalShare"
    assert "fairSharing" not in configured(fairSharing=False)


def test_a_job_whose_pods_do_not_come_queues_again_later_and_later() -> None:
    found = configured(waitForPodsReadyMinutes=30, backoffLimitCount=3)["waitForPodsReady"]
    assert (found["timeout"], found["recoveryTimeout"]) == ("30m", "15m")
    assert found["requeuingStrategy"]["backoffLimitCount"] == 3
    assert found["blockAdmission"] is False


def test_adapters_and_huge_pages_need_no_quota() -> None:
    assert configured()["resources"]["excludeResourcePrefixes"] == [
        "ephemeral-storage", "hugepages-", "vpc.amazonaws.com/efa"
    ]  # fmt: skip


def test_a_manager_names_itself_to_its_workers_and_a_worker_is_an_ordinary_cluster() -> None:
    found = configured(multiKueue="manager", workerLostTimeoutMinutes=30)["multiKueue"]
    assert (found["origin"], found["workerLostTimeout"]) == ("ml", "30m")
    assert configured(multiKueue="worker") == configured()


def test_the_release_holds_it_as_text() -> None:
    seen = seen_parts(lambda: Kueue(Settings()), addons={"kueue": {}, "jobset": {}})
    text = seen.values["kueue"]["managerConfig"]["controllerManagerConfigYaml"]
    read = yaml.safe_load(text)
    assert read["kind"] == "Configuration"
    assert "jobset.x-k8s.io/jobset" in read["integrations"]["frameworks"]


def test_two_managers_stand_on_the_system_pool_and_one_of_them_always() -> None:
    seen = seen_parts(lambda: Kueue(Settings()))
    found = seen.values["kueue"]["controllerManager"]
    assert found["replicas"] == 2
    assert found["podDisruptionBudget"] == {"enabled": True}
    assert found["nodeSelector"] == {"platform.slipway/role": "system"}
    alone = seen_parts(lambda: Kueue(Settings(replicas=1))).values["kueue"]["controllerManager"]
    assert alone["podDisruptionBudget"] == {"enabled": False}


@pytest.mark.parametrize("on", [True, False])
def test_metrics_are_read_where_prometheus_is(on: bool) -> None:
    more: dict[str, Any] = {"kubePrometheusStack": {}} if on else {}
    seen = seen_parts(lambda: Kueue(Settings()), addons={"kueue": {}, **more})
    assert seen.values["kueue"]["enablePrometheus"] is on
