"""What would hold a Ray workload, by the settings of stack dev alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.why.answer import Answer, Layer
from slipway.why.explain import explain
from slipway.why.manifests import answer
from slipway.why.podsets import podsets
from spec.settings.addons.batch import Kuberay
from spec.settings.admission import Admission
from tests.components.admission import ray_samples as ray
from tests.components.admission.samples import Object, spec
from tests.slipway.why.objects import DEV, POOL, bundle

SIZE = {"cpu": "1", "memory": "1Gi"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def pod(pool: str, **devices: str) -> Object:
    """A pod on a pool of dev."""
    main = {"name": "main", "image": "registry.example.com/a:1", "resources": {"limits": {**SIZE, **devices}}}
    return spec(main, nodeSelector={POOL: pool}, tolerations=[TOLERATION])


def job(**more: Any) -> Object:
    """A right RayJob with workers on Spot GPUs."""
    found = ray.job(pod("cpu"), worker=pod("gpu-spot", **{"nvidia.com/gpu": "1"}), **more)
    return {**found, "metadata": {**found["metadata"], "namespace": "vision"}}


def asked(manifest: Object, **target: Any) -> Answer:
    return answer(manifest, target=replace(DEV, **target), rules=Admission(), dry_run=None, others=(manifest,))


def test_a_right_job_is_held_by_nothing_and_spot_needs_no_claim() -> None:
    assert not asked(job()).held


@pytest.mark.parametrize(
    ("manifest", "layer", "text"),
    [
        (job(activeDeadlineSeconds=None), Layer.ADMISSION, "activeDeadlineSeconds"),
        (job(activeDeadlineSeconds=7 * 86400, backoffLimit=2), Layer.ADMISSION, "activeDeadlineSeconds"),
        (job(ttlSecondsAfterFinished=86400), Layer.ADMISSION, "ttlSecondsAfterFinished"),
        (job(backoffLimit=21, activeDeadlineSeconds=60), Layer.ADMISSION, "backoffLimit"),
        (job(replicas=100), Layer.QUOTA, "(given: 100)"),
        (job(replicas=0, minReplicas=100), Layer.QUOTA, "(given: 100)"),
        (job(replicas=25, numOfHosts=4), Layer.QUOTA, "(given: 100)"),
    ],
)
def test_a_wrong_one_is_explained_by_its_layer(manifest: Object, layer: Layer, text: str) -> None:
    found = asked(manifest)
    assert found.held
    assert found.part.layer is layer
    assert text in found.text()


def test_the_add_on_is_named_if_it_is_missing() -> None:
    addons = frozenset(DEV.addons or ()) - {Kuberay}
    for manifest in (job(), ray.cluster(), ray.service()):
        assert "needs the add-on kuberay" in asked(manifest, addons=addons).text()


def test_the_submitter_is_one_of_its_pods() -> None:
    assert [one.name for one in podsets(ray.selecting())] == ["submitter"]
    assert [(one.name, one.count) for one in podsets(job(replicas=3))] == [("head", 1), ("workers", 3)]


def test_a_suspended_service_without_a_queue_is_started_by_nobody() -> None:
    subject = ray.service(queued=False, suspend=True)
    subject["metadata"] |= {"namespace": "vision", "uid": "1"}
    assert "it is suspended, and no queue would start it" in explain(bundle(subject)).text()
