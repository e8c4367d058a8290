"""Members of teams get permissions on custom resources that an add-on installs, and on no others."""

import re
from collections.abc import Collection
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final

import pytest

from components.addons.katib import COLUMNS
from components.addons.katib import definition as katib_crd
from components.addons.kubeflow_crds import KINDS
from components.addons.kubeflow_crds import definition as training_crd
from components.addons.mpi_operator import definition as mpi_crd
from components.admission.kinds import BY_RESOURCE
from components.tenancy.network_policies import SERVERS, SERVES, Policies, network_policies
from components.tenancy.roles import cluster_role_manifest, group, role_binding, roles_in_use
from sandbox.kubernetes.helm.chart import Charts
from slipway.charts.pull import pinned
from spec.settings.addons import Addons
from spec.settings.network import Network
from spec.settings.teams import MemberRole, TeamNamespace
from tests.components.tenancy.samples import platform
from tests.support import settings
from tests.support.cases import beside
from tests.support.stacks import recorded

CASES: Final = beside(__file__)
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


WORK: Final = {
    "ConfigMap", "CronJob", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PersistentVolumeClaim",
    "PodDisruptionBudget", "PodMonitor", "Secret", "Service", "ServiceAccount", "ServiceMonitor",
}  # fmt: skip
"""Kinds of which the platform has objects as well; only `admin` writes the platform's own in a team's namespace."""


@pytest.mark.parametrize("role", MemberRole)
def test_quotas_limits_queues_bindings_policies_records_and_alerts_are_the_platforms(role: MemberRole) -> None:
    manifests = [one.inputs.plain for one in recorded("prod") if "apiVersion" in one.inputs.plain]
    declared = {(one["apiVersion"].rpartition("/")[0], one["kind"]) for one in manifests}
    assert {("monitoring.coreos.com", "PrometheusRule"), ("", "ResourceQuota"), ("", "LimitRange")} < declared
    keys = {(api, name) for api, name, verb in permissions(role) if verb not in ("get", "list", "watch")}
    written = {key: BY_RESOURCE[key] for key in keys if "/" not in key[1]}
    assert {kind.kind for kind in written.values() if (kind.group, kind.kind) in declared} <= WORK


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
NOT_AT_HAND = {"dra-driver-nvidia-gpu", "gateway-crds-helm", "knative-operator"}
_CRD = re.compile(r"^  name: ['\"]?([a-z0-9]+\.[a-z0-9.-]+\.[a-z]+)['\"]?$", re.MULTILINE)


@pytest.fixture(scope="module")
def installed(shared: Path) -> set[str]:
    """Names of the CRDs of all add-ons, from the text of their charts."""
    charts = Charts(shared / "charts-full")
    names = {
        each["metadata"]["name"] for each in (mpi_crd(), *map(training_crd, KINDS.values()), *map(katib_crd, COLUMNS))
    }
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


PURPOSES = ("general", "training", "serving", "interactive")


REACHED: Final = {
    "kuberay": {"ray"},
    "katib": {"katib"},
    "kserve": {"serving-kserve", "serving-kserve-graph"},
    "knative": {"serving-knative"},
}
"""Network policies of a namespace for serving that an add-on brings."""


def policies(purpose: str = "training", addons: Collection[str] = tuple(REACHED), **network: Any) -> Policies:
    space = TeamNamespace.model_validate({"purpose": purpose})
    installed = Addons.model_validate({name: {} for name in addons})
    return network_policies("vision", "vision", space, settings.network(**network), installed)


def allows(policies_by_name: Policies, direction: str, peer: dict[str, Any], port: int, protocol: str = "TCP") -> bool:
    """Whether a pod without labels in the namespace can connect to a peer (kubernetes.io, "Network Policies")."""
    side = "from" if direction == "ingress" else "to"
    rules = [
        rule
        for policy in policies_by_name.values()
        if policy["spec"]["podSelector"] == {}
        for rule in policy["spec"].get(direction, [])
    ]
    return any(
        ("ports" not in rule or any((each["protocol"], each["port"]) == (protocol, port) for each in rule["ports"]))
        and any(_fits(each, peer) for each in rule[side])
        for rule in rules
    )


def _fits(selector: dict[str, Any], peer: dict[str, Any]) -> bool:
    if "ipBlock" in selector:
        if "address" not in peer:
            return False
        address, block = ip_address(peer["address"]), selector["ipBlock"]
        excepted = any(address in ip_network(each) for each in block.get("except", []))
        return address in ip_network(block["cidr"]) and not excepted
    wanted = selector["namespaceSelector"]["matchLabels"]
    pods = selector.get("podSelector", {}).get("matchLabels", {})
    return bool(wanted.items() <= peer.get("namespace", {}).items() and pods.items() <= peer.get("pod", {}).items())


@pytest.mark.parametrize(("direction", "peer", "port", "protocol", "allowed"), CASES["allowed connections"])
def test_allowed_connections(direction: str, peer: dict[str, Any], port: int, protocol: str, allowed: bool) -> None:
    assert allows(policies(podCidr="100.64.0.0/16"), direction, peer, port, protocol) is allowed


def test_the_default_denies_both_directions() -> None:
    closed = policies()["default-deny"]["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize(("purpose", "serves"), [(each, each in SERVES) for each in PURPOSES])
def test_load_balancers_reach_model_servers_only_in_serving_namespaces(purpose: str, serves: bool) -> None:
    by_name = policies(purpose)
    let_in = {*SERVERS, "serving-knative"} if serves else set()
    assert {name for name in by_name if name.startswith("serving")} == let_in
    for policy in (by_name[name] for name in SERVERS if serves):
        assert policy["spec"]["podSelector"]
        (rule,) = policy["spec"]["ingress"]
        assert rule["from"] == [{"ipBlock": {"cidr": "10.16.0.0/16"}}]
        assert 22 not in [port["port"] for port in rule["ports"]]


@pytest.mark.parametrize(
    ("pod", "reached"),
    [
        ({"platform.slipway/serving": "true"}, True),
        ({"serving.kserve.io/inferenceservice": "chat"}, True),
        ({"serving.kserve.io/inferencegraph": "chat-split"}, True),
        ({"app.kubernetes.io/part-of": "kserve"}, False),
        ({"platform.slipway/job": "train"}, False),
    ],
)
def test_serving_pods_are_selected_by_their_labels(pod: dict[str, str], reached: bool) -> None:
    assert any(_selects(policies("serving")[name]["spec"]["podSelector"], pod) for name in SERVERS) is reached


def test_a_knative_service_is_reachable_only_through_knative() -> None:
    spec = policies("serving")["serving-knative"]["spec"]
    assert _selects(spec["podSelector"], {"serving.knative.dev/revision": "chat-00001"})
    assert not _selects(spec["podSelector"], {"platform.slipway/job": "train"})
    (rule,) = spec["ingress"]
    names = {each["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for each in rule["from"]}
    assert names == {"knative-serving", "kourier-system"}
    assert [each["port"] for each in rule["ports"]] == [8012, 8013, 9090]


@pytest.mark.parametrize("addon", REACHED)
def test_what_an_add_on_needs_is_allowed_where_it_is_installed(addon: str) -> None:
    without = policies("serving", addons=())
    assert policies("serving", addons=[addon]).keys() - without.keys() == REACHED[addon]
    assert without.keys() == {"default-deny", "team", "serving"}


def _selects(selector: dict[str, Any], pod: dict[str, str]) -> bool:
    """Whether a pod selector matches labels; `Exists` is the only operator in use."""
    expressions = selector.get("matchExpressions", [])
    assert {each["operator"] for each in expressions} <= {"Exists"}
    return selector.get("matchLabels", {}).items() <= pod.items() and all(each["key"] in pod for each in expressions)


def test_without_a_pod_cidr_only_link_local_addresses_are_excluded() -> None:
    network: Network = settings.network()
    assert network.pod_cidr is None
    assert allows(policies(), "egress", {"address": "100.64.3.3"}, 443)
