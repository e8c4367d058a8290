"""Ray workloads that would never run, lose all work, or use nodes without bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from components.workloads import (
    RayWorkers,
    Resources,
    WorkloadManifests,
    WorkloadRefused,
    ray_cluster,
    ray_job,
    ray_service,
)
from tests.components.workloads.samples import HEAD, RAY_CLUSTER, RAY_JOB, RAY_SERVICE, RAY_WORKERS, TARGET

Made = Callable[[], WorkloadManifests]
WORKER: Final = RAY_WORKERS["spot"]
DAY: Final = 86400


def cluster(**args: Any) -> Made:
    return lambda: ray_cluster("lab", replace(RAY_CLUSTER, **args))


def head(**pod: Any) -> Made:
    return cluster(head=replace(HEAD, **pod))


def worker(**pod: Any) -> Made:
    return cluster(workers={"spot": RayWorkers(pod=replace(WORKER.pod, **pod))})


def job(**args: Any) -> Made:
    return lambda: ray_job("tune", replace(RAY_JOB, **args))


def service(**args: Any) -> Made:
    return lambda: ray_service("chat", replace(RAY_SERVICE, **args))


GPUS: Final = Resources(cpu="3", memory="12Gi", gpus=1)
REFUSED: Final[Mapping[str, tuple[Made, str, str]]] = {
    "a Ray head on spot": (head(pools=("spot",)), "head.pools", "the whole cluster is lost with its head"),
    "a head that may be on spot": (head(pools=("cpu", "spot")), "head.pools", "nodes of pool spot are Spot"),
    "a head with a GPU": (
        head(pools=("shared",), resources=GPUS),
        "head.resources",
        "the head runs no tasks, so it needs no GPU",
    ),
    "a head on an unknown pool": (head(pools=("other",)), "head.pools", "must be a pool of the platform"),
    "a head with a command": (head(command=("ray", "up")), "head.command", "KubeRay sets the command"),
    "a worker with a command": (worker(args=("--x",)), "workers.spot.pod.command", "KubeRay sets the command"),
    "a worker that does not fit": (
        worker(resources=Resources(cpu="3", memory="12Gi", gpus=9)),
        "workers.spot.pod.resources[nvidia.com/gpu]",
        "a node of pool spot has 1",
    ),
    "a worker on spot that ends slowly": (worker(grace_seconds=600), "workers.spot.pod.grace_seconds", "120 s"),
    "a worker with too little shared memory for its own": (
        worker(shared_memory="12Gi"),
        "workers.spot.pod.shared_memory",
        "shared memory counts",
    ),
    "an image without a version": (worker(image="rayproject/ray"), "workers.spot.pod.containers.ray-worker.image", ""),
    "more workers than fit": (
        cluster(workers={"spot": replace(WORKER, replicas=900)}),
        "workers.spot.pod",
        "pods that run at the same time must fit",
    ),
    "no replicas": (cluster(workers={"spot": replace(WORKER, replicas=0)}), "workers.spot.replicas", "from 1 to 1000"),
    "no workers": (cluster(workers={}), "workers", "its head runs no tasks"),
    "too many groups": (cluster(workers={f"g{n}": WORKER for n in range(17)}), "workers", "from 1 to 16 groups"),
    "a group named head": (cluster(workers={"head": WORKER}), "workers", "head and submitter are taken"),
    "a version that is none": (cluster(ray_version="nightly"), "ray_version", "must be a version of Ray"),
    "a version without tokens": (cluster(ray_version="2.9.3"), "ray_version", "token authentication needs Ray 2.52.0"),
    "a stack without KubeRay": (
        cluster(target=replace(TARGET, addons=frozenset())),
        "kind",
        "RayCluster needs the add-on kuberay",
    ),
    "a queue that does not know the kind": (
        service(target=replace(TARGET, queued=frozenset({"batch/job"}))),
        "suspend",
        "Kueue does not manage this kind",
    ),
    "a job without deadline": (job(deadline_seconds=None), "deadline_seconds", "a job must be bounded"),
    "a job without retries": (job(retries=None), "retries", "a job must be bounded"),
    "attempts that take too long": (
        job(deadline_seconds=7 * DAY, retries=2),
        "deadline_seconds",
        "all 3 attempts together may take at most 1209600 s",
    ),
    "a finished Ray cluster kept for a day": (job(ttl_seconds=DAY), "ttl_seconds", "from 0 to 3600"),
    "a job without a command": (job(entrypoint=" "), "entrypoint", "a job needs a command"),
    "a service without applications": (service(serve={"proxy_location": "EveryNode"}), "serve", "has a list of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_path_rule_and_fix(name: str) -> None:
    make, path, rule = REFUSED[name]
    with pytest.raises(WorkloadRefused) as caught:
        make()
    found = [problem for problem in caught.value.problems if problem.path == path and rule in problem.rule]
    assert found, str(caught.value)
    assert found[0].fix.endswith(".")
