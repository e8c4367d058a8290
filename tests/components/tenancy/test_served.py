"""Teams and queues on a real API server: quotas, Pod Security, permissions of members."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.queues import cluster_queue, local_queue, shared_manifests
from components.tenancy.namespace import limit_range, namespace_manifest, priority_quota, resource_quota
from components.tenancy.network_policies import network_policies
from components.tenancy.priorities import priority_class
from components.tenancy.roles import cluster_role_manifest, group, role_binding
from components.tenancy.workload_permissions import service_account_manifest
from infra.facts import of_teams
from sandbox.kubernetes.client import ApiError, KubeClient
from spec.pools import resolve_all
from spec.settings.platform import Platform
from spec.settings.teams import MemberRole, PriorityName
from tests.components.pools.samples import BLOCK
from tests.components.tenancy.samples import LANGUAGE, VISION, platform, pools
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.quotas import until_refused

pytestmark = pytest.mark.sandbox

TEAM: Final = "vision"
NAMESPACE: Final = "vision-training"
MANAGER: Final = "test"
LIMITED: Final = {**VISION, "priorities": ["interactive", "experiment"]}


def settings() -> Platform:
    return platform({"vision": LIMITED, "language": LANGUAGE})


def of_team(team: str) -> Iterator[dict[str, Any]]:
    """All objects of a team in its namespaces, namespaces first."""
    ours = settings()
    mine, known = ours.teams[team], pools()
    for namespace, space in mine.namespaces_of(team).items():
        yield namespace_manifest(namespace, team, ours.teams[team], space, of_teams(ours).job_usd.get(team))
        yield resource_quota(namespace, space, mine, known)
        yield limit_range(namespace, mine, known)
        yield service_account_manifest(namespace)
        yield from (role_binding(namespace, team, role) for role in MemberRole)
        yield from network_policies(namespace, team, space, ours.network, ours.addons).values()
        if priorities := priority_quota(namespace, mine):
            yield priorities


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    for manifest in (
        *(priority_class(name) for name in PriorityName),
        *(cluster_role_manifest(role) for role in MemberRole),
        *of_team("vision"),
        *of_team("language"),
    ):
        plane.client.apply(manifest, MANAGER)
    return plane.client


def pod(
    name: str, *, namespace: str = NAMESPACE, requests: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi", **(requests or {})}, "limits": {"memory": "1Gi"}}
    resources["limits"] |= {key: value for key, value in (requests or {}).items() if key.startswith("nvidia.com/")}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], **spec},
    }


PROBES: Final[dict[str, dict[str, Any]]] = {
    "team": {"requests": {"nvidia.com/gpu": "1000"}},
    "priorities": {"priorityClassName": "production-training"},
}


def enforced(client: KubeClient, name: str) -> None:
    """Wait until the API server enforces a quota."""
    until_refused(client, pod("probe", **PROBES[name]), f"exceeded quota: {name}")


def refusal(client: KubeClient, manifest: dict[str, Any]) -> str:
    with pytest.raises(ApiError) as error:
        client.create(manifest, MANAGER)
    return str(error.value)


def test_gpus_beyond_the_quota_are_refused_with_used_and_limit(client: KubeClient) -> None:
    enforced(client, "team")
    client.create(pod("first", requests={"nvidia.com/gpu": "12"}), MANAGER)
    message = refusal(client, pod("second", requests={"nvidia.com/gpu": "8"}))
    assert "exceeded quota: team" in message
    assert "requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=12" in message
    assert "limited: requests.nvidia.com/gpu=16" in message
    client.create(pod("third", requests={"nvidia.com/gpu": "4"}), MANAGER)


def test_mig_instances_beyond_the_quota_are_refused(client: KubeClient) -> None:
    enforced(client, "team")
    message = refusal(client, pod("slices", requests={"nvidia.com/mig-1g.5gb": "29"}))
    assert "limited: requests.nvidia.com/mig-1g.5gb=28" in message


def test_a_priority_that_the_team_may_not_use_is_refused(client: KubeClient) -> None:
    enforced(client, "priorities")
    message = refusal(client, pod("urgent", priorityClassName="production-training"))
    assert "exceeded quota: priorities" in message
    client.create(pod("trial", priorityClassName="experiment"), MANAGER)


def test_a_service_of_type_load_balancer_is_refused(client: KubeClient) -> None:
    enforced(client, "team")
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "open", "namespace": NAMESPACE},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }
    assert "services.loadbalancers=1" in refusal(client, service)


def test_a_container_without_resources_gets_the_defaults_and_no_gpu(client: KubeClient) -> None:
    silent = pod("silent")
    silent["spec"]["containers"][0].pop("resources")
    resources = client.create(silent, MANAGER)["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "250m", "memory": "512Mi"}
    assert resources["limits"]["memory"] == "2Gi"
    assert set(resources["limits"]) == {"cpu", "memory"}


def test_a_container_larger_than_every_node_is_refused(client: KubeClient) -> None:
    large = pod("large")
    large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500"}, "limits": {"cpu": "500"}}
    assert "maximum cpu usage per Container is" in refusal(client, large)


def test_a_privileged_pod_is_refused(client: KubeClient) -> None:
    message = refusal(client, pod("host", hostNetwork=True))
    assert 'violates PodSecurity "baseline' in message


def can(client: KubeClient, role: MemberRole, verb: str, resource: str, api: str = "", **where: str) -> bool:
    """Whether a member of a group of the team has a permission (SubjectAccessReview)."""
    attributes = {"verb": verb, "resource": resource, "group": api, "namespace": NAMESPACE, **where}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"groups": [group(TEAM, role)], "user": "member", "resourceAttributes": attributes},
    }
    return bool(client.create(review, MANAGER)["status"]["allowed"])


def test_members_have_access_only_to_their_own_namespaces(client: KubeClient) -> None:
    edit, view, admin = MemberRole.EDIT, MemberRole.VIEW, MemberRole.ADMIN
    assert can(client, edit, "create", "jobs", "batch")
    assert can(client, edit, "create", "trainjobs", "trainer.kubeflow.org", namespace="vision-serving")
    assert can(client, view, "list", "pods")
    assert can(client, admin, "delete", "networkpolicies", "networking.k8s.io")
    refused = (
        (edit, "list", "pods", "", "language"),
        (admin, "get", "secrets", "", "language"),
        (admin, "get", "secrets", "", NAMESPACE),
        (admin, "create", "rolebindings", "rbac.authorization.k8s.io", NAMESPACE),
        (edit, "delete", "networkpolicies", "networking.k8s.io", NAMESPACE),
        (admin, "patch", "resourcequotas", "", NAMESPACE),
        (admin, "patch", "localqueues", "kueue.x-k8s.io", NAMESPACE),
        (admin, "patch", "namespaces", "", NAMESPACE),
    )
    for role, verb, resource, api, namespace in refused:
        assert not can(client, role, verb, resource, api, namespace=namespace), (role, verb, resource)


def test_the_real_crds_accept_every_object_of_the_queues(client: KubeClient, shared: Path) -> None:
    # The CRD of Workload is as large as all others together, and no Workload is created here.
    files = [file for file in sorted((shared / "charts/kueue/crds").glob("*.yaml")) if "_workloads" not in file.name]
    ours = platform(
        {
            "vision": {**VISION, "gpus": {**VISION["gpus"], "block": {"nominalQuota": 16, "lendingLimit": 8}}},
            "language": LANGUAGE,
        },
        {"block": BLOCK},
        addons={"kueue": {"multiKueue": "manager"}},
        queues={"topology": True, "workers": {"west": {"secret": "kubeconfig-west"}}},
    )
    known = resolve_all(ours)
    local = ours.queues.model_copy(update={"workers": {}})
    queues = [cluster_queue(name, team, known, ours.queues) for name, team in ours.teams.items()]
    define(client, [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files])
    for manifest in (
        *shared_manifests(known, local).values(),
        *shared_manifests(known, ours.queues).values(),
        *queues,
        local_queue(NAMESPACE, TEAM),
    ):
        client.apply(manifest, MANAGER, dry_run=True)
    assert any("topologyName" in each["spec"] for each in shared_manifests(known, local).values() if "spec" in each)
