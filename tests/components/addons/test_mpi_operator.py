"""The MPI Operator's manifests, compared with upstream's."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.mpi_operator import MpiOperator
from components.addons.mpi_operator import definition as crd_of
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import MpiOperator as Settings
from tests.components.addons.test_training_operator import fields
from tests.support.context import Seen, seen_parts
from tests.support.structural import schema

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
    def granted(rules: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        return {
            (group, resource, verb)
            for rule in rules
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

    real = granted(upstream["ClusterRole"]["rules"])
    ours = granted(seen().before["role"]["rules"])
    assert {each for each in ours if each not in real and (*each[:2], "*") not in real} == {RESUMES}


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
