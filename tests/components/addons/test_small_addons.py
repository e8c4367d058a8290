"""Add-ons with one release: cert-manager, KEDA, JobSet, KubeRay, LeaderWorkerSet, Volcano, Gateway API, Knative."""

import fnmatch
import json
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from components.addons.argo_workflows import reading_policy
from components.addons.batch import Jobset, Kuberay, LeaderWorkerSet
from components.addons.efa_device_plugin import EfaDevicePlugin, values
from components.addons.ingress import CertManager
from components.addons.kserve import Kserve
from components.addons.kueue import Kueue
from components.addons.load_balancer_controller import TAG, policy
from components.addons.serving import Keda, Knative
from components.addons.trainer import Trainer
from components.base.addon import AddOn
from components.observability import monitors
from components.tenancy import network_policies
from spec.pools import resolve_all
from spec.settings.addons import batch, ingress, serving
from spec.settings.addons.gpu import EfaDevicePlugin as Settings
from spec.settings.addons.observability import KubePrometheusStack
from tests.components.pools.samples import ONE_ZONE, platform
from tests.support.context import POOLS, Seen, seen_parts
from tests.support.mocks import statements

CONTROLLERS: dict[str, Callable[[], AddOn[Any]]] = {
    "cert-manager": lambda: CertManager(ingress.CertManager()),
    "jobset": lambda: Jobset(batch.Jobset()),
    "keda": lambda: Keda(serving.Keda()),
    "kserve": lambda: Kserve(serving.Kserve()),
    "kueue": lambda: Kueue(batch.Kueue()),
    "kuberay": lambda: Kuberay(batch.Kuberay()),
    "leader-worker-set": lambda: LeaderWorkerSet(batch.LeaderWorkerSet()),
    "trainer": lambda: Trainer(batch.Trainer()),
}
SYSTEM = {"platform.slipway/role": "system"}


def seen(addon: Callable[[], AddOn[Any]], *, prometheus: bool = False) -> Seen:
    return seen_parts(addon, addons={"kubePrometheusStack": {}} if prometheus else {})


def values_of(key: str, at: Any) -> Iterator[Any]:
    """All values of a key, at any depth."""
    if isinstance(at, Mapping):
        for name, value in at.items():
            if name == key:
                yield value
            yield from values_of(key, value)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_run_on_the_system_pool_with_limits(name: str) -> None:
    values = seen(CONTROLLERS[name]).values
    selectors = list(values_of("nodeSelector", values))
    assert selectors
    assert all(selector == SYSTEM for selector in selectors)
    tolerations = list(values_of("tolerations", values))
    assert all({"key": "CriticalAddonsOnly", "operator": "Exists"} in each for each in tolerations)
    sizes = [
        one for each in values_of("resources", values) for one in ([each] if "requests" in each else each.values())
    ]
    assert sizes
    for size in sizes:
        assert {"cpu", "memory"} <= set(size["requests"])
        assert "memory" in size["limits"]


def test_cert_manager_does_not_depend_on_prometheus_but_is_monitored() -> None:
    assert KubePrometheusStack not in ingress.CertManager.follows
    monitor = monitors.manifests("monitoring", efa=False)["monitor-cert-manager"]["spec"]
    assert monitor["namespaceSelector"] == {"matchNames": [CertManager.namespace.name]}
    release = seen(CONTROLLERS["cert-manager"]).parts.releases[0].release_name
    assert monitor["selector"]["matchLabels"] == {"app.kubernetes.io/instance": release}


def test_the_token_of_keda_reaches_no_address_outside() -> None:
    found = seen(CONTROLLERS["keda"])
    policy = found.parts.before["egress"]
    assert (policy["metadata"]["namespace"], policy["spec"]["podSelector"]) == ("keda", {})
    assert policy["spec"]["policyTypes"] == ["Egress"], "ingress from the API server and Prometheus stays open"
    peers = [peer for rule in policy["spec"]["egress"] for peer in rule["to"]]
    blocks = [ip_network(peer["ipBlock"]["cidr"]) for peer in peers if "ipBlock" in peer]
    assert ip_network("172.20.0.0/16") in blocks, "the Service of the API server"
    assert all(block.is_private for block in blocks)
    pods = [peer for peer in peers if "ipBlock" not in peer]
    assert all(peer["podSelector"] for peer in pods if "namespaceSelector" in peer)


def test_the_operator_is_reached_from_its_namespace_alone() -> None:
    assert Kuberay.namespace.name == network_policies.RAY


def test_knative_runs_on_the_system_pool() -> None:
    spec = seen(lambda: Knative(serving.Knative())).objects["serving"]["spec"]
    assert all(each["nodeSelector"] == SYSTEM for each in spec["workloads"])


# Argo Workflows: artifacts without access keys.


def test_the_server_can_only_read_artifacts() -> None:
    reading = statements(reading_policy("arn:aws:s3:::state", "arn:aws:kms:us-east-1:1:key/k")).values()
    actions = {action for each in reading for action in each["Action"]}
    assert actions == {"s3:ListBucket", "s3:GetObject", "kms:Decrypt"}
    assert {arn for each in reading for arn in each["Resource"]} == {
        "arn:aws:s3:::state",
        "arn:aws:s3:::state/argo/*",
        "arn:aws:kms:us-east-1:1:key/k",
    }


# The device plugin for Elastic Fabric Adapters.


EFA: dict[str, Any] = {"preset": "h100", "efa": True, "zones": ONE_ZONE, "dedicated": True}


def chart_values(region: str = "us-east-1", **pools: dict[str, Any]) -> dict[str, Any]:
    return values(pools=resolve_all(platform(pools)), region=region)


def test_it_runs_only_on_pools_with_efa_enabled() -> None:
    result = chart_values(fabric=EFA, alone={"preset": "h100"})
    assert result["supportedInstanceLabels"] == {"keys": ["platform.slipway/pool"], "values": ["fabric"]}
    pools = [each["value"] for each in result["tolerations"] if each["key"] == "platform.slipway/pool"]
    assert pools == ["fabric"]
    assert {"key": "dedicated", "operator": "Equal", "value": "ml-workloads", "effect": "NoSchedule"} in (
        result["tolerations"]
    )


def test_its_image_comes_from_the_nodes_region() -> None:
    assert chart_values("eu-west-1", fabric=EFA)["image"] == {
        "repository": "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/aws-efa-k8s-device-plugin"
    }
    assert "image" not in chart_values("us-iso-east-1", fabric=EFA)


def test_without_efa_pools_nothing_is_installed() -> None:
    parts = seen_parts(lambda: EfaDevicePlugin(Settings()), pools={"cpu": POOLS["cpu"]}).parts
    assert parts.releases == ()
    (release,) = seen_parts(lambda: EfaDevicePlugin(Settings())).parts.releases
    assert release.values["supportedInstanceLabels"]["values"] == ["h100"]


# Values of the load balancer controller.


LEFT_OUT = {
    "cognito-idp:*", "shield:*", "waf-regional:*", "iam:*ServerCertificate*", "ec2:*Coip*", "ec2:DescribeIpamPools",
    "elasticloadbalancing:*CapacityReservation", "elasticloadbalancing:ModifyIpPools",
}  # fmt: skip
"""Features of the controller that the platform doesn't use; the module's docstring lists them."""


def allowed(*, web_acl: bool = True) -> dict[str, dict[str, Any]]:
    text = policy(cluster="ml", partition="aws", region="us-east-1", account_id="111122223333", web_acl=web_acl)
    return statements(text)


def changes(statement: dict[str, Any]) -> list[str]:
    reads = ("Describe", "Get", "List")
    return [action for action in statement["Action"] if not action.partition(":")[2].startswith(reads)]


def test_it_changes_only_resources_with_the_clusters_tag() -> None:
    keys = {f"aws:ResourceTag/{TAG}", f"aws:RequestTag/{TAG}"}
    own = "aws:ResourceTag/kubernetes.io/cluster/ml"
    free = {"MakeServiceLinkedRole", "MakeSecurityGroupsInVpc", "AttachWebAcls"}
    for sid, statement in allowed().items():
        if changes(statement) and sid not in free:
            condition = statement["Condition"]["StringEquals"]
            bound = {key: value for key, value in condition.items() if key in keys}
            assert bound == {key: ["ml"] for key in bound}, sid
            assert bound or condition == {own: ["owned"]}, sid


def test_actions_on_all_resources_only_read() -> None:
    for sid, statement in allowed(web_acl=False).items():
        if "*" in statement["Resource"]:
            assert changes(statement) == [], sid


def test_it_stays_in_its_account_and_region() -> None:
    for statement in allowed(web_acl=False).values():
        for arn in statement["Resource"]:
            assert arn == "*" or ":111122223333:" in arn


def test_the_owner_tag_cannot_be_changed() -> None:
    for sid in ("TagOwn", "TagOwnSecurityGroups"):
        assert allowed()[sid]["Condition"]["Null"] == {f"aws:RequestTag/{TAG}": ["true"]}


def test_the_document_is_within_the_size_limit_of_inline_policies() -> None:
    text = policy(cluster="c" * 40, partition="aws-us-gov", region="us-gov-east-1", account_id="1" * 12, web_acl=True)
    assert len(text) < 10240, "inline policies of a role have 10,240 characters in all (IAM quotas)"


@pytest.fixture(scope="module")
def upstream(shared: Path) -> set[str]:
    document = json.loads((shared / "charts/aws-load-balancer-controller/iam_policy.json").read_text())
    return {
        action
        for each in document["Statement"]
        for action in (each["Action"] if isinstance(each["Action"], list) else [each["Action"]])
    }


def test_it_allows_upstreams_actions_except_the_excluded_ones(upstream: set[str]) -> None:
    ours = {action for each in allowed().values() for action in each["Action"]}
    missing = {action for action in upstream - ours if not any(fnmatch.fnmatch(action, left) for left in LEFT_OUT)}
    assert missing == set()
    assert ours - upstream == set()
