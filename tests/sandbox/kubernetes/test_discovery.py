from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, Discovery, NoSuchKindError

DEPLOYMENTS = {"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["list"]}
SCALE = {"name": "deployments/scale", "kind": "Scale", "namespaced": True, "verbs": ["get"]}


class Server:
    """Answers from a table, and counts the requests."""

    def __init__(self, **groups: Any) -> None:
        self.answers: dict[str, Any] = groups
        self.asked: list[str] = []

    def get(self, path: str, headers: object = None) -> Any:
        self.asked.append(path)
        if path not in self.answers:
            raise ApiError(404, {"message": "not found"})
        return self.answers[path]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.answers["/apis/apps/v1"] = {"resources": [DEPLOYMENTS, SCALE]}
    server.answers["/api/v1"] = {"resources": [{**DEPLOYMENTS, "name": "nodes", "kind": "Node", "namespaced": False}]}
    return server


def test_paths_follow_the_group_and_the_scope(server: Server) -> None:
    discovery = Discovery(server.get)
    deployment = discovery.find("apps/v1", "Deployment")
    assert deployment.path("team", "web") == "/apis/apps/v1/namespaces/team/deployments/web"
    assert deployment.path("") == "/apis/apps/v1/deployments"
    assert discovery.find("v1", "Node").path("ignored", "n") == "/api/v1/nodes/n"


def test_a_served_kind_is_cached(server: Server) -> None:
    discovery = Discovery(server.get)
    for _ in range(3):
        discovery.find("apps/v1", "Deployment")
    assert server.asked == ["/apis/apps/v1"]


def test_a_kind_that_is_served_later_is_found(server: Server) -> None:
    discovery = Discovery(server.get)
    with pytest.raises(NoSuchKindError, match=r'no matches for kind "Widget" in version "acme\.io/v1"'):
        discovery.find("acme.io/v1", "Widget")
    server.answers["/apis/acme.io/v1"] = {"resources": [{**DEPLOYMENTS, "name": "widgets", "kind": "Widget"}]}
    assert discovery.find("acme.io/v1", "Widget").plural == "widgets"


def test_only_a_forgotten_group_is_read_again(server: Server) -> None:
    discovery = Discovery(server.get)
    for _ in range(2):
        discovery.find("apps/v1", "Deployment")
        discovery.find("v1", "Node")
        discovery.forget("apps")
    assert server.asked == ["/apis/apps/v1", "/api/v1", "/apis/apps/v1"]


def test_an_error_other_than_not_found_is_passed_on(server: Server) -> None:
    def refuse(path: str, headers: object = None) -> Any:
        raise ApiError(503, {"message": "down"})

    with pytest.raises(ApiError, match="down"):
        Discovery(refuse).find("apps/v1", "Deployment")


def test_everything_lists_each_kind_once_in_the_preferred_version(server: Server) -> None:
    def version(name: str, *resources: dict[str, Any]) -> dict[str, Any]:
        return {"version": name, "resources": list(resources)}

    jobs = {"resource": "jobs", "scope": "Namespaced", "verbs": ["list"], "responseKind": {"kind": "Job"}}
    old = {"resource": "oldjobs", "scope": "Cluster", "verbs": ["list"], "responseKind": {"kind": "OldJob"}}
    review = {"resource": "reviews", "scope": "Cluster", "verbs": ["create"], "responseKind": {"kind": "Review"}}
    batch = {"metadata": {"name": "batch"}, "versions": [version("v1", jobs, review), version("v1beta1", jobs, old)]}
    server.answers |= {"/api": {"items": []}, "/apis": {"items": [batch]}}
    found = {each.kind: (each.api_version, each.namespaced) for each in Discovery(server.get).everything()}
    assert found == {"Job": ("batch/v1", True), "OldJob": ("batch/v1beta1", False)}
