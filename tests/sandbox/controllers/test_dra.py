"""Kueue of its chart, with a stack's configuration: claims of devices count as GPUs, and its eviction frees them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.dra_driver import mig_class
from components.addons.kueue import configuration
from components.queues import LOCAL_QUEUE, cluster_queue, local_queues, shared_manifests
from components.tenancy.namespace import claim_template
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes import dra
from sandbox.nodes.machine import Machine
from sandbox.nodes.spec import NodeSpec, NodeWriter, Taint
from spec.jobs import KUEUE_API, PRIORITY
from spec.pools import resolve_all
from spec.settings.addons.batch import Kueue
from spec.settings.queues import Queues
from spec.teams.labels import of_team
from tests.components.admission.samples import GPU, GPU_TAINT
from tests.components.admission.upstream import CLAIMED, PARTED, POOL_NAME
from tests.components.pools.samples import platform
from tests.sandbox.controllers import installed
from tests.sandbox.controllers.installed import applied, cluster, release, wait, without_jobs
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
TEAM: Final = "vision"
PART: Final = "nvidia.com/mig-3g.20gb"
SETTINGS: Final = platform(
    {POOL_NAME: CLAIMED, "parts": PARTED},
    cluster={"version": "1.36"},
    addons={"kueue": {}, "draDriver": {}},
    teams={
        TEAM: {
            "project": "perception",
            "costCenter": "ml",
            "gpus": {POOL_NAME: {"nominalQuota": 4}, "parts": {"nominalQuota": 4}},
        }
    },
)
POOLS: Final = resolve_all(SETTINGS)


def job(
    name: str, *templates: str, gpus: int = 0, of: str = GPU, priority: str = "interactive", **claim: Any
) -> Object:
    """A Job that runs until it is deleted, with claims, or a request, of GPUs."""
    made = installed.job(name, TEAM, {"cpu": "1", **({of: gpus} if gpus else {})}, "100000s", queue=LOCAL_QUEUE)
    made["metadata"]["labels"][PRIORITY] = priority
    pod = made["spec"]["template"]["spec"]
    claims = [{"name": f"c{at}", "resourceClaimTemplateName": each} for at, each in enumerate(templates)]
    claims += [{"name": "named", **claim}] if claim else []
    pod |= {"resourceClaims": claims, "tolerations": [GPU_TAINT], "terminationGracePeriodSeconds": 0}
    pod["containers"][0]["resources"]["claims"] = [{"name": each["name"]} for each in claims]
    return made


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with one team, and its pools: two nodes with four GPUs each, one with sixteen MIG instances."""
    claimed = [name for pool in POOLS.values() for name in pool.claimed]
    config = configuration(Kueue(), cluster=CLUSTER, integrations=("batch/job",), claimed=claimed)
    with cluster(tmp_path_factory.mktemp("claims"), "kueue", version="1.36") as plane:
        writer = NodeWriter(plane.targets.of_cluster)
        for pool in POOLS.values():
            machine = Machine(pool.instance_types[0].name)
            size = machine.allocatable(pool.labels)
            taints = tuple(Taint(each.key, each.effect, each.value) for each in pool.taints)
            for index in range(pool.settings.max):
                writer.write(
                    CLUSTER,
                    NodeSpec(
                        name=f"{pool.name}-{index}", owner="test", instance_type=machine.name, arch="amd64",
                        kubernetes="1.36", capacity=size, allocatable=size, labels=pool.labels, taints=taints,
                    ),
                )  # fmt: skip
        applied(plane.client, mig_class("3g.20gb"))
        values = {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(config)}}
        release(plane.client, shared / "charts-full", "kueue", "kueue-system", **values)
        applied(plane.client, *shared_manifests(POOLS, Queues()).values())
        space = Ref("v1", "Namespace", TEAM).as_object()
        space["metadata"]["labels"] = dict(of_team(TEAM, SETTINGS.teams[TEAM]))
        queue = cluster_queue(TEAM, SETTINGS.teams[TEAM], POOLS, Queues())
        applied(plane.client, space, queue, *local_queues(TEAM, TEAM, Queues()).values())
        applied(plane.client, *(claim_template(TEAM, count) for count in (1, 2, 4)))
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test leaves no job, and no device in use."""
    yield plane.client
    without_jobs(plane.client, TEAM)
    until(lambda: not devices(plane.client) or None, SECONDS, "devices are left")


def workload(client: KubeClient, owner: str) -> Object | None:
    found = client.list(client.discovery.find(KUEUE_API, "Workload"), TEAM)
    return next((each for each in found if each["metadata"]["ownerReferences"][0]["name"] == owner), None)


def devices(client: KubeClient) -> list[str]:
    """Devices that are allocated."""
    found = client.list(client.discovery.find(dra.API, "ResourceClaim"), TEAM)
    of = [((each.get("status") or {}).get("allocation") or {}).get("devices") or {} for each in found]
    return sorted(f"{each['pool']}/{each['device']}" for one in of for each in one.get("results") or ())


def until_allocated(client: KubeClient, count: int) -> list[str]:
    """Wait until so many devices are allocated, each once."""

    def look() -> list[str] | None:
        found = devices(client)
        return found if len(set(found)) == len(found) == count else None

    return until(look, SECONDS, lambda: f"not {count} devices, but {devices(client)}")


def until_running(client: KubeClient, name: str) -> None:
    wait(
        client,
        Ref("batch/v1", "Job", name, TEAM),
        lambda obj: (obj.get("status") or {}).get("ready"),
        "no pod is ready",
    )


def usage(client: KubeClient, pool: str = POOL_NAME, of: str = GPU) -> str:
    """GPUs of a pool that the queue has in use."""
    flavors = (client.get(Ref(KUEUE_API, "ClusterQueue", TEAM)) or {})["status"]["flavorsUsage"]
    found = next(one["resources"] for one in flavors if one["name"] == pool)
    return next(str(each["total"]) for each in found if each["name"] == of)


def test_claims_and_requests_are_one_quota(client: KubeClient) -> None:
    applied(client, job("claims", "gpu-1", "gpu-2"), job("request", gpus=1))
    for name in ("claims", "request"):
        until_running(client, name)
    until(lambda: usage(client) == "4" or None, SECONDS, lambda: f"usage {usage(client)}")
    until_allocated(client, 4)
    until_held(client, job("more", "gpu-1"))
    assert len(devices(client)) == 4


def until_held(client: KubeClient, more: Object) -> None:
    """A job for which its queue has no quota left."""
    applied(client, more)
    name = more["metadata"]["name"]

    def held() -> bool | None:
        reserved = condition(workload(client, name) or {}, "QuotaReserved")
        return (reserved.get("status") == "False" and "insufficient unused quota" in reserved["message"]) or None

    until(held, SECONDS, lambda: f"{workload(client, name)}")


def test_requests_of_mig_instances_are_in_the_quota_of_their_pool(client: KubeClient) -> None:
    # Each GPU of the pool has one of these, and the team has four GPUs.
    applied(client, job("parts", gpus=4, of=PART))
    until_running(client, "parts")
    until(lambda: usage(client, "parts", PART) == "4" or None, SECONDS, lambda: usage(client, "parts", PART))
    assert all(device.endswith("-mig-3g20gb-9-4") for device in until_allocated(client, 4))
    until_held(client, job("more-parts", gpus=1, of=PART))


def test_an_evicted_job_frees_its_devices_for_the_one_that_takes_its_quota(client: KubeClient) -> None:
    applied(client, job("low", "gpu-4", priority="experiment"))
    until_running(client, "low")
    applied(client, job("high", "gpu-4", priority="interactive"))
    until_running(client, "high")
    until_allocated(client, 4)
    evicted = condition(workload(client, "low") or {}, "Evicted")
    assert (evicted.get("status"), evicted.get("reason")) == ("True", "Preempted")


def test_kueue_holds_a_claim_without_a_template_for_ever(client: KubeClient) -> None:
    shared = {
        **Ref(dra.API, "ResourceClaim", "shared", TEAM).as_object(),
        "spec": claim_template(TEAM, 1)["spec"]["spec"],
    }
    client.create(shared, "user")
    applied(client, job("named", resourceClaimName="shared"))

    def refused() -> bool | None:
        reserved = condition(workload(client, "named") or {}, "QuotaReserved")
        return ("does not support use of resource claims" in str(reserved.get("message"))) or None

    until(refused, SECONDS, lambda: f"{workload(client, 'named')}")
    client.delete(Ref.of(shared))
