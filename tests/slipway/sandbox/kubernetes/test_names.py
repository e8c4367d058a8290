from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.names import AUTONAMED, annotation, api_version_and_kind, is_patch, manifest, named
from slipway.sandbox.rpc.hooks import Resource

DEPLOYMENT = Resource("urn", "kubernetes:apps/v1:Deployment", "web")


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("kubernetes:core/v1:Namespace", ("v1", "Namespace")),
        ("kubernetes:apps/v1:Deployment", ("apps/v1", "Deployment")),
        ("kubernetes:rbac.authorization.k8s.io/v1:Role", ("rbac.authorization.k8s.io/v1", "Role")),
        ("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", ("kueue.x-k8s.io/v1beta2", "ClusterQueue")),
    ],
)
def test_tokens_name_group_version_and_kind(token: str, expected: tuple[str, str]) -> None:
    assert api_version_and_kind(token) == expected


def test_a_name_is_generated_from_the_logical_name_and_kept() -> None:
    first = named(DEPLOYMENT, {"spec": {}}, {}, b"seed")
    assert first["metadata"]["name"].startswith("web-")
    assert len(first["metadata"]["name"]) == len("web-") + 8
    assert first["metadata"]["annotations"] == {AUTONAMED: "true"}
    again = named(DEPLOYMENT, {"spec": {}}, first, b"another seed")
    assert again["metadata"]["name"] == first["metadata"]["name"]


def test_a_replacement_gets_another_name() -> None:
    names = {named(DEPLOYMENT, {}, {}, seed)["metadata"]["name"] for seed in (b"a", b"b")}
    assert len(names) == 2


@pytest.mark.parametrize("metadata", [{"name": "mine"}, {"generateName": "mine-"}])
def test_the_programs_own_name_is_kept(metadata: dict[str, str]) -> None:
    assert named(DEPLOYMENT, {"metadata": metadata}, {}, b"seed")["metadata"] == metadata


def test_an_explicit_name_does_not_count_as_generated() -> None:
    olds = {"metadata": {"name": "mine"}}
    assert named(DEPLOYMENT, {}, olds, b"seed")["metadata"]["name"] != "mine"


def test_the_inputs_of_the_program_are_not_changed() -> None:
    news: dict[str, Any] = {"metadata": {"labels": {}}}
    named(DEPLOYMENT, news, {}, b"seed")
    assert news == {"metadata": {"labels": {}}}


def test_patches_are_distinguished_from_kinds_that_end_in_patch() -> None:
    assert is_patch("kubernetes:apps/v1:DeploymentPatch", {"kind": "Deployment"})
    assert not is_patch("kubernetes:example.com/v1:EyePatch", {"kind": "EyePatch"})


def test_pulumis_own_keys_are_not_sent() -> None:
    assert manifest({"__defaults": [], "kind": "X", "spec": {}}) == {"kind": "X", "spec": {}}


@pytest.mark.parametrize("inputs", [{}, {"metadata": "unknown"}, {"metadata": {}}, {"metadata": {"annotations": None}}])
def test_a_missing_annotation_is_empty(inputs: dict[str, Any]) -> None:
    assert annotation(inputs, "a") == ""
