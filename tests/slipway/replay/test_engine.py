"""The engine with Kueue's and kube-scheduler's code, on inputs whose answers are known."""

import json
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from slipway.replay import engine
from spec.errors import SlipwayError
from tests.slipway.conftest import Slipway
from tests.slipway.replay.examples import TRACE
from tests.slipway.replay.inputs import FAIR, GPU, document, job, manifest, pool, queue

BLOCK = "topology.k8s.aws/network-node-layer-1"
PRIORITIES = [manifest("WorkloadPriorityClass", name, value=value) for name, value in (("low", 1), ("high", 2))]


def replay(binary: Path, given: dict[str, Any]) -> list[dict[str, Any]]:
    return list(engine.run(given, say=lambda _line: None, binary=binary))


def times(events: list[dict[str, Any]], kind: str, name: str) -> list[float]:
    return [event["t"] for event in events if event["kind"] == kind and event.get("job") == name]


def only(events: list[dict[str, Any]], kind: str, **fields: Any) -> dict[str, Any]:
    (found,) = [event for event in events if event["kind"] == kind and fields.items() <= event.items()]
    return found


def test_the_first_line_names_what_decides_and_the_last_one_counts(binary: Path) -> None:
    events = replay(binary, document([job("a", 5, 100)]))
    engines = events[0]["engine"]
    assert (engines["kueue"], engines["scheduler"], engines["karpenter"]) == (
        "v0.19.2, patched for speed",
        "v1.36.3",
        "v1.14.1",
    )
    assert engines["nodes"].startswith("model: ")
    assert events[-1]["kind"] == "summary"
    assert events[-1]["jobs"] == {"submitted": 1, "finished": 1, "running": 0, "pending": 0, "refused": 0}
    assert [event["t"] for event in events] == sorted(event["t"] for event in events)


def test_a_job_waits_for_quota_then_for_its_node(binary: Path) -> None:
    events = replay(binary, document([job("a", 0, 600), job("b", 10, 60)]))
    assert times(events, "running", "a") == [181]  # Karpenter's batch ends a second after its last pod
    waits = only(events, "pending", job="b")
    assert (waits["t"], waits["layer"]) == (10, "queue")
    assert f"insufficient unused quota for {GPU} in flavor a100, 8 more needed" in waits["message"]
    # Kueue moves inadmissible workloads back to the queue a second after a change.
    assert times(events, "running", "b") == [782]
    assert only(events, "admitted", job="b")["flavors"] == {"main": {"cpu": "a100", GPU: "a100"}}


def test_a_job_waits_for_a_node_as_long_as_its_pool_takes_to_launch_one(binary: Path) -> None:
    spot = pool(launchSeconds=47)
    spot["offerings"][0].update(capacityType="spot", usdPerHour=9.5)
    events = replay(binary, document([job("a", 0, 60)], pools=[spot]))
    nodes = [event for event in events if event["kind"] == "node"]
    assert [(node["t"], node["state"]) for node in nodes] == [(1, "launched"), (48, "ready")]
    assert {(node["capacityType"], node["usdPerHour"]) for node in nodes} == {("spot", 9.5)}
    assert [event["layer"] for event in events if event["kind"] == "pending"] == ["placement", "node"]
    assert times(events, "finished", "a") == [108]


def test_an_empty_node_is_removed_after_its_time_and_the_minimum_stays(binary: Path) -> None:
    given = document([job("a", 0, 60, count=2), job("z", 5000, 1)], objects=queue("default", 16), pools=[pool(min=1)])
    events = replay(binary, given)
    removed = only(events, "node", state="removed")
    # It is empty for 300 s at 541; Karpenter looks each 10 s, and again 15 s later.
    assert (removed["t"], removed["reason"]) == (550 + 15, "empty")
    assert times(events, "running", "z") == [5000]


def sizes() -> dict[str, Any]:
    """A pool of nodes with one GPU for a dollar and with eight for six."""
    (large,) = pool()["offerings"]
    small = {**large, "instanceType": "g6.xlarge", "usdPerHour": 1.0}
    return pool(
        offerings=[
            {**large, "usdPerHour": 6.0},
            {**small, "allocatable": {**large["allocatable"], "cpu": "8", GPU: "1"}},
        ]
    )


@pytest.mark.parametrize(
    ("moments", "launched"),
    [
        ((0, 0, 0, 0), ["p4d.24xlarge"]),
        ((0, 0.9, 1.8, 2.7), ["p4d.24xlarge"]),  # each within a second of the last one
        ((0, 30), ["g6.xlarge", "g6.xlarge"]),
    ],
)
def test_karpenter_packs_the_pods_of_a_batch(binary: Path, moments: tuple[float, ...], launched: list[str]) -> None:
    jobs = [job(f"j{number}", at, 600, gpus=1) for number, at in enumerate(moments)]
    events = replay(binary, document(jobs, pools=[sizes()]))
    assert [event["instanceType"] for event in events if event.get("state") == "launched"] == launched
    assert events[-1]["jobs"]["finished"] == len(jobs)


def test_karpenter_tries_the_last_of_node_pools_with_one_weight_first(binary: Path) -> None:
    pools = [pool(name=name, weight=weight) for name, weight in (("a", 10), ("b", 10), ("c", 1))]
    events = replay(binary, document([job("one", 0, 60)], pools=pools))
    assert only(events, "node", state="launched")["pool"] == "b"


def test_karpenter_counts_a_node_on_its_way_for_the_pods_that_come_later(binary: Path) -> None:
    jobs = [job("a", 0, 600, gpus=4), job("b", 60, 600, gpus=4), job("c", 70, 600, gpus=4)]
    events = replay(binary, document(jobs, objects=queue("default", 64)))
    assert [event["t"] for event in events if event.get("state") == "launched"] == [1, 71]


def node_pool(name: str, **disruption: Any) -> dict[str, Any]:
    """A NodePool as a stack renders it."""
    template = {
        "metadata": {"labels": {"team": name}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
            "requirements": [
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p4d.24xlarge"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            ],
        },
    }
    spec = {"template": template, "disruption": {"consolidateAfter": "5m", **disruption}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def test_a_budget_of_the_node_pool_keeps_empty_nodes(binary: Path) -> None:
    # The replay begins at midnight: none may go until two, then one at once.
    budgets = [{"nodes": "1"}, {"nodes": "0", "schedule": "0 0 * * *", "duration": "2h", "reasons": ["Empty"]}]
    given = document([job("a", 0, 60, count=2), job("z", 9000, 1)], objects=queue("default", 16))
    given["cluster"]["objects"] = [node_pool("gpu", budgets=budgets)]
    removed = [event["t"] for event in replay(binary, given) if event.get("state") == "removed"]
    assert removed == [7200 + 15, 7200 + 15 + 15]


def test_a_node_that_is_used_again_before_karpenters_second_look_stays(binary: Path) -> None:
    given = document([job("a", 0, 60), job("b", 560, 60), job("z", 2000, 1)])
    events = replay(binary, given)
    assert only(events, "running", job="b")["nodes"] == ["gpu-0001"]
    assert [event["t"] for event in events if event.get("state") == "removed"] == [920 + 15]


def test_an_expired_node_gets_no_more_pods_and_goes_with_its_last_one(binary: Path) -> None:
    jobs = [job("a", 0, 2000, gpus=4), job("b", 1500, 60, gpus=4)]
    given = document(jobs, objects=queue("default", 16), pools=[pool(expireAfterSeconds=1000)])
    events = replay(binary, given)
    assert only(events, "running", job="a")["nodes"] == ["gpu-0001"]
    assert only(events, "running", job="b")["nodes"] == ["gpu-0002"]  # though half of the first one is free
    removed = only(events, "node", node="gpu-0001", state="removed")
    assert (removed["t"], removed["reason"]) == (2181, "expired")


def test_of_a_minimum_of_nodes_an_expired_one_is_replaced(binary: Path) -> None:
    events = replay(binary, document([job("a", 1300, 60)], pools=[pool(min=1, expireAfterSeconds=1000)]))
    changes = [(event["t"], event["node"], event["state"]) for event in events if event["kind"] == "node"]
    assert changes[2:5] == [
        (1000, "gpu-0001", "removed"),
        (1000, "gpu-0002", "launched"),
        (1180, "gpu-0002", "ready"),
    ]
    assert times(events, "running", "a") == [1300]


def test_an_unknown_consolidation_policy_is_refused(binary: Path) -> None:
    with pytest.raises(SlipwayError, match=r'pools\[0\] \(gpu\): consolidationPolicy "Never": give WhenEmpty or'):
        replay(binary, document([job("a", 0, 1)], pools=[pool(consolidationPolicy="Never")]))


def test_a_gang_that_requires_it_is_placed_in_one_domain_of_the_topology(binary: Path) -> None:
    levels = [{"nodeLabel": BLOCK}, {"nodeLabel": "kubernetes.io/hostname"}]
    flavor = manifest("ResourceFlavor", "a100", {"nodeLabels": {"pool": "gpu"}, "topologyName": "network"})
    (offering,) = pool()["offerings"]
    fixed = pool(
        scaler="static",
        min=4,
        labels={"pool": "gpu"},
        offerings=[{**offering, "labels": {BLOCK: name}} for name in ("left", "right")],
    )

    def gang(name: str, submitted: float, count: int) -> dict[str, Any]:
        made = job(name, submitted, 600, count=count)
        made["podSets"][0]["topologyRequest"]["required"] = BLOCK
        return made

    given = document([gang("one", 0, 1), gang("two", 1, 2), gang("three", 2, 3)], pools=[fixed], until=500)
    given["kueue"]["objects"] = [manifest("Topology", "network", {"levels": levels}), flavor, *queue("default", 64)]
    events = replay(binary, given)
    # Nodes go round the offerings: odd ones are on the left.
    blocks = {
        name: {int(node[-1]) % 2 for node in only(events, "running", job=name)["nodes"]} for name in ("one", "two")
    }
    assert len(blocks["two"]) == 1
    assert blocks["one"] != blocks["two"]
    waits = [event["message"] for event in events if event["kind"] == "pending" and event["job"] == "three"]
    assert 'topology "network"' in waits[-1]
    assert not times(events, "running", "three")


def test_a_job_of_a_higher_priority_preempts_and_a_checkpoint_saves_work(binary: Path) -> None:
    objects = [*PRIORITIES, *queue("default", 8, preemption={"withinClusterQueue": "LowerPriority"})]
    low = job("low", 0, 1000, priorityClass="low", checkpointEvery=150)
    given = document([low, job("high", 580, 60, priorityClass="high")], objects=objects)
    events = replay(binary, given)
    evicted = only(events, "evicted", job="low")
    assert (evicted["t"], evicted["by"], evicted["reason"], evicted["cause"]) == (
        580,
        "high",
        "Preempted",
        "InClusterQueue",
    )
    assert evicted["lostSeconds"] == 99  # of 399 s that it ran, after its checkpoint at 300
    # The pods have 30 s to end; Kueue looks again a second later at most.
    assert 610 <= times(events, "running", "high")[0] <= 612
    again = times(events, "running", "low")[1]
    assert times(events, "finished", "low") == [again + 700]
    assert events[-1]["evictions"] == 1


def test_without_preemption_as_the_crd_defaults_it_nothing_is_evicted(binary: Path) -> None:
    jobs = [job("low", 0, 1000, priorityClass="low"), job("high", 580, 60, priorityClass="high")]
    events = replay(binary, document(jobs, objects=[*PRIORITIES, *queue("default", 8)]))
    assert not [event for event in events if event["kind"] == "evicted"]
    assert times(events, "running", "high") == [1182]


def test_quota_is_borrowed_and_reclaimed(binary: Path) -> None:
    fields: dict[str, Any] = {"cohortName": "org", "preemption": {"reclaimWithinCohort": "Any"}}
    objects = [manifest("Cohort", "org"), *queue("one", 8, **fields), *queue("two", 8, **fields)]
    borrower = job("borrower", 0, 5000, count=2, queue="one")
    events = replay(binary, document([borrower, job("owner", 1000, 60, queue="two")], objects=objects))
    assert len(only(events, "running", t=181, job="borrower")["nodes"]) == 2
    evicted = only(events, "evicted", job="borrower")
    assert (evicted["t"], evicted["by"], evicted["cause"]) == (1000, "owner", "InCohortReclamation")
    assert times(events, "finished", "owner")
    assert times(events, "finished", "borrower")


def test_a_gang_that_does_not_fit_waits_whole(binary: Path) -> None:
    jobs = [job("a", 0, 600), job("gang", 10, 60, count=4)]
    events = replay(binary, document(jobs, objects=queue("default", 32), pools=[pool(max=4)]))
    gang = only(events, "running", job="gang")
    assert len(gang["nodes"]) == 4
    assert gang["t"] > times(events, "finished", "a")[0]


@pytest.mark.parametrize(
    ("strategy", "whole"), [("LeastAllocated", [1180.0]), ("MostAllocated", [190.0])], ids=["spreads", "fills"]
)
def test_a_job_of_a_whole_node_finds_one_where_the_scheduler_fills_nodes(
    binary: Path, strategy: str, whole: list[float]
) -> None:
    """Two nodes are there; small jobs use half of one, or a quarter of each."""
    scoring = {"type": strategy, "resources": [{"name": GPU, "weight": 10}, {"name": "cpu", "weight": 1}]}
    small = [job(f"small-{number}", 180 + number, 1000, gpus=2) for number in range(2)]
    given = document(
        [*small, job("whole", 190, 60)],
        objects=queue("default", 32),
        pools=[pool(min=2, max=2)],
        scheduling={"nodeResourcesFit": {"scoringStrategy": scoring}},
    )
    events = replay(binary, given)
    assert times(events, "running", "whole") == whole
    assert (strategy in events[0]["engine"]["scheduler"]) is (strategy == "MostAllocated")


def test_a_full_pool_is_said_to_be(binary: Path) -> None:
    jobs = [job("a", 0, 600), job("b", 10, 60)]
    events = replay(binary, document(jobs, objects=queue("default", 64), pools=[pool(max=1)]))
    words = [event["message"] for event in events if event["kind"] == "pending" and event["job"] == "b"]
    assert words[-1] == "pool gpu has its maximum of 1 nodes"
    assert times(events, "running", "b") == [781]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (job("a", 0, 60, gpus=16, count=1), "maximum capacity (8)"),
        (job("a", 0, 60, queue="none"), "LocalQueue none doesn't exist"),
    ],
)
def test_a_job_that_the_queues_can_never_admit_is_refused(binary: Path, given: dict[str, Any], message: str) -> None:
    events = replay(binary, document([given]))
    assert message in only(events, "refused", job="a")["message"]
    assert events[-1]["jobs"]["refused"] == 1


SIDES = ("left", "right")


def two_pools(
    jobs: list[dict[str, Any]], queues: list[dict[str, Any]], *, device: str = GPU, **fields: Any
) -> dict[str, Any]:
    """A pool and a flavor for each side: a job selects one by the label `pool`."""
    pools = [pool(name=side, labels={"pool": side}) for side in SIDES]
    for one in pools:
        allocatable = one["offerings"][0]["allocatable"]
        allocatable[device] = allocatable.pop(GPU)
    given = document(jobs, pools=pools, **fields)
    flavors = [manifest("ResourceFlavor", side, {"nodeLabels": {"pool": side}}) for side in SIDES]
    given["kueue"]["objects"] = [*PRIORITIES, *flavors, *queues]
    return given


def on(side: str, given: dict[str, Any], device: str = GPU) -> dict[str, Any]:
    """A job whose pods select a side, and request another device than a whole GPU."""
    for pods in given["podSets"]:
        pods["nodeSelector"] = {"pool": side}
        pods["requests"][device] = pods["requests"].pop(GPU)
    return given


@pytest.mark.parametrize("device", [GPU, "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"])
def test_a_job_whose_flavor_another_queue_takes_first_waits_for_it(binary: Path, device: str) -> None:
    # Both fit on the left at one moment, and one of them loses. In its next cycle Kueue goes on with the other flavors,
    # and names only the one that does not match.
    fields: dict[str, Any] = {"device": device, "flavors": SIDES, "cohortName": "org"}
    queues = [manifest("Cohort", "org"), *queue("one", 4, **fields), *queue("two", 4, **fields)]
    jobs = [on("left", job(name, 0, 600, queue=name), device) for name in ("one", "two")]
    events = replay(binary, two_pools(jobs, queues, device=device))
    said = [event["message"] for event in events if event["kind"] == "pending" and event["layer"] == "queue"]
    assert any("right doesn't match node affinity" in one and "left" not in one for one in said)
    assert not [event for event in events if event["kind"] == "refused"]
    assert events[-1]["jobs"]["finished"] == 2


def test_kueue_chooses_among_the_pools_that_a_jobs_affinity_names(binary: Path) -> None:
    jobs = [job(name, 0, 600) for name in ("a", "b", "c")]
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": list(SIDES)}]}
    for one in jobs:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        one["podSets"][0]["affinity"] = {"nodeAffinity": required}
    events = replay(binary, two_pools(jobs, queue("default", 8, flavors=SIDES)))
    assert [only(events, "running", job=name)["nodes"] for name in ("a", "b")] == [["left-0001"], ["right-0001"]]
    assert times(events, "running", "c") == [782]


@pytest.mark.parametrize("policy", ["Preempt", "TryNextFlavor"])
def test_a_job_that_preempts_in_one_of_two_flavors_is_not_refused(binary: Path, policy: str) -> None:
    queues = queue(
        "default",
        8,
        flavors=SIDES,
        flavorFungibility={"whenCanPreempt": policy},
        preemption={"withinClusterQueue": "LowerPriority"},
    )
    jobs = [
        on("left", job("low", 0, 2000, priorityClass="low")),
        on("left", job("high", 500, 600, priorityClass="high")),
        on("left", job("next", 501, 600, priorityClass="high")),
    ]
    events = replay(binary, two_pools(jobs, queues))
    assert only(events, "evicted", job="low")["by"] == "high"
    assert events[-1]["jobs"] == {"submitted": 3, "finished": 3, "running": 0, "pending": 0, "refused": 0}


def test_two_queues_that_reclaim_at_one_moment_let_time_pass(binary: Path) -> None:
    # While the victims end, each of the two gets the other's message in turn: the cycles had no end (2026-11-25).
    fields: dict[str, Any] = {
        "flavors": SIDES,
        "cohortName": "org",
        "preemption": {"reclaimWithinCohort": "Any"},
        "flavorFungibility": {"whenCanPreempt": "Preempt", "whenCanBorrow": "MayStopSearch"},
    }
    queues = [manifest("Cohort", "org"), *(one for name in ("one", "two", "three") for one in queue(name, 8, **fields))]
    jobs = [job(f"borrower-{number}", number, 5000, queue="three") for number in range(6)]
    jobs += [job(name, 1000, 600, queue=name) for name in ("one", "two")]
    given = two_pools(jobs, queues, configuration={**FAIR, "fairSharing": {}}, until=3000, maxWallSeconds=20)
    events = replay(binary, given)
    assert [times(events, "running", name) for name in ("one", "two")] == [[1030], [1030]]
    assert events[-1]["reason"] == "until"


def test_a_job_that_no_flavor_could_ever_run_is_refused_while_another_resource_is_used(binary: Path) -> None:
    # Kueue's message also has a clause about the GPUs that the first one has: those become free, the CPUs never.
    first, second = on("left", job("first", 0, 600)), on("left", job("second", 10, 60))
    second["podSets"][0]["requests"]["cpu"] = "1001"
    events = replay(binary, two_pools([first, second], queue("default", 8, flavors=SIDES)))
    message = only(events, "refused", job="second")["message"]
    assert "> maximum capacity (1k)" in message
    assert "flavor right doesn't match node affinity" in message


def test_what_a_cohort_lends_counts_before_a_job_is_refused(binary: Path) -> None:
    fields: dict[str, Any] = {"flavors": SIDES, "cohortName": "org"}
    queues = [manifest("Cohort", "org"), *queue("one", 8, **fields), *queue("two", 8, **fields)]
    jobs = [
        on("left", job("owner", 0, 600, queue="two")),
        on("left", job("borrower", 1, 60, queue="one", count=2)),
        on("left", job("giant", 2, 60, queue="one", count=3)),
    ]
    events = replay(binary, two_pools(jobs, queues))
    assert times(events, "finished", "borrower")
    assert "maximum capacity (16)" in only(events, "refused")["message"]
    assert only(events, "refused")["job"] == "giant"


def test_a_refused_job_that_runs_after_all_counts_once(binary: Path) -> None:
    # No node on the left holds it; its second admission is to the right, because the left is taken by then.
    ready = {"waitForPodsReady": {"timeout": "300s", "requeuingStrategy": {"backoffBaseSeconds": 1}}}
    large = job("large", 0, 600)
    jobs = [large, *(on("left", job(f"small-{number}", 1, 900, gpus=4)) for number in range(2))]
    jobs.append(on("right", job("last", 9000, 60)))
    given = two_pools(jobs, queue("default", 8, flavors=SIDES), configuration={**FAIR, **ready})
    given["pools"][0]["offerings"][0]["allocatable"][GPU] = "4"
    events = replay(binary, given)
    assert only(events, "refused")["job"] == "large"
    assert [node["t"] for node in events if node["kind"] == "node" and node["pool"] == "right"]
    assert times(events, "finished", "last")
    assert events[-1]["jobs"] == {"submitted": 4, "finished": 3, "running": 0, "pending": 0, "refused": 1}


def test_a_job_that_fits_no_node_of_any_pool_is_refused_in_the_schedulers_words(binary: Path) -> None:
    events = replay(binary, document([job("a", 0, 60, gpus=16)], objects=queue("default", 64)))
    assert "0/1 nodes are available: 1 Insufficient nvidia.com/gpu" in only(events, "refused", job="a")["message"]


def test_taints_and_selectors_choose_the_pool(binary: Path) -> None:
    tainted = pool(name="a-cheap", taints=[{"key": "reserved", "value": "true", "effect": "NoSchedule"}])
    tainted["offerings"][0]["usdPerHour"] = 1
    other = pool(name="b-other", labels={"tier": "other"})
    events = replay(binary, document([job("a", 0, 60)], pools=[tainted, other]))
    assert only(events, "node", state="launched")["pool"] == "b-other"


def test_the_back_off_of_jobs_whose_nodes_come_late_is_the_same_each_time(binary: Path) -> None:
    ready = {"waitForPodsReady": {"timeout": "100s", "requeuingStrategy": {"backoffBaseSeconds": 60}}}
    late = document([job("a", 0, 60)], configuration={**FAIR, **ready})
    events, again = replay(binary, late), replay(binary, late)
    assert only(events, "evicted", t=100)["reason"] == "PodsReadyTimeout"
    assert times(events, "finished", "a")
    assert events[:-1] == again[:-1]


def test_a_job_that_kueue_gives_up_names_the_pool_that_had_no_node_for_it(binary: Path) -> None:
    again = {"backoffBaseSeconds": 1, "backoffLimitCount": 1}
    ready = {"waitForPodsReady": {"timeout": "300s", "requeuingStrategy": again}}
    jobs = [job("owner", 0, 9000), job("late", 1, 60)]
    pools = [pool(limits={GPU: "8"})]
    given = document(jobs, objects=queue("default", 16), pools=pools, configuration={**FAIR, **ready})
    message = only(replay(binary, given), "refused", job="late")["message"]
    assert message.startswith("pool gpu would exceed its limit of 8 nvidia.com/gpu: The workload is deactivated ")


def test_two_replays_of_one_input_write_the_same_bytes(binary: Path) -> None:
    fields: dict[str, Any] = {
        "cohortName": "org",
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
    }
    objects = [*PRIORITIES, *queue("one", 16, **fields), *queue("two", 16, **fields)]
    jobs = [
        job(
            f"j{number}",
            float(number // 4 * 100),
            300.0 + number % 7 * 100,
            gpus=1 << number % 4,
            queue=("one", "two")[number % 2],
            priorityClass=("low", "high")[number % 3 == 0],
        )
        for number in range(80)
    ]

    def text() -> str:
        events = replay(binary, document(jobs, objects=objects))
        events[-1]["wallSeconds"] = 0
        return "\n".join(json.dumps(event) for event in events)

    first = text()
    assert '"evicted"' in first
    assert text() == first


def test_the_end_of_the_time_cuts_what_runs(binary: Path) -> None:
    events = replay(binary, document([job("a", 0, 600)], until=300))
    assert (events[-1]["t"], events[-1]["cut"], events[-1]["reason"]) == (300, False, "until")
    assert events[-1]["jobs"]["running"] == 1


def endless() -> dict[str, Any]:
    """A million years of one pod each second on a pool of one node."""
    jobs = [job(f"j{number}", number, 1e9, gpus=1) for number in range(3000)]
    return document(jobs, objects=queue("default", 100_000), pools=[pool(max=1000)])


def test_a_replay_that_takes_too_long_says_what_is_known(binary: Path) -> None:
    events = replay(binary, {**endless(), "maxWallSeconds": 0.2})
    assert (events[-1]["cut"], events[-1]["reason"]) == (True, "wall time")


def test_an_interrupt_ends_with_what_is_known(binary: Path) -> None:
    stream = engine.run(endless(), say=lambda _line: None, binary=binary)
    next(stream)
    events = [stream.throw(KeyboardInterrupt), *stream]
    assert (events[-1]["kind"], events[-1]["cut"], events[-1]["reason"]) == ("summary", True, "signal")


def test_sigterm_ends_an_engine_that_computes(binary: Path, tmp_path: Path) -> None:
    source = tmp_path / "input.json"
    source.write_text(json.dumps(endless()))
    with (
        source.open() as given,
        subprocess.Popen([binary], stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        assert process.stdout is not None
        assert "jobs" in json.loads(process.stderr.readline())  # it computes
        process.send_signal(signal.SIGTERM)
        summary = json.loads(process.stdout.readlines()[-1])
        assert process.wait() == 0
    assert (summary["kind"], summary["cut"], summary["reason"]) == ("summary", True, "signal")


def test_a_closed_stream_ends_the_engine(binary: Path) -> None:
    stream = engine.run(endless(), say=lambda _line: None, binary=binary)
    next(stream)
    stream.close()


def test_a_wrong_input_is_refused_with_its_place(binary: Path) -> None:
    with pytest.raises(SlipwayError, match=r"refuses its input: input: jobs\[0\] \(a\): .* the duration not positive"):
        replay(binary, document([job("a", 0, 0)]))
    with pytest.raises(SlipwayError, match=r'kueue.objects\[1\]: .*unknown field "spec.nominalQuota"'):
        replay(binary, document([job("a", 0, 1)], objects=[manifest("ClusterQueue", "x", {"nominalQuota": 1})]))
    with pytest.raises(SlipwayError, match=r"input: cluster\.scheduler: "):
        replay(binary, document([job("a", 0, 1)], cluster={"objects": [], "scheduler": {"kind": "Pod"}}))


@pytest.mark.parametrize(
    ("script", "words"),
    [("echo cause >&2; exit 3", r"ended with code 3 without a summary\n    \| cause"), ("kill -9 $$", "by signal 9")],
)
def test_an_engine_that_fails_is_an_error_with_its_cause(tmp_path: Path, script: str, words: str) -> None:
    fake = tmp_path / "replay"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(SlipwayError, match=words):
        replay(fake, document([job("a", 0, 1)]))


def test_progress_is_said_in_words() -> None:
    line = (
        '{"t":86400,"wallSeconds":3,"of":1000,"jobs":{"submitted":5,"finished":3,"running":1,"pending":1,"refused":0}}'
    )
    assert engine.progress(line) == "day 1.0: 3 of 1,000 jobs finished, 1 running, 1 pending"
    assert engine.progress("panic: anything") is None


# From the command to the page.


@pytest.mark.usefixtures("binary")
def test_a_trace_on_dev_is_decided_by_upstream(tmp_path: Path, slipway: Slipway) -> None:
    path, out = tmp_path / "jobs.csv", tmp_path / "out"
    path.write_text(TRACE.replace("3600,2,4", "3600,3,4"))
    shown = slipway("replay dev --trace", path, "--out", out).out
    decided = "kueue: v0.19.2, patched for speed; scheduler: v1.36.3; karpenter: v1.14.1; nodes: model, "
    assert decided in " ".join(shown.split())
    found = json.loads((out / "replay.json").read_text())
    assert found["jobs"] == {"submitted": 5, "finished": 4, "running": 0, "pending": 0, "refused": 1}
    assert (found["cut"], found["cutBy"]) == (False, "")
    # The sweep waits for the training job's GPUs: 151 s for its nodes, an hour, and a second until Kueue looks again.
    longest = found["longest"][0]
    assert (longest["job"], longest["waited"], longest["layer"]) == ("sweep", 151 + 3600 + 1 - 120, "queue")
    assert longest["why"].startswith("job/sweep waits in its queue")
    pools = {one["name"]: one for one in found["pools"]}
    assert pools["h100"]["mostNodes"] == 3
    assert pools["h100"]["gpuHoursBusy"] == pytest.approx((3 * 3600 + 600) / 3600, rel=1e-3)
    assert 0 < pools["h100"]["idleUsd"] < pools["h100"]["usd"]
