"""Kubernetes objects from their manifests."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from components.base.kubernetes import declare, type_token
from tests.support.mocks import providers, run

COHORT = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "platform"}}


@pytest.mark.parametrize(
    ("api_version", "kind", "token"),
    [
        ("v1", "Namespace", "kubernetes:core/v1:Namespace"),
        ("apps/v1", "Deployment", "kubernetes:apps/v1:Deployment"),
        ("kueue.x-k8s.io/v1beta2", "Cohort", "kubernetes:kueue.x-k8s.io/v1beta2:Cohort"),
    ],
)
def test_a_kind_has_the_token_of_the_provider(api_version: str, kind: str, token: str) -> None:
    assert type_token(api_version, kind) == token


def test_the_whole_manifest_is_declared() -> None:
    def build() -> None:
        manifest = {**COHORT, "spec": {"parentName": pulumi.Output.from_input("root")}}
        declare("cohort", manifest, pulumi.ResourceOptions(provider=providers()[1]))

    recording = run(build).one("kubernetes:kueue.x-k8s.io/v1beta2:Cohort")
    assert recording.name == "cohort"
    assert recording.inputs == {**COHORT, "spec": {"parentName": "root"}}


@pytest.mark.parametrize("metadata", [{}, {"generateName": "x-"}, {"name": None}, {"name": 7}], ids=str)
def test_a_name_must_be_a_plain_string(metadata: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cohort: a manifest needs metadata\.name as a plain string"):
        declare("cohort", {**COHORT, "metadata": metadata}, pulumi.ResourceOptions())


def test_a_manifest_without_metadata_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs metadata\.name"):
        declare("cohort", {"apiVersion": "v1", "kind": "Namespace"}, pulumi.ResourceOptions())
