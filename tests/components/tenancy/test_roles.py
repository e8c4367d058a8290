"""Members of teams get permissions on custom resources that an add-on installs, and on no others."""

import re
from pathlib import Path

import pytest

from components.addons.kubeflow_crds import KINDS
from components.addons.kubeflow_crds import definition as training_crd
from components.addons.mpi_operator import definition as mpi_crd
from components.tenancy.roles import cluster_role_manifest, group, role_binding, roles_in_use
from sandbox.kubernetes.helm.chart import Charts
from slipway.charts.pull import pinned
from spec.settings.teams import MemberRole
from tests.components.tenancy.samples import platform

Permission = tuple[str, str, str]


def permissions(role: MemberRole) -> set[Permission]:
    """Every permission of a role: API group, resource, verb."""
    return {
        (api, resource, verb)
        for rule in cluster_role_manifest(role)["rules"]
        for api in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_each_role_includes_the_one_below() -> None:
    assert permissions(MemberRole.VIEW) < permissions(MemberRole.EDIT) < permissions(MemberRole.ADMIN)


def test_no_rule_uses_wildcards() -> None:
    for role in MemberRole:
        assert not any("*" in permission for permission in permissions(role))


@pytest.mark.parametrize(
    ("permission", "first"),
    [
        (("", "pods", "list"), MemberRole.VIEW),
        (("kueue.x-k8s.io", "workloads", "get"), MemberRole.VIEW),
        (("", "secrets", "create"), MemberRole.EDIT),
        (("batch", "jobs", "create"), MemberRole.EDIT),
        (("trainer.kubeflow.org", "trainjobs", "create"), MemberRole.EDIT),
        (("serving.kserve.io", "inferenceservices", "update"), MemberRole.EDIT),
        (("", "pods/exec", "create"), MemberRole.EDIT),
        (("networking.k8s.io", "networkpolicies", "delete"), MemberRole.ADMIN),
        (("networking.k8s.io", "ingresses", "create"), MemberRole.ADMIN),
        (("", "serviceaccounts", "create"), MemberRole.ADMIN),
    ],
)
def test_the_lowest_role_with_a_permission(permission: Permission, first: MemberRole) -> None:
    order = [MemberRole.VIEW, MemberRole.EDIT, MemberRole.ADMIN]
    assert [role for role in order if permission in permissions(role)] == order[order.index(first) :]


@pytest.mark.parametrize(
    ("api", "resource"),
    [
        ("", "namespaces"),
        ("", "resourcequotas"),
        ("", "limitranges"),
        ("rbac.authorization.k8s.io", "rolebindings"),
        ("kueue.x-k8s.io", "localqueues"),
        ("kueue.x-k8s.io", "clusterqueues"),
        ("kueue.x-k8s.io", "workloads"),
    ],
)
def test_no_role_can_change_quotas_or_membership(api: str, resource: str) -> None:
    verbs = {verb for group_, name, verb in permissions(MemberRole.ADMIN) if (group_, name) == (api, resource)}
    assert verbs <= {"get", "list", "watch"}


def test_secrets_can_be_written_but_not_read() -> None:
    verbs = {verb for api, name, verb in permissions(MemberRole.ADMIN) if (api, name) == ("", "secrets")}
    assert verbs.isdisjoint({"get", "list", "watch"})


def test_a_binding_gives_a_group_of_the_team_its_role_in_one_namespace() -> None:
    manifest = role_binding("vision-training", "vision", MemberRole.EDIT)
    assert manifest["metadata"]["namespace"] == "vision-training"
    assert manifest["roleRef"]["name"] == "slipway-team-edit"
    assert [subject["name"] for subject in manifest["subjects"]] == [group("vision", MemberRole.EDIT)]
    # EKS refuses groups that start with one of these (EKS User Guide, "Create access entries").
    assert not group("vision", MemberRole.EDIT).startswith(("system:", "eks:", "aws:", "amazon:", "iam:"))


def test_members_of_a_retired_team_read_only() -> None:
    manifest = role_binding("vision", "vision", MemberRole.ADMIN, bound=MemberRole.VIEW)
    assert manifest["roleRef"]["name"] == "slipway-team-view"
    assert manifest["subjects"][0]["name"] == "slipway:vision:admin"


def test_only_roles_with_members_are_bound() -> None:
    assert roles_in_use(platform().teams["vision"]) == (MemberRole.ADMIN, MemberRole.EDIT)
    assert roles_in_use(platform().teams["language"]) == ()


BUILT_IN = re.compile(r"^[a-z]*$|\.k8s\.io$")
NOT_AT_HAND = {"gateway-crds-helm", "knative-operator"}
_CRD = re.compile(r"^  name: ['\"]?([a-z0-9]+\.[a-z0-9.-]+\.[a-z]+)['\"]?$", re.MULTILINE)


@pytest.fixture(scope="module")
def installed(shared: Path) -> set[str]:
    """Names of the CRDs of all add-ons, from the text of their charts."""
    charts = Charts(shared / "charts-full")
    names = {each["metadata"]["name"] for each in (mpi_crd(), *map(training_crd, KINDS.values()))}
    for pin in pinned():
        chart = charts.find(pin.name, pin.version)
        if chart is None:
            assert pin.name in NOT_AT_HAND
            continue
        texts = (file.read_text(encoding="utf-8") for file in chart.path.rglob("*.yaml"))
        names |= {name for text in texts if "CustomResourceDefinition" in text for name in _CRD.findall(text)}
    return names


@pytest.mark.parametrize("role", MemberRole)
def test_a_role_names_only_kinds_that_an_add_on_installs(role: MemberRole, installed: set[str]) -> None:
    granted = {
        f"{resource.partition('/')[0]}.{group}"
        for rule in cluster_role_manifest(role)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if group and ("x-k8s.io" in group or not BUILT_IN.search(group))
    }
    assert granted
    assert granted - installed == set()
