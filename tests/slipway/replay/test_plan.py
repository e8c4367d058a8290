"""A trace on a stack: which pool, team, queue and request a job gets, and what the engine is given of the stack."""

from typing import Any

import pytest

from slipway.render.program import record_platform
from slipway.replay import plan
from slipway.replay.jobs import Job, Trace
from slipway.replay.places import NoPlaceError, find, memory_of, places
from slipway.replay.plan import Options, checkpointed, make, priority_of, teams_for
from slipway.replay.text import tables
from spec.catalog import gpus
from spec.catalog.kubernetes import scheduler_configuration
from spec.errors import SlipwayError
from spec.settings import load, read_stack
from spec.settings.teams import PriorityName
from tests.slipway.replay.examples import TRACE, planned
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, platform_of, recorded

CASES = beside(__file__)
GPU = "nvidia.com/gpu"


def job(**more: Any) -> Job:
    types = tuple(more.pop("gpu_types", ()))
    return Job(**{"name": "j", "submitted": 0.0, "duration": 60.0, "gpu_millis": 1000, "gpu_types": types, **more})


@pytest.mark.parametrize(("stack", "team", "one", "pool", "pinned", "device"), CASES["a job gets a pool"])
def test_a_job_gets_a_pool_with_its_gpus(
    stack: str, team: str, one: dict[str, Any], pool: str, pinned: bool, device: dict[str, str]
) -> None:
    fit = find(job(**one), team, places(platform_of(stack)), {})
    assert (fit.place.name, [one.name for one in fit.among]) == (pool, [pool] if pinned else [])
    assert {name: amount for name, amount in fit.requests.items() if name.startswith(gpus.DEVICES)} == device


@pytest.mark.parametrize(("stack", "team", "one", "why"), CASES["a job can not run"])
def test_a_job_that_can_not_run_is_refused_with_the_reason(
    stack: str, team: str, one: dict[str, Any], why: str
) -> None:
    with pytest.raises(NoPlaceError) as refused:
        find(job(**one), team, places(platform_of(stack)), {})
    assert why in str(refused.value)


def test_a_gpu_type_is_translated_and_the_substitute_is_said() -> None:
    every = places(platform_of("prod"))
    assert find(job(gpu_types=("TPUv5",)), "vision", every, {"TPUv5": "H100"}).place.name == "h100"
    assert find(job(gpu_types=("T4",)), "vision", every, {}).notes == ("GPU type T4 runs on L4",)
    either = find(job(gpu_types=("V100M32", "T4")), "vision", every, {})
    assert either.notes == ("GPU type V100M32|T4 runs on L4",)  # the less of their memory will do
    assert find(job(gpu_types=("G2",)), "vision", every, {}).notes == ()


def test_a_job_may_run_in_each_pool_with_its_gpus() -> None:
    platform = load(read_stack("thousand", FOLDER.parent / "examples/stacks"), stack="thousand", today=TODAY).platform
    fit = find(job(gpu_types=("L4",)), "vision", places(platform), {})
    assert [one.name for one in fit.among] == ["l4-a", "l4-d", "l4-f"]
    jobs = Trace(jobs=(job(gpu_types=("L4",), team="vision"),), format="csv")
    document = make(jobs, platform, record_platform(platform, stack="thousand"), Options()).document
    ((pods,),) = (one["podSets"] for one in document["jobs"])
    (term,) = pods["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["l4-a", "l4-d", "l4-f"]
    assert pods["nodeSelector"] == {}
    assert [one.get("value") for one in pods["tolerations"]] == [None, "true", "l4-a", "l4-d", "l4-f"]


def test_every_type_of_the_table_is_unknown_to_the_catalog_and_has_a_size() -> None:
    assert {name: memory_of(name) for name in tables()["gpus"] if memory_of(name) is None} == {}
    assert memory_of("H100") == gpus.get("H100-80GB").memory_mib
    assert memory_of("NVIDIA-A100-SXM4-80GB") == gpus.get("A100-80GB").memory_mib
    assert memory_of("A10") == 24 * 1024 * 9 // 10


# As NVML, Slurm's gres and GPU feature discovery write them.
WRITTEN = [
    ("nvidia_h100_80gb_hbm3", "H100-80GB"), ("a100_80", "A100-80GB"), ("nvidia_a100-sxm4-40gb_3g.20gb", "A100-40GB"),
    ("NVIDIA-A100-PCIE-80GB", "A100-80GB"), ("Tesla-T4", "T4"), ("tesla_v100-sxm2-32gb", 32), ("h100-96", 96),
    ("nvidia_geforce_rtx_2080_ti", 11), ("geforce_rtx_3090", 24), ("NVIDIA RTX A6000", 48), ("rtx6000", 24),
    ("NVIDIA RTX 6000 Ada Generation", 48), ("1g.10gb", 10), ("nvidia_gh200", 96), ("a100_3g.20gb", "A100-40GB"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "means"), WRITTEN)
def test_a_gpu_is_known_by_the_names_that_clusters_record(word: str, means: str | int) -> None:
    assert memory_of(word) == (gpus.get(means).memory_mib if isinstance(means, str) else means * 1024 * 9 // 10)


def test_a_pod_larger_than_its_node_gets_the_part_of_its_gpus() -> None:
    every = places(platform_of("prod"))
    fit = find(job(gpu_types=("L4",), cpu_millis=90_000, memory_mib=8 * 2**20), "vision", every, {})
    assert fit.notes == ("asks for more CPU or memory than a node has, and gets that of its GPUs",)
    assert fit.requests["cpu"] == f"{fit.place.cpu_millis}m"


def test_a_whole_gpu_becomes_a_part_only_where_the_team_has_nothing_else() -> None:
    fit = find(job(), "recommender", places(platform_of("dev")), {})
    assert (fit.place.name, float(fit.gpus)) == ("gpu-spot", 0.25)
    assert fit.notes == (
        "asks for a whole GPU and gets a part, because its team has a share of partitioned GPUs alone",
    )


def test_the_jobs_of_a_trace_keep_team_class_and_time() -> None:
    found = planned()
    assert [one.refused for one in found.jobs.values() if one.refused] == [
        "the stack has no GPU with the memory of B200, 179 GiB"
    ]
    documents = {one["name"]: one for one in found.document["jobs"]}
    assert list(documents) == ["j000001", "j000002", "j000003", "j000004"]
    train = documents["j000001"]
    assert (train["namespace"], train["queue"], train["priorityClass"]) == (
        "language",
        "default",
        "production-training",
    )
    (pods,) = train["podSets"]
    assert (pods["count"], pods["requests"]) == (2, {"cpu": "4", "memory": "32Gi", GPU: "1"})
    assert pods["nodeSelector"] == {}, "the team has no other pool with whole GPUs"
    assert {"key": GPU, "operator": "Exists"} in pods["tolerations"]
    assert documents["j000004"]["podSets"][0]["nodeSelector"] == {"platform.slipway/pool": "cpu"}
    assert found.teams == {"research": documents["j000004"]["team"]}
    assert found.notes == ()


def test_a_job_with_a_mig_instance_tolerates_the_taint_of_gpu_nodes() -> None:
    trace = "job,team,submitted,duration,gpus\na,vision,0,9,0.25\n"
    (one,) = planned(trace, "prod").document["jobs"]
    (pods,) = one["podSets"]
    assert "nvidia.com/mig-2g.20gb" in pods["requests"]
    assert {"key": GPU, "operator": "Exists"} in pods["tolerations"]


def test_checkpoints_are_for_jobs_that_keep_something_and_of_which_the_trace_says_nothing() -> None:
    kinds = ("training", "experiment", "a word of its own", "interactive", "notebook", "inference")
    jobs = [job(name=kind, kind=kind) for kind in kinds] + [job(name="often", kind="training", checkpoint=60)]
    found = checkpointed(Trace(jobs=jobs, format="csv"), 1800)
    every = {one.name: one.checkpoint for one in found.jobs}
    assert every == {**dict.fromkeys(kinds[:3], 1800), **dict.fromkeys(kinds[3:]), "often": 60}
    assert found.notes == ("3 jobs keep their work up to a checkpoint after each 30 minutes",)


def test_the_engine_gets_checkpoints() -> None:
    trace = "job,team,submitted,duration,gpus,checkpoint\na,vision,0,9000,1,1800\nb,vision,0,9,1,\n"
    assert [one["checkpointEvery"] for one in planned(trace, "prod").document["jobs"]] == [1800, None]


def test_namespaces_follow_the_class() -> None:
    trace = "job,team,class,submitted,duration,gpus\na,vision,inference,0,9,1\nb,vision,training,0,9,1\n"
    found = planned(trace, "prod")
    assert [one["namespace"] for one in found.document["jobs"]] == ["vision-serving", "vision-training"]


def test_the_engine_gets_the_pools_and_queues_of_the_stack() -> None:
    document = planned(stack="prod").document
    pools = {one["name"]: one for one in document["pools"]}
    assert list(pools) == ["cpu", "gpu-spot", "a100", "h100"]
    assert (pools["h100"]["scaler"], pools["h100"]["min"], pools["h100"]["max"]) == ("static", 4, 4)
    assert pools["a100"]["scaler"] == "clusterAutoscaler"
    spot = pools["gpu-spot"]
    assert (spot["scaler"], spot["max"], spot["limits"]["nodes"]) == ("karpenter", 24, "24")
    assert {one["zone"] for one in spot["offerings"]} == {"us-east-1a", "us-east-1b", "us-east-1c"}
    (block,) = pools["h100"]["offerings"]
    assert (block["usdPerHour"], block["capacityType"], block["zone"]) == (39.33, "reserved", "us-east-1b")
    assert block["allocatable"][GPU] == "8"
    assert all(one["usdPerHour"] > 0 for pool in pools.values() for one in pool["offerings"])
    kinds = {one["kind"] for one in document["kueue"]["objects"]}
    assert {"ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "WorkloadPriorityClass"} <= kinds
    assert document["kueue"]["configuration"]["kind"] == "Configuration"
    assert {one["kind"] for one in document["cluster"]["objects"]} >= {"PriorityClass", "Namespace", "NodePool"}


def test_the_engine_ranks_nodes_as_the_cluster_does() -> None:
    assert planned(stack="dev").document["cluster"]["scheduler"] == scheduler_configuration({})
    shipped, trace = platform_of("dev"), Trace(jobs=(job(),), format="csv")
    cluster = shipped.cluster.model_copy(update={"scoring_strategy": "MostAllocated"})
    platform = shipped.model_copy(update={"cluster": cluster})
    found = make(trace, platform, record_platform(platform, stack="dev"), Options()).document["cluster"]["scheduler"]
    ((fit,),) = (profile["pluginConfig"] for profile in found["profiles"])
    weights = [{"name": GPU, "weight": 10}, {"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    assert fit["args"] == {"scoringStrategy": {"type": "MostAllocated", "resources": weights}}


def test_nodes_of_a_pool_with_a_topology_have_all_its_levels() -> None:
    """Kueue sees no node that lacks one: nothing would be admitted to the pool."""
    shipped, trace = platform_of("prod"), Trace(jobs=(job(),), format="csv")
    queues = shipped.queues.model_copy(update={"topology": True})
    platform = shipped.model_copy(update={"queues": queues})
    document = make(trace, platform, record_platform(platform, stack="prod"), Options()).document
    (topology,) = [one for one in document["kueue"]["objects"] if one["kind"] == "Topology"]
    levels = {level["nodeLabel"] for level in topology["spec"]["levels"]} - {"kubernetes.io/hostname"}
    (pool,) = [one for one in document["pools"] if one["name"] == topology["metadata"]["name"]]
    assert levels
    assert all(levels <= offering["labels"].keys() for offering in pool["offerings"])


def test_an_ampere_gpu_that_is_partitioned_takes_a_reboot_longer() -> None:
    pools = {one["name"]: one["launchSeconds"] for one in planned(stack="prod").document["pools"]}
    assert pools == {"a100": 270, "h100": 150, "gpu-spot": 150, "cpu": 60}
    given = planned(stack="prod", options=Options(launch_seconds=7)).document["pools"]
    assert {one["launchSeconds"] for one in given} == {7}


def test_unknown_teams_are_spread_by_their_hash() -> None:
    platform = platform_of("prod")
    assert teams_for("vision", platform) == ["vision"]
    orders = {word: teams_for(word, platform) for word in ("a", "b", "c", "d", "e", "f", "g")}
    assert {tuple(sorted(order)) for order in orders.values()} == {("language", "recommender", "vision")}
    assert {order[0] for order in orders.values()} == {"language", "recommender", "vision"}


def test_classes_become_priorities_that_the_team_may_use() -> None:
    every = [str(name) for name in PriorityName]
    assert {str(tables()["classes"][word]) for word in tables()["classes"]} <= set(every)
    assert priority_of("Inference", every) == "production-inference"
    assert priority_of("interactive", every) == "interactive"
    assert priority_of("no such word", every) == "experiment"
    assert priority_of("inference", ["experiment"]) == "experiment"


def test_a_stack_without_queues_is_refused() -> None:
    platform = platform_of("dev")
    without = platform.model_copy(update={"addons": platform.addons.model_copy(update={"kueue": None})})
    trace = Trace(jobs=(job(),), format="csv")
    with pytest.raises(SlipwayError, match="replay needs queues"):
        plan.make(trace, without, recorded("dev"), Options())


def test_two_plans_of_a_trace_are_equal() -> None:
    assert planned(TRACE).document == planned(TRACE).document
