from __future__ import annotations

from typing import Any

from components.queues.remote import admission_checks, remote_manifests
from spec.settings.queues import Queues
from tests.components.tenancy.samples import record

WORKERS = {"west": {"secret": "kubeconfig-west"}, "east": {"secret": "kubeconfig-east"}}
MANAGER: dict[str, Any] = {"addons": {"kueue": {"multiKueue": "manager"}}, "queues": {"workers": WORKERS}}


def settings(**more: object) -> Queues:
    return Queues.model_validate({"workers": WORKERS, **more})


def test_a_cluster_without_workers_has_nothing_of_them() -> None:
    assert remote_manifests(Queues()) == {}
    assert admission_checks(Queues()) == {}


def test_a_manager_finds_its_workers_by_secrets_that_hold_no_value() -> None:
    found = remote_manifests(settings())
    assert found["worker-west"]["spec"] == {
        "clusterSource": {"kubeConfig": {"location": "kubeconfig-west", "locationType": "Secret"}}
    }
    assert found["workers"]["spec"] == {"clusters": ["east", "west"]}


def test_the_check_names_the_configuration_that_names_the_workers() -> None:
    found = remote_manifests(settings())
    parameters = found["check"]["spec"]["parameters"]
    assert parameters["name"] == found["workers"]["metadata"]["name"]
    assert parameters["kind"] == found["workers"]["kind"]
    assert found["check"]["spec"]["controllerName"] == "kueue.x-k8s.io/multikueue"


def test_all_work_of_a_manager_is_sent_away_or_that_of_some_pools() -> None:
    (every,) = admission_checks(settings())["admissionChecksStrategy"]["admissionChecks"]
    assert every == {"name": "multikueue"}
    (some,) = admission_checks(settings(remotePools=("h100",)))["admissionChecksStrategy"]["admissionChecks"]
    assert some == {"name": "multikueue", "onFlavors": ["h100"]}


def test_the_queues_of_a_manager_carry_the_check_and_a_worker_has_the_same_queues_without() -> None:
    kind = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
    managed = record(**MANAGER).of(kind)
    worker = record(addons={"kueue": {"multiKueue": "worker"}}).of(kind)
    assert managed.keys() == worker.keys()
    for name, found in managed.items():
        spec = dict(found.inputs["spec"])
        assert spec.pop("admissionChecksStrategy")["admissionChecks"] == [{"name": "multikueue"}]
        assert spec == worker[name].inputs["spec"]
