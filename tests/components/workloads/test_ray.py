"""What Ray workloads declare: pods that Kueue counts, places, ends."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from components.tenancy.network_policies import SERVING_PORTS
from components.workloads import (
    RayWorkers,
    Resources,
    WorkloadManifests,
    ray_cluster,
    ray_job,
    ray_service,
)
from components.workloads.component import controlled
from components.workloads.ray import with_store
from tests.components.workloads.samples import (
    GOOD,
    HEAD,
    RAY_CLUSTER,
    RAY_JOB,
    RAY_SERVICE,
    RAY_WORKERS,
    TARGET,
    bodies,
    body,
)

OBJECTS: Final = {"ray-cluster": ("cluster", ()), "ray-job": ("job", ("rayClusterSpec",)),
                  "ray-service": ("service", ("rayClusterConfig",))}  # fmt: skip
POOL: Final = "platform.slipway/pool"


def cluster(name: str) -> Any:
    """The spec of the cluster in each kind."""
    role, path = OBJECTS[name]
    found = body(GOOD[name](), role)["spec"]
    for key in path:
        found = found[key]
    return found


@pytest.mark.parametrize("name", OBJECTS)
def test_the_head_is_on_cpu_nodes_and_workers_on_the_pools_of_their_group(name: str) -> None:
    spec = cluster(name)
    pools = {group["groupName"]: group["template"]["spec"]["nodeSelector"][POOL] for group in spec["workerGroupSpecs"]}
    assert spec["headGroupSpec"]["template"]["spec"]["nodeSelector"] == {POOL: "cpu"}
    assert pools == {"spot": "spot", "slices": "slices"}
    assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"


@pytest.mark.parametrize("name", OBJECTS)
def test_kueue_counts_every_worker_that_kuberay_starts(name: str) -> None:
    for group in cluster(name)["workerGroupSpecs"]:
        assert group["replicas"] == group["minReplicas"] == group["maxReplicas"]
        assert isinstance(group["rayStartParams"], dict), "KubeRay writes into the map"
    assert "enableInTreeAutoscaling" not in cluster(name)


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_queued_and_pulumi_leaves_their_start_to_the_queue(name: str) -> None:
    made = body(GOOD[name](), OBJECTS[name][0])
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    (path,) = controlled(made) or []
    found: Any = made
    for key in path.split("."):
        found = found[key]
    assert found is True


@pytest.mark.parametrize("name", OBJECTS)
def test_the_services_of_a_head_find_it(name: str) -> None:
    """The one of a RayJob or RayService selects `app.kubernetes.io/name: kuberay`, which a label of ours would
    replace."""
    spec = cluster(name)
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        assert "app.kubernetes.io/name" not in group["template"]["metadata"]["labels"]
        assert (
            group["template"]["metadata"]["labels"]["platform.slipway/team"] == TARGET.labels["platform.slipway/team"]
        )


def test_the_object_store_fits_into_shared_memory() -> None:
    worker = cluster("ray-cluster")["workerGroupSpecs"][1]["template"]["spec"]
    (shared,) = [each["emptyDir"] for each in worker["volumes"] if each["name"] == "shm"]
    assert shared == {"medium": "Memory", "sizeLimit": "4096Mi"}, "a third of 12 GiB; Ray takes 30%"
    assert with_store(replace(HEAD, shared_memory="1Gi")).shared_memory == "1Gi"


def test_a_job_ends_with_its_cluster_and_within_its_bounds() -> None:
    spec = body(ray_job("tune", RAY_JOB))["spec"]
    assert (spec["shutdownAfterJobFinishes"], spec["ttlSecondsAfterFinished"]) == (True, 0)
    assert (spec["activeDeadlineSeconds"], spec["backoffLimit"]) == (3600, 3)
    assert yaml.safe_load(spec["runtimeEnvYAML"]) == {"env_vars": {"EPOCHS": "3"}}
    assert "runtimeEnvYAML" not in body(ray_job("tune", replace(RAY_JOB, runtime_env=None)))["spec"]


def test_the_submitter_has_the_heads_image_and_place_and_the_command_of_kuberay() -> None:
    template = body(ray_job("tune", RAY_JOB))["spec"]["submitterPodTemplate"]
    (container,) = template["spec"]["containers"]
    assert container["image"] == HEAD.image
    assert not {"command", "args"} & set(container), "KubeRay sets it if there is none"
    assert template["spec"]["nodeSelector"] == {POOL: "cpu"}
    assert template["spec"]["restartPolicy"] == "Never", "a Job has no other default"
    assert container["securityContext"]["runAsNonRoot"] is True


def test_a_service_has_no_second_cluster_and_its_head_answers_no_requests() -> None:
    spec = body(ray_service("chat", RAY_SERVICE), "service")["spec"]
    assert spec["upgradeStrategy"] == {"type": "None"}
    assert spec["excludeHeadPodFromServeSvc"] is True
    assert yaml.safe_load(spec["serveConfigV2"]) == dict(RAY_SERVICE.serve)


def test_load_balancers_reach_the_workers_of_a_service_alone() -> None:
    spec, label = cluster("ray-service"), "platform.slipway/serving"
    assert label not in spec["headGroupSpec"]["template"]["metadata"]["labels"]
    for group in spec["workerGroupSpecs"]:
        assert group["template"]["metadata"]["labels"][label] == "true"
        ports = group["template"]["spec"]["containers"][0]["ports"]
        (serve,) = [each["containerPort"] for each in ports if each["name"] == "serve"]
        assert serve in SERVING_PORTS
    job = cluster("ray-job")["workerGroupSpecs"][0]["template"]
    assert label not in job["metadata"]["labels"]


def test_nodes_of_a_head_are_not_consolidated_and_workers_of_a_service_or_on_spot_may_move() -> None:
    mark = "karpenter.sh/do-not-disrupt"
    for name in OBJECTS:
        spec = cluster(name)
        assert spec["headGroupSpec"]["template"]["metadata"]["annotations"][mark] == "true"
        for group in spec["workerGroupSpecs"]:
            notes = group["template"]["metadata"].get("annotations", {})
            assert (mark in notes) is (name != "ray-service" and group["groupName"] != "spot")


def test_a_budget_is_a_number_of_workers_because_a_ray_cluster_has_no_scale() -> None:
    budget = body(ray_service("chat", RAY_SERVICE), "budget")["spec"]
    assert budget["minAvailable"] == 3, "one of 4 workers at a time"
    assert budget["selector"]["matchLabels"] == {"platform.slipway/job": "chat", "ray.io/node-type": "worker"}
    one = {"slices": RayWorkers(pod=RAY_WORKERS["slices"].pod)}
    assert set(bodies(ray_service("chat", replace(RAY_SERVICE, workers=one)))) == {"service"}


def test_without_a_token_the_dashboard_is_open_to_the_team() -> None:
    assert cluster("ray-cluster")["authOptions"] == {"mode": "token"}
    older = replace(RAY_CLUSTER, token=False, ray_version="2.40.0")
    assert body(ray_cluster("lab", older), "cluster")["spec"]["authOptions"] == {"mode": "disabled"}


def test_without_a_queue_a_cluster_starts_at_once() -> None:
    alone = replace(RAY_CLUSTER, target=replace(TARGET, queue=None), suspend=False)
    made = body(ray_cluster("lab", alone), "cluster")
    assert made["spec"]["suspend"] is False
    assert not [label for label in made["metadata"]["labels"] if label.startswith("kueue")]


Made = Callable[[], WorkloadManifests]
WORKER: Final = RAY_WORKERS["spot"]
DAY: Final = 86400


def made_of(**args: Any) -> Made:
    return lambda: ray_cluster("lab", replace(RAY_CLUSTER, **args))


def head(**pod: Any) -> Made:
    return made_of(head=replace(HEAD, **pod))


def worker(**pod: Any) -> Made:
    return made_of(workers={"spot": RayWorkers(pod=replace(WORKER.pod, **pod))})


def job(**args: Any) -> Made:
    return lambda: ray_job("tune", replace(RAY_JOB, **args))


def service(**args: Any) -> Made:
    return lambda: ray_service("chat", replace(RAY_SERVICE, **args))


GPUS: Final = Resources(cpu="3", memory="12Gi", gpus=1)
REFUSED: Final[Mapping[str, tuple[Made, str, str]]] = {
    "a Ray head on spot": (head(pools=("spot",)), "head.pools", "the whole cluster is lost with its head"),
    "a head that may be on spot": (head(pools=("cpu", "spot")), "head.pools", "nodes of pool spot are Spot"),
    "a head with a GPU": (head(pools=("shared",), resources=GPUS), "head.resources",
        "the head runs no tasks, so it needs no GPU"),
    "a head on an unknown pool": (head(pools=("other",)), "head.pools", "must be a pool of the platform"),
    "a head with a command": (head(command=("ray", "up")), "head.command", "KubeRay sets the command"),
    "a worker with a command": (worker(args=("--x",)), "workers.spot.pod.command", "KubeRay sets the command"),
    "a worker that does not fit": (worker(resources=Resources(cpu="3", memory="12Gi", gpus=9)),
        "workers.spot.pod.resources[nvidia.com/gpu]", "a node of pool spot has 1"),
    "a worker on spot that ends slowly": (worker(grace_seconds=600), "workers.spot.pod.grace_seconds", "120 s"),
    "a worker with too little shared memory for its own": (worker(shared_memory="12Gi"),
        "workers.spot.pod.shared_memory", "shared memory counts"),
    "an image without a version": (worker(image="rayproject/ray"), "workers.spot.pod.containers.ray-worker.image", ""),
    "more workers than fit": (made_of(workers={"spot": replace(WORKER, replicas=900)}), "workers.spot.pod",
        "pods that run at the same time must fit"),
    "no replicas": (made_of(workers={"spot": replace(WORKER, replicas=0)}), "workers.spot.replicas", "from 1 to 1000"),
    "no workers": (made_of(workers={}), "workers", "its head runs no tasks"),
    "too many groups": (made_of(workers={f"g{n}": WORKER for n in range(17)}), "workers", "from 1 to 16 groups"),
    "a group named head": (made_of(workers={"head": WORKER}), "workers", "head and submitter are taken"),
    "a version that is none": (made_of(ray_version="nightly"), "ray_version", "must be a version of Ray"),
    "a version without tokens": (made_of(ray_version="2.9.3"), "ray_version", "token authentication needs Ray 2.52.0"),
    "a stack without KubeRay": (made_of(target=replace(TARGET, addons=frozenset())), "kind",
        "RayCluster needs the add-on kuberay"),
    "a queue that does not know the kind": (service(target=replace(TARGET, queued=frozenset({"batch/job"}))), "suspend",
        "Kueue does not manage this kind"),
    "a job without deadline": (job(deadline_seconds=None), "deadline_seconds", "a job must be bounded"),
    "a job without retries": (job(retries=None), "retries", "a job must be bounded"),
    "attempts that take too long": (job(deadline_seconds=7 * DAY, retries=2), "deadline_seconds",
        "all 3 attempts together may take at most 1209600 s"),
    "a finished Ray cluster kept for a day": (job(ttl_seconds=DAY), "ttl_seconds", "from 0 to 3600"),
    "a job without a command": (job(entrypoint=" "), "entrypoint", "a job needs a command"),
    "a service without applications": (service(serve={"proxy_location": "EveryNode"}), "serve", "has a list of"),
}  # fmt: skip
