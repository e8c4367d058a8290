"""YuniKorn of its chart, with the queues of three teams and the platform's admission: it places their pods, gangs as a
whole, and takes back what a team borrowed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from components.addons.schedulers import Yunikorn, yunikorn_queues
from components.workloads.metadata import gang
from infra.target import target_of
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes.spec import NodeWriter
from spec.pools import keys, resolve_all
from spec.teams.labels import of_team
from tests.components.admission.samples import CONTEXT
from tests.components.pools.samples import platform
from tests.sandbox.controllers import installed
from tests.sandbox.controllers.installed import applied, cluster, give, placed_in, release, until_running, without_jobs
from tests.sandbox.living import pool_node
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
BASICS: Final = {"project": "sharing", "costCenter": "ml"}
SETTINGS: Final = platform(
    {"h100": {"preset": "h100", "max": 2}},
    addons={"yunikorn": {}},
    cluster={"version": "1.36"},
    teams={
        "red": {**BASICS, "gpus": {"h100": {"nominalQuota": 4, "borrowingLimit": 4}}},
        "blue": {**BASICS, "gpus": {"h100": {"nominalQuota": 8, "borrowingLimit": 4}}},
        "green": {**BASICS, "gpus": {"h100": {"nominalQuota": 4}}},
    },
)
POOLS: Final = resolve_all(SETTINGS)


def job(name: str, team: str, *, pods: int, gpus: int = 4, together: bool = False) -> Object:
    """A Job whose pods run until it is deleted. Nothing in it says its scheduler or its queue."""
    requests = {"cpu": "1", "memory": "1Gi", keys.GPU: gpus}
    pod = {**placed_in(POOLS["h100"]), "terminationGracePeriodSeconds": 0}
    made = installed.job(name, team, requests, "100000s", **pod)
    made["spec"] |= {"parallelism": pods, "completions": pods}
    if together:
        template = made["spec"]["template"]
        template["metadata"]["annotations"] |= gang(pods, template["spec"], target_of(SETTINGS, namespace=team))
    return made


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with two nodes of eight GPUs each, and three teams."""
    directory = tmp_path_factory.mktemp("teams")
    with cluster(directory, "yunikorn", version="1.36") as plane:
        queues = yunikorn_queues(SETTINGS.teams, POOLS, node_sort_policy="binpacking")
        values = {
            "image": {"tag": "scheduler-1.8.0"},
            "embedAdmissionController": False,
            "enableWebService": False,
            "yunikornDefaults": {"queues.yaml": queues},
        }
        release(plane.client, shared / "charts-full", "yunikorn", "yunikorn", **values)
        until_running(directory, "yunikorn")
        writer = NodeWriter(plane.targets.of_cluster)
        for index in range(2):
            writer.write(CLUSTER, pool_node(f"h100-{index}", POOLS["h100"]))
        of = Yunikorn.scheduler
        assert of is not None
        for name, team in SETTINGS.teams.items():
            space = Ref("v1", "Namespace", name).as_object()
            space["metadata"]["labels"] = dict(of_team(name, team))
            applied(plane.client, space)
        give(plane.client, of, CONTEXT, "red")
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test leaves no pod."""
    client = plane.client
    yield client
    without_jobs(client, *SETTINGS.teams)
    until(lambda: not pods(client) or None, SECONDS, lambda: f"pods are left: {placed(client)}")


def pods(client: KubeClient) -> list[Object]:
    """All pods of teams, placeholders among them."""
    found = client.list(client.discovery.find("v1", "Pod"))
    return [each for each in found if each["metadata"]["namespace"] in SETTINGS.teams]


def placed(client: KubeClient) -> Counter[str]:
    """How many pods of each Job have a node; those of a gang's placeholders are under `placeholder`."""
    names = (
        each["metadata"].get("labels", {}).get("job-name", "placeholder")
        for each in pods(client)
        if each["spec"].get("nodeName") and not each["metadata"].get("deletionTimestamp")
    )
    return Counter(names)


def until_placed(client: KubeClient, **counts: int) -> None:
    until(lambda: placed(client) == counts or None, SECONDS, lambda: f"not {counts} but {dict(placed(client))}")


def test_a_team_gets_what_it_may_borrow_and_no_more(client: KubeClient) -> None:
    applied(client, job("train", "red", pods=3))
    until_placed(client, train=2)
    assert [each["spec"]["schedulerName"] for each in pods(client)] == ["yunikorn"] * 3
    applied(client, job("other", "blue", pods=1))
    until_placed(client, train=2, other=1)


def test_a_gang_starts_whole_or_not_at_all(client: KubeClient) -> None:
    applied(client, job("train", "red", pods=2))
    until_placed(client, train=2)
    applied(client, job("gang", "blue", pods=3, together=True))
    # Two of its three placeholders hold nodes: none of its pods runs.
    until_placed(client, train=2, placeholder=2)
    client.delete(Ref.of(job("train", "red", pods=2)))
    until_placed(client, gang=3)


def test_what_was_borrowed_is_taken_back(client: KubeClient) -> None:
    applied(client, job("borrows", "blue", pods=3), job("other", "red", pods=1))
    until_placed(client, borrows=3, other=1)
    applied(client, job("owns", "green", pods=1))
    until_placed(client, borrows=2, other=1, owns=1)


def test_a_pod_without_a_node_says_so_to_the_autoscaler(client: KubeClient) -> None:
    """Karpenter and Cluster Autoscaler add nodes for pods with this condition."""
    waits = job("waits", "green", pods=1)
    waits["spec"]["template"]["spec"]["nodeSelector"] = {"platform.slipway/pool": "at-zero"}
    applied(client, waits)

    def said() -> bool | None:
        found = [condition(each, "PodScheduled") for each in pods(client)]
        return any(each.get("reason") == "Unschedulable" for each in found) or None

    until(said, SECONDS, lambda: f"no condition: {[each['status'] for each in pods(client)]}")
