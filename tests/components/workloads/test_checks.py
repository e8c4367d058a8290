"""Checks of pod specs against the pools."""

from decimal import Decimal
from typing import Any

import pytest

from components.workloads import pod_problems
from components.workloads.checks.fit import fit_problems, fits_in_share, need
from spec.pools.allocatable import allocatable
from tests.components.workloads.samples import TARGET

TOLERANT = [{"operator": "Exists"}]
SMALL = {"cpu": "1", "memory": "1Gi"}


def container(requests: dict[str, str], limits: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    bounds = requests if limits is None else limits
    return {"name": "c", "image": "a:1", "resources": {"requests": requests, "limits": bounds}, **more}


def pod(*containers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"priorityClassName": "experiment", "containers": list(containers), "tolerations": TOLERANT, **more}


def rules(spec: dict[str, Any]) -> dict[str, str]:
    return {problem.path: problem.rule for problem in pod_problems("pod", spec, TARGET)}


def test_a_pod_without_a_selector_is_accepted_if_it_fits_some_pool() -> None:
    assert rules(pod(container(SMALL))) == {}


def test_a_missing_toleration_is_reported_with_the_taint() -> None:
    spec = pod(container({**SMALL, "nvidia.com/gpu": "1"}), nodeSelector={"platform.slipway/pool": "spot"})
    assert rules(spec) == {}
    spec["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    assert "platform.slipway/pool=spot:NoSchedule" in rules(spec)["pod.tolerations"]


@pytest.mark.parametrize(
    ("requests", "limits", "rule"),
    [
        ({"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "2"}, "request and limit of a device must be equal"),
        ({"nvidia.com/gpu": "1"}, {}, "a request alone is refused"),
        ({"nvidia.com/gpu": "0.5"}, {"nvidia.com/gpu": "0.5"}, "the number of devices must be an integer"),
    ],
)
def test_device_requests_must_satisfy_the_api_server(
    requests: dict[str, str], limits: dict[str, str], rule: str
) -> None:
    spec = pod(container({**SMALL, **requests}, {**SMALL, **limits}), nodeSelector={"platform.slipway/pool": "block"})
    assert rule in rules(spec)["pod.containers.c.resources[nvidia.com/gpu]"]


def test_a_limit_without_a_request_counts_as_request() -> None:
    problems = rules(
        pod(container({}, {**SMALL, "nvidia.com/gpu": "9"}), nodeSelector={"platform.slipway/pool": "block"})
    )
    assert problems["pod.resources[nvidia.com/gpu]"] == "a node of pool block has 8"


def test_a_sidecar_without_resources_is_reported() -> None:
    sidecar = {"name": "sidecar", "image": "a:1"}
    problems = rules(pod(container(SMALL), sidecar))
    assert "must be requested" in problems["pod.containers.sidecar.resources.requests"]
    assert "must have a limit" in problems["pod.containers.sidecar.resources.limits"]


def test_a_label_that_no_pool_has_is_reported() -> None:
    assert (
        "a pool must have the labels"
        in rules(pod(container(SMALL), nodeSelector={"accelerator": "nvidia-b200"}))["pod.nodeSelector"]
    )


def test_labels_that_pools_do_not_set_are_ignored() -> None:
    assert rules(pod(container(SMALL), nodeSelector={"topology.kubernetes.io/zone": "us-east-1a"})) == {}


def test_alternative_affinity_terms_are_ignored() -> None:
    terms = [
        {"matchExpressions": [{"key": "platform.slipway/pool", "operator": "In", "values": [name]}]}
        for name in ("gone", "cpu")
    ]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    assert rules(pod(container(SMALL), affinity=affinity)) == {}


def test_requests_are_the_sum_of_containers_or_the_largest_init_container() -> None:
    spec = pod(container({"cpu": "1"}), container({"cpu": "2"}), initContainers=[container({"cpu": "2500m"})])
    assert need(spec)["cpu"] == 3
    spec["initContainers"] = [container({"cpu": "8"})]
    assert need(spec)["cpu"] == 8


@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_pods_that_run_at_once_must_fit_on_all_nodes_together(resource: str) -> None:
    pool = TARGET.pools["cpu"]
    largest = max(allocatable(pool), key=lambda room: (room.memory_mib, room.cpu_millis))
    # A third of what the largest node gives, so three of them fill it.
    third = {"cpu": f"{largest.cpu_millis // 3}m", "memory": f"{largest.memory_mib // 3}Mi"}[resource]
    spec = pod(container({**SMALL, resource: third}), nodeSelector={"platform.slipway/pool": "cpu"})
    most = 3 * pool.settings.max
    assert list(fit_problems("pod", spec, TARGET, at_once=most)) == []
    (problem,) = fit_problems("pod", spec, TARGET, at_once=most + 1)
    assert f"run {most} of them" in problem.rule


def test_huge_pages_count_as_memory() -> None:
    assert need(pod(container({"memory": "1Gi", "hugepages-2Mi": "512Mi"})))["memory"] == Decimal(1536) * 2**20


@pytest.mark.parametrize(
    ("pool", "share", "wanted", "pods"),
    [
        # A GPU has three slices of 2g.10gb, or four shares.
        ("slices", 2, {"nvidia.com/mig-2g.10gb": 1}, 6),
        ("shared", 1, {"nvidia.com/gpu": 1}, 4),
        ("block", 16, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}, 2),
        ("cpu", 16, {"cpu": 4}, 3),
        # A GPU of eight brings an eighth of the processors: 12 of 96 vCPUs, less what the kubelet keeps.
        ("slices", 1, {"nvidia.com/mig-2g.10gb": 1, "cpu": 6}, 1),
        ("slices", 1, {"nvidia.com/mig-2g.10gb": 1, "memory": 200 * 2**30}, 0),
    ],
)
def test_pods_fit_into_a_share_by_gpus_and_their_cpu_and_memory(
    pool: str, share: int, wanted: dict[str, int], pods: int
) -> None:
    amounts = {name: Decimal(amount) for name, amount in wanted.items()}
    assert fits_in_share(TARGET.pools[pool], share, amounts) == pods
