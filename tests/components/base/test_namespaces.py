"""Namespaces of add-ons."""

from __future__ import annotations

import pulumi
import pytest

from components.base.addon import Namespace
from components.base.namespaces import Namespaces, NamespacesArgs, agreed, manifest
from tests.components.addons.fakes import addon, settings
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs

OURS = Namespace(name="ours", enforce="restricted")
KUBE_SYSTEM = Namespace(name="kube-system", enforce=None)


def recorded(*spaces: Namespace) -> Recording:
    def build() -> dict[str, int]:
        both = providers()
        opts = pulumi.ResourceOptions(providers=both)
        addons = {f"a{n}": addon(settings("S"), f"a{n}", namespace=space) for n, space in enumerate(spaces)}
        namespaces = Namespaces("namespaces", NamespacesArgs(addons=addons, cluster=cluster_outputs(both[0])), opts)
        return {name: len(namespaces.of(name)) for name in ("ours", "kube-system")}

    return run(build)


def test_a_shared_namespace_is_declared_once() -> None:
    recording = recorded(OURS, OURS)
    assert list(recording.of("kubernetes:core/v1:Namespace")) == ["namespaces-ours"]
    assert recording.returned["ours"] == 1


def test_a_namespace_of_eks_is_not_declared() -> None:
    recording = recorded(KUBE_SYSTEM)
    assert not recording.of("kubernetes:core/v1:Namespace")
    assert recording.returned["kube-system"] == 0


def test_namespaces_are_deleted_with_the_cluster() -> None:
    recording = recorded(OURS)
    cluster = recording.one("aws:eks/cluster:Cluster")
    assert recording.one("kubernetes:core/v1:Namespace").deleted_with == cluster.urn


@pytest.mark.parametrize(
    "other",
    [Namespace(name="ours", enforce="privileged"), Namespace(name="ours", enforce="restricted", labels={"a": "b"})],
    ids=["level", "labels"],
)
def test_add_ons_that_share_a_namespace_must_agree(other: Namespace) -> None:
    with pytest.raises(ValueError, match=r"share the namespace ours and disagree on it: .*restricted.* and "):
        agreed([OURS, other])


def test_warn_and_audit_equal_the_enforced_level() -> None:
    labels = manifest(Namespace(name="ours", enforce="baseline", labels={"team": "ml"}))["metadata"]["labels"]
    assert labels == {
        "team": "ml",
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "baseline",
        "pod-security.kubernetes.io/audit": "baseline",
    }
