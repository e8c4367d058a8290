"""Pods of teams get their scheduler and queue from a real API server, whoever makes them."""

from typing import Any, Final

import pytest

from components.addons.schedulers import Volcano, Yunikorn
from components.base.addon import AddOn
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.waiting import until
from tests.components.admission.samples import CONTEXT, Object, container
from tests.sandbox.controllers.installed import give
from tests.sandbox.plane import ControlPlane
from tests.support.cases import beside
from tests.support.definitions import define
from tests.support.patience import SECONDS

CASES: Final = beside(__file__)
pytestmark = pytest.mark.sandbox
TEAM = "platform.slipway/team"
APP = "yunikorn.apache.org/app-id"
CLUSTERS: dict[str, type[AddOn[Any]]] = {"yunikorn": Yunikorn, "volcano": Volcano}
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "5ad3", "controller": True}
GROUPS = CASES["definition of pod groups"]


def pod(**metadata: Any) -> Object:
    spec = {"containers": [container()]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it", **metadata}, "spec": spec}


def made(client: KubeClient, manifest: Object, namespace: str = "vision") -> Object:
    """What the API server makes of it, without creating it."""
    placed = {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
    return client.apply(placed, "test", dry_run=True)


@pytest.fixture(scope="module", params=CLUSTERS)
def client(plane: ControlPlane, request: pytest.FixtureRequest) -> Any:
    of = CLUSTERS[request.param].scheduler
    assert of is not None
    plane.pool.create(request.param, "1.36")
    try:
        client = plane.targets.of_cluster(request.param)
        assert client is not None
        define(client, [GROUPS])
        for name, labels in (("vision", {TEAM: "vision"}), ("tools", {})):
            client.apply(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}, "test"
            )
        give(client, of, CONTEXT, "vision")
        yield of, client
    finally:
        plane.pool.delete(request.param)


def test_a_pod_gets_the_scheduler_and_the_queue_of_its_team(client: Any) -> None:
    of, cluster = client
    for given in ({}, {of.holder: {of.queue: "another"}}, {of.holder: {"kept": "yes"}}):
        found = made(cluster, pod(**given))
        assert found["spec"]["schedulerName"] == of.name
        assert found["metadata"][of.holder][of.queue] == f"{of.parent}vision"
        assert ("kept" in found["metadata"][of.holder]) is ("kept" in str(given))
    assert made(cluster, pod(), "tools")["spec"]["schedulerName"] == "default-scheduler"


def test_pods_of_one_owner_are_one_application(client: Any) -> None:
    of, cluster = client
    labels = made(cluster, pod(ownerReferences=[OWNER])).get("metadata", {}).get("labels", {})
    assert labels.get(APP) == ("vision.5ad3" if of.app else None)
    named = made(cluster, pod(ownerReferences=[OWNER], labels={APP: "vision.sweep"}))["metadata"]["labels"]
    assert named[APP] == "vision.sweep", "several Jobs may be one application"

    def refused() -> str | None:
        try:
            made(cluster, pod(labels={APP: "language.sweep"}))
        except ApiError as error:
            return error.message
        return None  # this policy can be in effect after those that write into pods (2026-11-27)

    if of.app:
        assert "with the name of the namespace" in until(refused, SECONDS, "an application of another team is accepted")


def test_a_pod_group_is_in_the_queue_of_its_team(client: Any) -> None:
    of, cluster = client
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "it"}}

    def look() -> Object | None:
        try:
            return made(cluster, {**group, "spec": {"minMember": 2, "queue": "default"}})
        except ApiError as error:
            # The API server reads the types of a new CRD a little later.
            if "not found" in error.message:
                return None
            raise

    found = until(look, SECONDS, "no PodGroup is made")
    assert found["spec"]["queue"] == ("vision" if of.pod_groups else "default")
