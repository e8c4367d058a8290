"""What any role of the program may allow, and, on a real API server, what a role with all of it may not do."""

from collections.abc import Iterator
from typing import Final

import pytest

from policies.checks import grants as table
from policies.checks.grants import READS, SYSTEM, Grant, harmless
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.waiting import until
from tests.sandbox.plane import CLUSTER, start_plane
from tests.support.cases import beside
from tests.support.patience import SECONDS

CASES: Final = beside(__file__)
USER = "reader"
ALL = (
    *sorted(Grant(verb, group, kind) for group, kinds in table._READ.items() for kind in kinds for verb in READS),
    *sorted(table._ASKS | table._NOTES),
)
"""What a ClusterRole may allow, without custom resources."""
TAKEOVERS = tuple(
    Grant(verb, group, target)
    for verbs, group, targets in CASES["what takes over something"]
    for verb in verbs.split()
    for target in targets.split()
)  # fmt: skip


@pytest.mark.parametrize("grant", TAKEOVERS, ids=str)
def test_what_takes_over_something_is_not_listed(grant: Grant) -> None:
    assert not harmless(grant)
    assert not harmless(grant, "kube-system")


@pytest.mark.parametrize("grant", ALL, ids=str)
def test_what_is_listed_is_listed_everywhere(grant: Grant) -> None:
    assert harmless(grant)
    assert harmless(grant, "scanner")


@pytest.mark.parametrize("verb", ["create", "delete", "patch", "update"])
def test_leases_are_for_a_controller_in_its_own_namespace(verb: str) -> None:
    lease = Grant(verb, "coordination.k8s.io", "leases")
    assert harmless(lease, "scanner")
    assert not harmless(lease)
    assert not any(harmless(lease, space) for space in SYSTEM)


@pytest.mark.parametrize("grant", [Grant(*row) for row in CASES["wildcards and other spellings"]], ids=str)
def test_wildcards_and_other_spellings_are_not_listed(grant: Grant) -> None:
    assert not harmless(grant, "scanner")


@pytest.mark.parametrize("target", ["widgets", "widgets/status", "widgets/scale"])
def test_custom_resources_may_be_read(target: str) -> None:
    assert harmless(Grant("list", "kueue.x-k8s.io", target))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeClient]:
    """An API server with a user that has everything that is listed for all namespaces."""
    plane = start_plane(tmp_path_factory.mktemp("grants"))
    try:
        plane.pool.create(CLUSTER, "1.36")
        rules = [{"apiGroups": [one.group], "resources": [one.target], "verbs": [one.verb]} for one in ALL]
        urls = {"nonResourceURLs": sorted(table._URLS), "verbs": ["get"]}
        api = "rbac.authorization.k8s.io"
        role = {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": USER}}
        plane.client.create({**role, "rules": [*rules, urls]}, "test")
        plane.client.create({
            **role, "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": USER},
            "subjects": [{"apiGroup": api, "kind": "User", "name": USER}],
        }, "test")  # fmt: skip
        # The authorizer reads roles and bindings a moment after they are stored.
        last = Grant("get", "", "/metrics")
        until(lambda: all(allowed(plane.client, one) for one in (*ALL, last)) or None, SECONDS, "no permissions")
        yield plane.client
    finally:
        plane.supervisor.stop_all()


def allowed(client: KubeClient, grant: Grant) -> bool:
    """What the API server's own authorizer says."""
    resource, _, part = grant.target.partition("/")
    place = {
        "group": grant.group,
        "resource": resource,
        "subresource": part,
        "verb": grant.verb,
        "namespace": "default",
    }
    asked = (
        {"nonResourceAttributes": {"path": grant.target, "verb": grant.verb}}
        if grant.target.startswith("/")
        else {"resourceAttributes": place}
    )
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    answer = client.call("POST", path, {**review, "spec": {"user": USER, **asked}})
    return bool(answer["status"]["allowed"])


@pytest.mark.sandbox
def test_a_real_api_server_lets_a_role_with_everything_listed_take_over_nothing(client: KubeClient) -> None:
    assert all(allowed(client, grant) for grant in (ALL[0], ALL[-1], Grant("get", "", "/metrics")))
    assert [grant for grant in TAKEOVERS if allowed(client, grant)] == []
