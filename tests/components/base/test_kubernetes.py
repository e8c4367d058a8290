"""Kubernetes objects from their manifests."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi_kubernetes.helm.v3 import Release

from components.base.addon import Namespace
from components.base.kubernetes import (
    Location,
    Namespaces,
    NamespacesArgs,
    agreed,
    declare,
    locate,
    manifest,
    release,
    type_token,
)
from spec.catalog.software import ChartRef
from spec.settings.charts import Charts
from tests.components.addons.fakes import addon, settings
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs

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


DAY = date(2026, 9, 1)
IN_REPOSITORY = ChartRef(name="thing", repository="https://charts.example", version="1.2.3", released=DAY, source="s")
OCI = ChartRef(name="thing", repository="oci://registry.example", version="v1.2.3", released=DAY, source="s")


def source(**settings: str) -> Charts:
    return Charts.model_validate_json(json.dumps(settings))


def installed(chart: ChartRef, **more: Any) -> Any:
    def build() -> None:
        opts = pulumi.ResourceOptions(provider=providers()[1])
        release("thing", locate(chart, Charts()), namespace="kube-system", values={"replicas": 2}, opts=opts, **more)

    return run(build).one(Release).inputs


def test_a_release_is_atomic() -> None:
    recording = installed(IN_REPOSITORY)
    assert recording["atomic"] is True
    assert recording["cleanupOnFail"] is True
    assert recording["timeout"] == 600


def test_a_chart_of_a_repository_names_it_and_an_oci_chart_does_not() -> None:
    assert installed(IN_REPOSITORY)["repositoryOpts"] == {"repo": "https://charts.example"}
    recording = installed(OCI)
    assert "repositoryOpts" not in recording
    assert (recording["chart"], recording["version"]) == ("oci://registry.example/thing", "v1.2.3")


def test_the_release_name_defaults_to_the_logical_name() -> None:
    assert installed(OCI)["name"] == "thing"
    assert installed(OCI, release_name="other")["name"] == "other"


def test_crds_of_the_chart_can_be_skipped() -> None:
    assert installed(OCI)["skipCrds"] is False
    assert installed(OCI, skip_crds=True)["skipCrds"] is True


@pytest.mark.parametrize("chart", [IN_REPOSITORY, OCI])
def test_charts_come_from_a_directory_or_a_registry_at_the_same_version(chart: ChartRef) -> None:
    version = chart.version
    absolute = Location(chart="/opt/charts/thing", version=version)
    assert locate(chart, source(directory="/opt/charts")) == absolute
    mirror = Location(chart="oci://registry.example.com/charts/thing", version=version)
    assert locate(chart, source(registry="oci://registry.example.com/charts")) == mirror


def test_a_relative_directory_begins_at_the_project_whose_program_is_one_folder_below() -> None:
    assert locate(OCI, source(directory="charts")).chart == "../charts/thing"
    project = yaml.safe_load((Path(__file__).parents[3] / "Pulumi.yaml").read_text(encoding="utf-8"))
    assert Path(project["main"]).parts == ("infra",)
