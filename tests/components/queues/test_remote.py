from __future__ import annotations

from typing import Any

from components.queues.remote import admission_checks, remote_manifests
from spec.settings.queues import Queues
from tests.components.tenancy.samples import record

WORKERS = {"west": {"secret": "kubeconfig-west"}, "east": {"secret": "kubeconfig-east"}}
MANAGER: dict[str, Any] = {"addons": {"kueue": {"multiKueue": "manager"}}, "queues": {"workers": WORKERS}}


def settings(**more: object) -> Queues:
    return Queues.model_validate({"workers": WORKERS, **more})


def test_without_workers_there_are_no_multikueue_manifests() -> None:
    assert remote_manifests(Queues()) == {}
    assert admission_checks(Queues()) == {}


def test_workers_refer_to_secrets_by_name() -> None:
    manifests = remote_manifests(settings())
    assert manifests["worker-west"]["spec"] == {
        "clusterSource": {"kubeConfig": {"location": "kubeconfig-west", "locationType": "Secret"}}
    }
    assert manifests["workers"]["spec"] == {"clusters": ["east", "west"]}


def test_the_admission_check_refers_to_the_configuration() -> None:
    manifests = remote_manifests(settings())
    parameters = manifests["check"]["spec"]["parameters"]
    assert parameters["name"] == manifests["workers"]["metadata"]["name"]
    assert parameters["kind"] == manifests["workers"]["kind"]
    assert manifests["check"]["spec"]["controllerName"] == "kueue.x-k8s.io/multikueue"


def test_a_manager_dispatches_all_flavors_or_some() -> None:
    (every,) = admission_checks(settings())["admissionChecksStrategy"]["admissionChecks"]
    assert every == {"name": "multikueue"}
    (some,) = admission_checks(settings(remotePools=("h100",)))["admissionChecksStrategy"]["admissionChecks"]
    assert some == {"name": "multikueue", "onFlavors": ["h100"]}


def test_only_queues_of_a_manager_have_the_admission_check() -> None:
    kind = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
    managed = record(**MANAGER).of(kind)
    worker = record(addons={"kueue": {"multiKueue": "worker"}}).of(kind)
    assert managed.keys() == worker.keys()
    for name, queue in managed.items():
        spec = dict(queue.inputs["spec"])
        assert spec.pop("admissionChecksStrategy")["admissionChecks"] == [{"name": "multikueue"}]
        assert spec == worker[name].inputs["spec"]
