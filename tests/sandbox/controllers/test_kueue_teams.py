"""Kueue of its chart, with the configuration, queues and flavors of a stack: how teams share what they have.

Nothing here ends by itself: a test waits for the set of jobs that hold quota, which is stable once Kueue has decided.
Reasons are not: it makes Workloads of preempted jobs anew, without their conditions, and under load conditions and
events of jobs that wait came late or never (0.19.2, 2 of 5 runs).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.kueue import configuration
from components.composition.cron_jobs import NAMESPACE as SCHEDULES
from components.composition.scripts import IDLE_GPUS
from components.composition.take_back import KEEP, Limits, take_back
from components.queues import LEVELS, LOCAL_QUEUE, by_topology, cluster_queue, local_queues, shared_manifests
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes.spec import NodeWriter
from spec.jobs import KUEUE_API
from spec.pools import keys, resolve_all
from spec.settings.addons.batch import Kueue
from spec.settings.teams import PriorityName
from spec.teams.labels import of_team
from tests.components.pools.samples import BLOCK, MANAGED_A100, platform
from tests.sandbox.controllers import installed
from tests.sandbox.controllers.installed import applied, as_account, cluster, placed_in, release, wait, without_jobs
from tests.sandbox.living import pool_node
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
ALIAS: Final = "user-queue"
BASICS: Final = {"project": "sharing", "costCenter": "ml"}
SETTINGS: Final = platform(
    {"a100": {**MANAGED_A100, "max": 4}, "h100": BLOCK},
    addons={"kueue": {}},
    queues={"topology": True, "aliases": [ALIAS]},
    teams={
        # May use all that others leave idle; weighs as much as the other borrower.
        "red": {**BASICS, "gpus": {"a100": {"nominalQuota": 4, "borrowingLimit": 6}}},
        "blue": {**BASICS, "gpus": {"a100": {"nominalQuota": 0, "borrowingLimit": 6}}},
        # Keeps two of its eight for itself, and may borrow none.
        "owner": {**BASICS, "gpus": {"a100": {"nominalQuota": 8, "lendingLimit": 6}, "h100": {"nominalQuota": 32}}},
    },
)
POOLS: Final = resolve_all(SETTINGS)
BLOCKS: Final = {"h100-0": "east", "h100-1": "east", "h100-2": "west", "h100-3": "west"}
"""The part of the network in which each node is, at the third level of EC2's topology."""
HELD: Final = "100000s"


def job(name: str, team: str, gpus: int, *, pool: str = "a100", pods: int = 1, **more: Any) -> Object:
    """A Job that runs until it is deleted; each of its pods requests GPUs."""
    requests = {"cpu": "1", "memory": "1Gi", keys.GPU: gpus}
    made = installed.job(name, team, requests, HELD, queue=LOCAL_QUEUE, **placed_in(POOLS[pool]))
    made["metadata"]["labels"] |= more.get("labels", {})
    made["spec"] |= {"parallelism": pods, "completions": pods}
    made["spec"]["template"]["metadata"]["annotations"] |= more.get("annotations", {})
    return made


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with the queues of three teams, two nodes of one pool and four of another."""
    config = configuration(Kueue(), cluster=CLUSTER, integrations=("batch/job",))
    with cluster(tmp_path_factory.mktemp("teams"), "kueue") as plane:
        values = {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(config)}}
        release(plane.client, shared / "charts-full", "kueue", "kueue-system", **values)
        writer = NodeWriter(plane.targets.of_cluster)
        for index in range(2):
            writer.write(CLUSTER, pool_node(f"a100-{index}", POOLS["a100"]))
        for name, block in BLOCKS.items():
            layers = {LEVELS[0]: "all", LEVELS[1]: "all", LEVELS[2]: block}
            writer.write(CLUSTER, pool_node(name, POOLS["h100"], **layers))
        applied(plane.client, *shared_manifests(POOLS, SETTINGS.queues).values())
        for name, team in SETTINGS.teams.items():
            space = Ref("v1", "Namespace", name).as_object()
            space["metadata"]["labels"] = dict(of_team(name, team))
            queue = cluster_queue(name, team, POOLS, SETTINGS.queues)
            applied(plane.client, space, queue, *local_queues(name, name, SETTINGS.queues).values())
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test leaves no job, and no quota in use."""
    client = plane.client
    yield client
    without_jobs(client, *SETTINGS.teams)
    until(lambda: not workloads(client), SECONDS, lambda: f"Workloads are left: {sorted(workloads(client))}")


def workloads(client: KubeClient) -> dict[str, Object]:
    """The Workloads of all teams, by the names of their jobs."""
    found = client.list(client.discovery.find(KUEUE_API, "Workload"))
    return {each["metadata"]["ownerReferences"][0]["name"]: each for each in found}


def holding(client: KubeClient) -> set[str]:
    """The jobs that Kueue has given quota."""
    return {
        name
        for name, each in workloads(client).items()
        if condition(each, "Admitted").get("status") == "True" and condition(each, "Evicted").get("status") != "True"
    }


def hold(client: KubeClient, *names: str) -> None:
    """Wait until these jobs hold quota, and no others do."""
    wanted = set(names)
    until(lambda: holding(client) == wanted, SECONDS, lambda: f"{sorted(holding(client))} instead of {sorted(wanted)}")


def test_a_team_borrows_what_others_lend_and_no_more(client: KubeClient) -> None:
    # 4 of its own, 6 of the owner's 8 that may be lent.
    applied(client, job("much", "red", 8), job("more", "red", 2))
    hold(client, "much", "more")
    applied(client, job("last", "red", 1))
    # What the owner does not lend is its own at once, and nobody else's: the older job still waits.
    applied(client, job("kept", "owner", 2))
    hold(client, "much", "more", "kept")


def test_an_alias_leads_to_the_same_quota(client: KubeClient) -> None:
    applied(client, job("alias", "blue", 6, labels={"kueue.x-k8s.io/queue-name": ALIAS}))
    hold(client, "alias")
    # The team's limit is 6 under both names; the job of another team shows that Kueue went on.
    applied(client, job("more", "blue", 1), job("other", "owner", 1))
    hold(client, "alias", "other")


def test_a_team_never_borrows_more_than_its_limit(client: KubeClient) -> None:
    applied(client, job("parts", "blue", 7))
    # Behind it in the same queue.
    applied(client, job("fits", "blue", 6))
    hold(client, "fits")


def test_an_owner_takes_back_what_it_lent(client: KubeClient) -> None:
    applied(client, job("borrows", "red", 8))
    hold(client, "borrows")
    applied(client, job("own", "owner", 8))
    hold(client, "own")


def test_borrowers_of_one_weight_get_equal_parts(client: KubeClient) -> None:
    """Fair sharing: who came first loses what is above its share, not its own quota."""
    first = [f"red-{number}" for number in range(10)]
    applied(client, *(job(name, "red", 1) for name in first))
    hold(client, *first)
    second = [f"blue-{number}" for number in range(6)]
    applied(client, *(job(name, "blue", 1) for name in second))

    def parts() -> tuple[int, int]:
        held = holding(client)
        return sum(name in held for name in first), sum(name in held for name in second)

    # Six can be borrowed: three each.
    until(lambda: parts() == (7, 3), SECONDS, lambda: f"(red, blue) hold {parts()}")


def test_a_job_of_higher_priority_takes_the_quota_of_its_team(client: KubeClient) -> None:
    label = "kueue.x-k8s.io/priority-class"
    applied(client, job("kept", "owner", 2, labels={label: PriorityName.PRODUCTION_TRAINING.value}))
    applied(client, job("tries", "owner", 6, labels={label: PriorityName.EXPERIMENT.value}))
    hold(client, "kept", "tries")
    applied(client, job("counts", "owner", 6, labels={label: PriorityName.PRODUCTION_TRAINING.value}))
    hold(client, "kept", "counts")


def test_a_job_whose_gpus_are_idle_is_warned_then_stopped_and_the_next_one_starts(client: KubeClient) -> None:
    """With what the CronJob's account may do, and Kueue's own annotation of pods."""
    permissions = IDLE_GPUS.permissions(list(SETTINGS.teams))
    applied(client, Ref("v1", "Namespace", SCHEDULES.name).as_object(), *permissions.values())
    api = as_account(client, IDLE_GPUS.name, SCHEDULES.name)
    idle = Ref("batch/v1", "Job", "idle", "owner")
    applied(client, job("idle", "owner", 8))
    running(client, idle, 1)
    applied(client, job("next", "owner", 8))
    pods = list(client.list(client.discovery.find("v1", "Pod"), "owner"))
    names = {one["metadata"]["name"] for one in pods}
    start, limits = datetime(2026, 11, 27, 12, tzinfo=UTC), Limits(timedelta(hours=2), timedelta(hours=1))

    def reasons() -> list[str]:
        events = client.list(client.discovery.find("v1", "Event"), "owner")
        return [one["reason"] for one in events if one["source"].get("component") == "slipway-idle-gpus"]

    take_back(api, "owner", names, limits, start)
    take_back(api, "owner", names, limits, start + timedelta(minutes=50))
    assert reasons() == ["GpusIdle"]
    keep = {"metadata": {"annotations": {KEEP: "2026-11-27T14:00:00Z"}}}
    client.merge(Ref.of(pods[0]), keep)
    take_back(api, "owner", names, limits, start + timedelta(hours=1))
    hold(client, "idle")
    take_back(api, "owner", names, limits, start + timedelta(hours=2))
    take_back(api, "owner", names, limits, start + timedelta(hours=3))
    assert sorted(reasons()) == ["GpusIdle", "GpusIdle", "GpusTakenBack"]
    hold(client, "next")
    wait(client, idle, lambda each: each["spec"].get("suspend") or None, "not suspended")
    with pytest.raises(ApiError, match="forbidden"):
        api("GET", "/api/v1/namespaces/kueue-system/pods")


def running(client: KubeClient, ref: Ref, pods: int) -> None:
    """Wait until so many pods of a Job are ready."""
    status = wait(client, ref, lambda each: (each.get("status") or {}).get("ready", 0) == pods or None, f"not {pods}")
    assert status


def sizes(client: KubeClient, name: str) -> dict[int, str]:
    """By the number of pods of each unfinished Workload of a job: whether it has quota."""
    found = client.list(client.discovery.find(KUEUE_API, "Workload"))
    return {
        each["spec"]["podSets"][0]["count"]: condition(each, "QuotaReserved").get("status", "Unknown")
        for each in found
        if each["metadata"]["ownerReferences"][0]["name"] == name
        and condition(each, "Finished").get("status") != "True"
    }


def test_an_elastic_job_grows_within_its_quota_and_gives_back_what_it_leaves(client: KubeClient) -> None:
    """Its pods run on while it grows; those above the quota wait (ElasticJobsViaWorkloadSlices, beta in 0.18)."""
    elastic = job("elastic", "blue", 2, pods=2)
    elastic["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    elastic["spec"]["completions"] = 8
    ref = Ref.of(elastic)
    applied(client, elastic)
    running(client, ref, 2)
    first = pods_of(client, "elastic")
    client.merge(ref, {"spec": {"parallelism": 3}})
    running(client, ref, 3)
    assert first < pods_of(client, "elastic")
    # A team borrows six GPUs at most: the fourth pod waits, and the three run on.
    client.merge(ref, {"spec": {"parallelism": 4}})
    until(lambda: sizes(client, "elastic") == {3: "True", 4: "False"}, SECONDS, lambda: f"{sizes(client, 'elastic')}")
    running(client, ref, 3)
    client.merge(ref, {"spec": {"parallelism": 1}})
    applied(client, job("after", "blue", 4))
    until(lambda: "after" in holding(client), SECONDS, lambda: f"{sizes(client, 'elastic')} {holding(client)}")
    running(client, ref, 1)
    assert pods_of(client, "elastic") <= first


def pods_of(client: KubeClient, name: str) -> set[str]:
    """Names of the pods of a job that are on a node."""
    found = client.list(client.discovery.find("v1", "Pod"))
    return {
        each["metadata"]["name"]
        for each in found
        if each["metadata"]["labels"].get("job-name") == name
        and each["spec"].get("nodeName")
        and "deletionTimestamp" not in each["metadata"]
    }


def places(client: KubeClient, name: str) -> set[str]:
    """The parts of the network in which the pods of a job run, once all do."""
    pods = client.discovery.find("v1", "Pod")

    def look() -> set[str] | None:
        nodes = [
            each["spec"].get("nodeName")
            for each in client.list(pods, "owner")
            if each["metadata"]["labels"].get("job-name") == name
        ]
        return {BLOCKS[each] for each in nodes} if len(nodes) == 2 and all(nodes) else None

    return until(look, SECONDS, f"the pods of {name} have no nodes")


def near(rule: str) -> dict[str, str]:
    return {f"kueue.x-k8s.io/podset-{rule}-topology": LEVELS[2]}


def test_pods_are_together_where_topology_requires_it(client: KubeClient) -> None:
    assert by_topology(POOLS["h100"], SETTINGS.queues)
    for number in range(2):
        applied(client, job(f"near-{number}", "owner", 8, pool="h100", pods=2, annotations=near("required")))
    hold(client, "near-0", "near-1")
    assert places(client, "near-0") | places(client, "near-1") == {"east", "west"}
    assert len(places(client, "near-0")) == 1


def test_pods_wait_to_be_together_where_they_must_and_run_apart_where_they_prefer_to_be_near(
    client: KubeClient,
) -> None:
    for block in ("east", "west"):
        one = job(f"half-{block}", "owner", 8, pool="h100", annotations=near("required"))
        one["spec"]["template"]["spec"]["nodeSelector"] = {**POOLS["h100"].node_selector, LEVELS[2]: block}
        applied(client, one)
    hold(client, "half-east", "half-west")
    applied(client, job("together", "owner", 8, pool="h100", pods=2, annotations=near("required")))
    # Behind it in the same queue, for the same nodes.
    applied(client, job("apart", "owner", 8, pool="h100", pods=2, annotations=near("preferred")))
    hold(client, "half-east", "half-west", "apart")
    assert places(client, "apart") == {"east", "west"}
