"""Every kind that is created suspended has a framework of Kueue, or nothing would ever start it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.addons.kueue.configuration import ALWAYS, FRAMEWORKS, frameworks
from spec.settings.addons import Addons
from tests.components.workloads.samples import GOOD, bodies

EVERYTHING: dict[str, Any] = {
    "jobset": {},
    "trainer": {},
    "trainingOperator": {},
    "mpiOperator": {},
    "leaderWorkerSet": {},
    "kuberay": {},
}


def suspended(manifest: Mapping[str, Any]) -> bool:
    spec = manifest.get("spec", {})
    return any(each.get("suspend") for each in (spec, spec.get("runPolicy", {}), spec.get("rayClusterConfig", {})))


def kinds() -> Iterator[str]:
    """Kinds of all typed workloads that are created suspended."""
    for make in GOOD.values():
        yield from (each["kind"] for each in bodies(make()).values() if suspended(each))


def test_kueue_manages_every_kind_that_is_created_suspended_once_its_add_on_is_installed() -> None:
    found = set(kinds())
    assert found >= {"Job", "JobSet", "MPIJob", "PyTorchJob", "TrainJob", "RayCluster", "RayJob", "RayService"}
    managed = frameworks(Addons.model_validate(EVERYTHING))
    assert {kind for kind in found if FRAMEWORKS.get(kind) not in managed} == set()


def test_without_add_ons_only_kinds_of_kubernetes_are_managed() -> None:
    assert frameworks(Addons()) == tuple(sorted(ALWAYS))
