"""Everything that would fail later is refused, in one error that says where, why and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.workloads import (
    Canary,
    Claim,
    Resources,
    Scratch,
    Step,
    WorkloadManifests,
    WorkloadRefused,
    distributed_training,
    model_deployment,
    model_server,
    notebook,
    pipeline,
    sweep,
    training_job,
)
from spec.settings.addons.batch import Kueue
from tests.components.workloads.samples import (
    CPU,
    DEPLOYMENT,
    DISTRIBUTED,
    GOOD,
    NODE,
    NOTEBOOK,
    PIPELINE,
    SERVER,
    SLICE,
    SPOT,
    SWEEP,
    TARGET,
    TRAINING,
)

UNQUEUED = replace(TARGET, queue=None)
BARE = replace(TARGET, addons=frozenset({Kueue}))
POOR = replace(TARGET, shares={"cpu": 8, "slices": 1})


def job(**pod: Any) -> Callable[[], WorkloadManifests]:
    """A training job whose pod differs."""
    return lambda: training_job("mnist", replace(TRAINING, pod=replace(SPOT, **pod)))


def sized(**resources: Any) -> Callable[[], WorkloadManifests]:
    """A training job that asks for something else."""
    return job(resources=replace(SPOT.resources, **resources))


def training(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: training_job("mnist", replace(TRAINING, **args))


def trials(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: sweep("grid", replace(SWEEP, **args))


def distributed(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: distributed_training("llm", replace(DISTRIBUTED, **args))


def node(**pod: Any) -> Callable[[], WorkloadManifests]:
    return distributed(pod=replace(NODE, **pod))


def deployed(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: model_deployment("chat", replace(DEPLOYMENT, **args))


def scaled(**scaling: Any) -> Callable[[], WorkloadManifests]:
    return deployed(autoscaling=replace(DEPLOYMENT.autoscaling, **scaling))


def served(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: model_server("chat", replace(SERVER, **args))


def piped(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: pipeline("weekly", replace(PIPELINE, **args))


def lab(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: notebook("lab", replace(NOTEBOOK, **args))


CANARY = Canary(storage_uri="s3://models/research/v2", percent=10)

REFUSED: dict[str, tuple[Callable[[], WorkloadManifests], str, str]] = {
    # A job without bounds.
    "no deadline": (training(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a deadline of a month": (training(deadline_seconds=30 * 86400), "deadline_seconds", "From 60 to 1209600"),
    "no time to live": (training(ttl_seconds=None), "ttl_seconds", "must be bounded"),
    "no retries": (training(retries=None), "retries", "must be bounded"),
    "a sweep without a deadline": (trials(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a distributed job without a deadline": (distributed(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a pipeline without a deadline": (piped(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "an endless session": (lab(longest_seconds=None), "deadline_seconds", "must be bounded"),
    "a TrainJob with a time to live": (distributed(ttl_seconds=60), "ttl_seconds", "train again"),
    "more at once than in all": (training(parallelism=2), "parallelism", "from 1 to 1"),
    "an exit code that is success": (training(fatal_exit_codes=(0,)), "fatal_exit_codes", "from 1 to 255"),
    "nobody starts it": (training(target=UNQUEUED), "suspend", "has no queue"),
    # A pod that no pool can hold.
    "an unknown pool": (job(pools=("a10",)), "pod.pools", "one of the platform's"),
    "the system's pool": (job(pools=("system",), resources=CPU.resources), "pod.pools", "for controllers"),
    "more GPUs than a node has": (sized(gpus=2), "pod.resources[nvidia.com/gpu]", "a node of pool spot has 1"),
    "more processors than the largest": (sized(cpu="64"), "pod.resources[cpu]", "leaves 31.35 of cpu to pods"),
    "all memory of the machine": (sized(memory="128Gi"), "pod.resources[memory]", "leaves 115.9 GiB of memory"),
    "a pool that can hold it and one that can't": (
        job(pools=("spot", "slices")),
        "pod.resources[nvidia.com/gpu]",
        "cut by MIG",
    ),
    "a GPU on a CPU pool": (job(pools=("cpu",)), "pod.resources[nvidia.com/gpu]", "offers none of it"),
    "a whole GPU of a cut one": (job(pools=("slices",)), "pod.resources[nvidia.com/gpu]", "cut by MIG"),
    "a slice of another size": (
        deployed(pod=replace(SLICE, resources=Resources(cpu="1", memory="8Gi", mig={"3g.20gb": 1}))),
        "pod.resources[nvidia.com/mig-3g.20gb]",
        "has no such slice",
    ),
    "a slice and a whole GPU": (sized(mig={"2g.10gb": 1}), "pod.resources", "whole GPUs or slices"),
    "two shares of a GPU": (
        lab(pod=replace(NOTEBOOK.pod, resources=Resources(cpu="1", memory="8Gi", gpus=2))),
        "pod.resources[nvidia.com/gpu]",
        "two shares are no more than one",
    ),
    "more EFA than a node has": (
        node(resources=replace(NODE.resources, efa=33)),
        "pod.resources[vpc.amazonaws.com/efa]",
        "a node of pool block has 32",
    ),
    "EFA where there is none": (sized(efa=1), "pod.resources[vpc.amazonaws.com/efa]", "offers none of it"),
    "huge pages where there are none": (sized(efa=1), "pod.resources[hugepages-2Mi]", "only nodes with EFA"),
    "more nodes than the pool": (distributed(nodes=5), "pod", "block (max 4) hold 4 of them"),
    "more trials at once than the pool": (
        trials(trials=[{"lr": 1}] * 9, at_once=9),
        "pod",
        "hold 4 of them",
    ),
    "more replicas than slices": (scaled(max_replicas=60), "pod", "slices (max 2) hold 48 of them"),
    "more space than the node": (
        job(volumes={**SPOT.volumes, "big": Scratch(path="/big", size="9000Gi")}),
        "pod.volumes",
        "GiB of space for scratch",
    ),
    # What the team may have.
    "a pool that the team has no share of": (training(target=POOR), "pod.pools", "must have a share"),
    "more than the team's share": (
        deployed(target=POOR),
        "pod",
        "1 of slices has room for 3",
    ),
    # Amounts.
    "no quantity": (sized(memory="much"), "pod.containers.train.resources[memory]", "a quantity of Kubernetes"),
    "a limit below the request": (
        sized(cpu_limit="1"),
        "pod.containers.train.resources[cpu]",
        "at most the limit",
    ),
    "shared memory of all memory": (job(shared_memory="12Gi"), "pod.shared_memory", "counts against the memory"),
    "64 MiB for eight GPUs": (node(shared_memory=None), "pod.shared_memory", "64 MiB"),
    # Work that AWS may stop.
    "spot without checkpoints": (job(volumes={}), "pod.volumes", "must write to a volume claim"),
    "spot with checkpoints it can't write": (
        job(volumes={"c": Claim(claim="checkpoints", path="/c", read_only=True)}),
        "pod.volumes",
        "must write to a volume claim",
    ),
    "spot with ten minutes to end": (job(grace_seconds=600), "pod.grace_seconds", "gone 120 s after"),
    "a spot step without checkpoints": (
        piped(steps={"train": Step(pod=replace(SPOT, volumes={}))}),
        "steps.train.pod.volumes",
        "must write to a volume claim",
    ),
    # What runs.
    "latest": (job(image="pytorch/pytorch:latest"), "pod.containers.train.image", "pinned"),
    "no tag": (job(image="registry.example.com:5000/train"), "pod.containers.train.image", "pinned"),
    "root": (job(user=0), "pod.user", "no workload runs as root"),
    "an unknown priority": (training(priority="urgent"), "pod.priority", "a priority of the platform"),
    "no command": (node(command=()), "pod.command", "must have a command"),
    "a name with a capital": (lambda: training_job("Mnist", TRAINING), "name", "lower-case"),
    "a name that is too long": (lambda: training_job("m" * 46, TRAINING), "name", "at most 45"),
    # Nodes that don't reach each other.
    "EFA left unused": (node(resources=replace(NODE.resources, efa=0)), "pod.resources.efa", "NCCL goes over TCP"),
    "more processes than GPUs": (distributed(processes=9), "processes", "a GPU of its own"),
    "slices that should talk": (
        distributed(pod=replace(SLICE, volumes=SPOT.volumes)),
        "pod.resources.mig",
        "no way to each other",
    ),
    "a kind that nobody serves": (distributed(target=BARE), "kind", "needs the add-on trainer"),
    # Serving.
    "a canary of all": (served(canary=replace(CANARY, percent=100)), "canary.percent", "from 1 to 99"),
    "a canary of nothing": (served(canary=replace(CANARY, percent=0)), "canary.percent", "from 1 to 99"),
    "a canary out of nowhere": (
        served(canary=replace(CANARY, storage_uri="/models/v2")),
        "canary.storage_uri",
        "s3://BUCKET/FOLDER",
    ),
    "no replica": (served(replicas=0), "replicas", "from 1 to 100"),
    "fewer at most than at least": (scaled(min_replicas=8, max_replicas=4), "autoscaling.min_replicas", "from 1 to"),
    "scaling by nothing": (scaled(gpu_percent=None, waiting=None), "autoscaling", "must follow something"),
    "KEDA that is not there": (deployed(target=BARE), "kind", "needs the add-on keda"),
    "KServe that is not there": (served(target=BARE), "kind", "needs the add-on kserve"),
    "Knative that is not there": (served(target=BARE, mode="Knative"), "kind", "needs the add-on knative"),
    "a runtime that is not there": (
        served(target=replace(TARGET, runtimes=frozenset({"triton"})), runtime="vllm", canary=None),
        "runtime",
        "one of the platform's",
    ),
    "scaling by unknown metrics": (
        served(runtime="vllm", canary=None, autoscaling=DEPLOYMENT.autoscaling),
        "autoscaling",
        "its metrics are known",
    ),
    "a port behind the policy": (deployed(port=5000), "port", "network policies"),
    "a namespace behind the policy": (deployed(target=replace(TARGET, open=False)), "namespace", "for serving only"),
    "a health path without a slash": (deployed(health_path="health"), "health_path", "begins with /"),
    "a day to load": (deployed(load_seconds=86400), "load_seconds", "from 10 to 7200"),
    "an address that is too long": (
        lambda: model_server("m" * 45, replace(SERVER, target=replace(TARGET, namespace="n" * 30))),
        "name",
        "the first part of its address",
    ),
    # Pipelines.
    "a step that is not there": (
        piped(steps={"train": Step(pod=SPOT, after=("prepare",))}),
        "steps.train.after",
        "must be a step",
    ),
    "steps in a circle": (
        piped(steps={"a": Step(pod=CPU, after=("b",)), "b": Step(pod=CPU, after=("a",))}),
        "steps",
        "wait for itself",
    ),
    "no steps": (piped(steps={}), "steps", "from 1 to 100"),
    "a schedule of six fields": (piped(schedule="0 0 3 * * *"), "schedule", "five fields"),
    "Argo that is not there": (piped(target=BARE), "kind", "needs the add-on argoWorkflows"),
    # Notebooks.
    "a command that never ends": (lab(pod=replace(NOTEBOOK.pod, command=("sleep",))), "pod.command", "Jupyter's own"),
    "no idle time": (lab(idle_seconds=0), "idle_seconds", "from 600 to"),
    "a disk of no size": (lab(home_size="big"), "home_size", "a quantity of Kubernetes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_where_it_is_wrong_and_with_a_way_out(name: str) -> None:
    build, path, rule = REFUSED[name]
    with pytest.raises(WorkloadRefused) as refused:
        build()
    found = [problem for problem in refused.value.problems if problem.path == path and rule in problem.rule]
    assert found, str(refused.value)
    assert found[0].fix.endswith(".")


@pytest.mark.parametrize("name", GOOD)
def test_a_good_one_of_each_kind_is_taken(name: str) -> None:
    assert GOOD[name]()


def test_all_problems_come_at_once_and_end_a_program_without_a_traceback() -> None:
    with pytest.raises(pulumi.RunError) as refused:
        training_job("Mnist", replace(TRAINING, deadline_seconds=None, pod=replace(SPOT, user=0, volumes={})))
    text = str(refused.value)
    assert text.startswith("TrainingJob Mnist: 4 problems, nothing was changed")
    for path in ("name", "deadline_seconds", "pod.user", "pod.volumes"):
        assert f"\n  - {path}: " in text
