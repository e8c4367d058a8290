"""Invalid workloads are refused with one error that has path, rule, value and fix of every problem."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pulumi
import pytest

from components.addons.kserve.runtimes import named
from components.workloads import (
    VLLM_ERRORS,
    Canary,
    Claim,
    ErrorMetrics,
    Picker,
    Resources,
    Scratch,
    Staged,
    Step,
    WorkloadManifests,
    WorkloadRefused,
    distributed_training,
    model_deployment,
    model_server,
    notebook,
    pipeline,
    pod_problems,
    sweep,
    training_job,
)
from components.workloads.checks.fit import fit_problems, fits_in_share, need
from spec.pools.allocatable import allocatable
from spec.settings.addons.batch import Kueue
from tests.components.workloads import test_ray
from tests.components.workloads.samples import (
    CPU,
    DEPLOYMENT,
    DISTRIBUTED,
    NAMED,
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
IMAGES = Staged(uri="s3://raw/research/images", path="/data", size="8Gi")
PICKER = Picker(pools=("cpu",))
POOR = replace(TARGET, shares={"cpu": 8, "slices": 1})


def job(**pod: Any) -> Callable[[], WorkloadManifests]:
    """A training job with a changed pod."""
    return lambda: training_job("mnist", replace(TRAINING, pod=replace(SPOT, **pod)))


def sized(**resources: Any) -> Callable[[], WorkloadManifests]:
    """A training job with changed resources."""
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


def named_runtime(name: str) -> Callable[[], WorkloadManifests]:
    """A scaled model on a runtime of the platform."""
    return served(target=NAMED.target, runtime=name, canary=None, autoscaling=NAMED.autoscaling)


def scaled(**scaling: Any) -> Callable[[], WorkloadManifests]:
    return deployed(autoscaling=replace(DEPLOYMENT.autoscaling, **scaling))


def served(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: model_server("chat", replace(SERVER, **args))


def piped(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: pipeline("weekly", replace(PIPELINE, **args))


def lab(**args: Any) -> Callable[[], WorkloadManifests]:
    return lambda: notebook("lab", replace(NOTEBOOK, **args))


CANARY = Canary(storage_uri="s3://models/research/v2", percent=10)
WATCHED = replace(CANARY, max_error_percent=5, errors=VLLM_ERRORS)

OCI = "oci+native://registry.example.com/qwen:1.0"


def on_nodes(**pool: Any) -> Callable[[], WorkloadManifests]:
    """A model in an image, on nodes of another version."""
    slices = replace(TARGET.pools["slices"], **pool)
    return served(storage_uri=OCI, canary=None, target=replace(TARGET, pools={**TARGET.pools, "slices": slices}))


REFUSED: dict[str, tuple[Callable[[], WorkloadManifests], str, str]] = {
    # Unbounded jobs.
    "no deadline": (training(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a deadline of a month": (training(deadline_seconds=30 * 86400), "deadline_seconds", "From 60 to 1209600"),
    "longer than the drain of a node": (training(pod=CPU, deadline_seconds=259_200), "deadline_seconds", "of pool cpu"),
    "no TTL": (training(ttl_seconds=None), "ttl_seconds", "must be bounded"),
    "no retries": (training(retries=None), "retries", "must be bounded"),
    "a sweep without a deadline": (trials(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a distributed job without a deadline": (distributed(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "a pipeline without a deadline": (piped(deadline_seconds=None), "deadline_seconds", "must be bounded"),
    "an endless session": (lab(longest_seconds=None), "deadline_seconds", "must be bounded"),
    "a TrainJob with a TTL": (distributed(ttl_seconds=60), "ttl_seconds", "train again"),
    "a parallelism above completions": (training(parallelism=2), "parallelism", "from 1 to 1"),
    "an exit code that is success": (training(fatal_exit_codes=(0,)), "fatal_exit_codes", "from 1 to 255"),
    "suspended without a queue": (training(target=UNQUEUED), "suspend", "has no queue"),
    # Pods that don't fit on a pool.
    "an unknown pool": (job(pools=("a10",)), "pod.pools", "a pool of the platform"),
    "the system's pool": (job(pools=("system",), resources=CPU.resources), "pod.pools", "only for controllers"),
    "more GPUs than a node has": (sized(gpus=2), "pod.resources[nvidia.com/gpu]", "a node of pool spot has 1"),
    "more processors than the largest": (sized(cpu="64"), "pod.resources[cpu]", "has 31.35 of cpu for pods"),
    "all memory of the node": (sized(memory="128Gi"), "pod.resources[memory]", "has 115.9 GiB of memory for pods"),
    "a pool that it fits on and one that it doesn't": (job(pools=("spot", "slices")), "pod.resources[nvidia.com/gpu]",
        "partitioned by MIG"),
    "a GPU on a CPU pool": (job(pools=("cpu",)), "pod.resources[nvidia.com/gpu]", "doesn't offer it"),
    "a whole GPU of a partitioned one": (job(pools=("slices",)), "pod.resources[nvidia.com/gpu]", "partitioned by MIG"),
    "a slice of another size": (
        deployed(pod=replace(SLICE, resources=Resources(cpu="1", memory="8Gi", mig={"3g.20gb": 1}))),
        "pod.resources[nvidia.com/mig-3g.20gb]", "has no such MIG instance"),
    "a slice and a whole GPU": (sized(mig={"2g.10gb": 1}), "pod.resources", "both GPUs and MIG instances"),
    "two shares of a GPU": (lab(pod=replace(NOTEBOOK.pod, resources=Resources(cpu="1", memory="8Gi", gpus=2))),
        "pod.resources[nvidia.com/gpu]", "a container can use only one share"),
    "more EFA than a node has": (node(resources=replace(NODE.resources, efa=33)),
        "pod.resources[vpc.amazonaws.com/efa]", "a node of pool block has 32"),
    "EFA where there is none": (sized(efa=1), "pod.resources[vpc.amazonaws.com/efa]", "doesn't offer it"),
    "huge pages where there are none": (sized(efa=1), "pod.resources[hugepages-2Mi]", "only nodes with EFA"),
    "more nodes than the pool": (distributed(nodes=5), "pod", "block has at most 4"),
    "more trials at once than the pool": (trials(trials=[{"lr": 1}] * 9, at_once=9), "pod", "spot has at most 4"),
    "more replicas than slices": (scaled(max_replicas=60), "pod", "slices has at most 2"),
    "more ephemeral storage than the node": (job(volumes={**SPOT.volumes, "big": Scratch(path="/big", size="9000Gi")}),
        "pod.volumes", "GiB of disk for ephemeral storage"),
    # The team's share.
    "a pool that the team has no share of": (training(target=POOR), "pod.pools", "must have a share"),
    "more than the team's share": (deployed(target=POOR), "pod", "1 of slices has 3 of nvidia.com/mig-2g.10gb"),
    # Amounts.
    "no quantity": (sized(memory="much"), "pod.containers.train.resources[memory]", "a Kubernetes quantity"),
    "a limit below the request": (sized(cpu_limit="1"), "pod.containers.train.resources[cpu]",
        "must not exceed the limit"),
    "shared memory of all memory": (job(shared_memory="12Gi"), "pod.shared_memory", "counts against the memory"),
    "64 MiB for eight GPUs": (node(shared_memory=None), "pod.shared_memory", "64 MiB"),
    # Spot.
    "spot without checkpoints": (job(volumes={}), "pod.volumes", "must write to a volume claim"),
    "spot with checkpoints it can't write": (job(volumes={"c": Claim(claim="checkpoints", path="/c", read_only=True)}),
        "pod.volumes", "must write to a volume claim"),
    "spot with a grace period of ten minutes": (job(grace_seconds=600), "pod.grace_seconds", "terminated 120 s after"),
    "a spot step without checkpoints": (piped(steps={"train": Step(pod=replace(SPOT, volumes={}))}),
        "steps.train.pod.volumes", "must write to a volume claim"),
    # Image, user, priority, name.
    "latest": (job(image="pytorch/pytorch:latest"), "pod.containers.train.image", "pinned"),
    "no tag": (job(image="registry.example.com:5000/train"), "pod.containers.train.image", "pinned"),
    "root": (job(user=0), "pod.user", "must not run as root"),
    "an unknown priority": (training(priority="urgent"), "pod.priority", "a priority class of the platform"),
    "no command": (node(command=()), "pod.command", "needs a command"),
    "a name with a capital": (lambda: training_job("Mnist", TRAINING), "name", "lowercase"),
    "a name that is too long": (lambda: training_job("m" * 46, TRAINING), "name", "at most 45"),
    # Communication between nodes.
    "EFA left unused": (node(resources=replace(NODE.resources, efa=0)), "pod.resources.efa", "NCCL uses TCP"),
    "more processes than GPUs": (distributed(processes=9), "processes", "a GPU of its own"),
    "distributed training on MIG instances": (distributed(pod=replace(SLICE, volumes=SPOT.volumes)),
        "pod.resources.mig", "communication between MIG instances"),
    "a kind without its add-on": (distributed(target=BARE), "kind", "needs the add-on trainer"),
    "staged from elsewhere": (job(volumes={**SPOT.volumes, "images": replace(IMAGES, uri="/data/images")}),
        "pod.volumes.images.uri", "it must be in S3"),
    "a whole bucket staged": (job(volumes={**SPOT.volumes, "images": replace(IMAGES, uri="s3://raw")}),
        "pod.volumes.images.uri", "it must be in S3"),
    "a registered model without a version": (
        job(volumes={**SPOT.volumes, "images": replace(IMAGES, uri="models:/ranker")}), "pod.volumes.images.uri",
        "has a version or an alias"),
    "a registered model without a registry": (
        training(target=BARE, pod=replace(SPOT, volumes={**SPOT.volumes, "images": replace(
            IMAGES, uri="models:/ranker/1")})), "pod.volumes.images.uri", "need the add-on mlflow"),
    "staged for a runtime": (served(runtime=replace(SLICE, volumes={"images": IMAGES})), "runtime.volumes.images",
        "has no init containers"),
    # Serving.
    "a picker without its add-on": (deployed(picker=PICKER, target=replace(TARGET, addons=frozenset())), "kind",
        "the endpoint picker needs the add-on endpointPicker"),
    "no picker": (deployed(picker=replace(PICKER, replicas=0)), "picker.replicas", "from 1 to 10"),
    "a picker that its pool has no room for": (
        deployed(picker=replace(PICKER, resources=Resources(cpu="500", memory="1Gi"))), "picker.resources[cpu]",
        "has 15.39 of cpu for pods"),
    "a path without a slash": (served(path="v1/chat/completions"), "path", "must begin with /"),
    "a path with Knative": (served(path="/v1/completions", mode="Knative"), "path", "no InferenceGraph"),
    "one path for models of two names": (served(target=NAMED.target, runtime="tensorflow-spot", path="/v1/models/a"),
        "path", "of its own name"),
    "a canary of 100 %": (served(canary=replace(CANARY, percent=100)), "canary.percent", "from 1 to 99"),
    "a canary of 0 %": (served(canary=replace(CANARY, percent=0)), "canary.percent", "from 1 to 99"),
    "a canary that is not in S3": (served(canary=replace(CANARY, storage_uri="/models/v2")), "canary.storage_uri",
        "s3://BUCKET/FOLDER"),
    "a canary without failures": (served(canary=replace(WATCHED, max_error_percent=0)), "canary.max_error_percent",
        "from 0.1 to 99"),
    "counters without a limit": (served(canary=replace(WATCHED, max_error_percent=None)), "canary.errors",
        "only with a limit"),
    "a canary whose failures nobody counts": (served(canary=replace(WATCHED, errors=None)), "canary.max_error_percent",
        "no metric of failed requests of a pod"),
    "failures that a server does not count": (served(target=NAMED.target, runtime="tensorflow-spot",
            canary=replace(WATCHED, errors=None)),
        "canary.max_error_percent", "no metric of failed requests of tensorflow-spot"),
    "a query instead of a counter": (
        served(canary=replace(WATCHED, errors=ErrorMetrics(failed=('rate(a[5m])',), answered=("a",)))),
        "canary.errors.failed", 'name{label="value"}'),
    "no counter": (served(canary=replace(WATCHED, errors=ErrorMetrics(failed=("a",), answered=()))),
        "canary.errors.answered", "1 to 4 counters"),
    "a canary that nothing rolls back": (served(target=replace(TARGET, rolls_back=False), canary=WATCHED),
        "canary.max_error_percent", "rolls no canaries back"),
    "a canary's weight with Knative": (served(mode="Knative", canary=WATCHED), "canary.max_error_percent",
        "no InferenceGraph"),
    "no replica": (served(replicas=0), "replicas", "from 1 to 100"),
    "a minimum above the maximum": (scaled(min_replicas=8, max_replicas=4), "autoscaling.min_replicas", "from 1 to"),
    "autoscaling without a metric": (scaled(gpu_percent=None, waiting=None), "autoscaling", "needs a metric"),
    "no KEDA": (deployed(target=BARE), "kind", "needs the add-on keda"),
    "no KServe": (served(target=BARE), "kind", "needs the add-on kserve"),
    "no Knative": (served(target=BARE, mode="Knative"), "kind", "needs the add-on knative"),
    "a model of Hugging Face": (served(storage_uri="hf://Qwen/Qwen2.5-0.5B"), "storage_uri", "it must be in S3"),
    "a model's image that runs": (served(storage_uri="oci://registry.example.com/qwen:1.0"), "storage_uri",
        "refused by the Pod Security level restricted"),
    "a model's image without a version": (served(canary=replace(CANARY, storage_uri="oci+native://models/qwen")),
        "canary.storage_uri", "pinned"),
    "a model's image on old nodes": (on_nodes(kubernetes="1.34"), "storage_uri", "from Kubernetes 1.35 on"),
    "a model's image on an old AMI": (on_nodes(ami_release="1.35.2-20260318"), "storage_uri", "before 2.2"),
    "an unknown runtime": (served(target=replace(TARGET, runtimes=named({}, ("triton",))), runtime="vllm", canary=None),
        "runtime", "one of the platform's"),
    "autoscaling by unknown metrics": (served(runtime="vllm", canary=None, autoscaling=DEPLOYMENT.autoscaling),
        "autoscaling", "known from the stack file"),
    "autoscaling with Knative": (served(mode="Knative", canary=None, autoscaling=DEPLOYMENT.autoscaling), "autoscaling",
        "Knative scales by requests"),
    "the GPUs of a runtime for CPUs": (named_runtime("triton"), "autoscaling.gpu_percent", "has no GPU"),
    "waiting requests that are not counted": (named_runtime("tensorflow-spot"), "autoscaling.waiting", "no metric of"),
    "a port that network policies block": (deployed(port=5000), "port", "network policies"),
    "a namespace that network policies block": (deployed(target=replace(TARGET, open=False)), "namespace",
        "only in namespaces for serving"),
    "a health path without a slash": (deployed(health_path="health"), "health_path", "must begin with /"),
    "a day to load": (deployed(load_seconds=86400), "load_seconds", "from 10 to 7200"),
    "a host name that is too long": (
        lambda: model_server("m" * 45, replace(SERVER, target=replace(TARGET, namespace="n" * 30))), "name",
        "the first label of its host name"),
    # Pipelines.
    "an unknown step": (piped(steps={"train": Step(pod=SPOT, after=("prepare",))}), "steps.train.after",
        "must be a step"),
    "steps in a cycle": (piped(steps={"a": Step(pod=CPU, after=("b",)), "b": Step(pod=CPU, after=("a",))}), "steps",
        "in a cycle"),
    "no steps": (piped(steps={}), "steps", "from 1 to 100"),
    "a schedule of six fields": (piped(schedule="0 0 3 * * *"), "schedule", "five fields"),
    "no Argo Workflows": (piped(target=BARE), "kind", "needs the add-on argoWorkflows"),
    # Notebooks.
    "a notebook with its own command": (lab(pod=replace(NOTEBOOK.pod, command=("sleep",))), "pod.command",
        "sets the command itself"),
    "no idle time": (lab(idle_seconds=0), "idle_seconds", "from 600 to"),
    "a disk of no size": (lab(home_size="big"), "home_size", "a Kubernetes quantity"),
}  # fmt: skip


ALL = {**test_ray.REFUSED, **REFUSED}


@pytest.mark.parametrize("name", ALL)
def test_an_invalid_workload_is_refused_with_path_rule_and_fix(name: str) -> None:
    build, path, rule = ALL[name]
    with pytest.raises(WorkloadRefused) as refused:
        build()
    problems = [problem for problem in refused.value.problems if problem.path == path and rule in problem.rule]
    assert problems, str(refused.value)
    assert problems[0].fix.endswith(".")


def test_all_problems_are_in_one_error_without_a_traceback() -> None:
    with pytest.raises(pulumi.RunError) as refused:
        training_job("Mnist", replace(TRAINING, deadline_seconds=None, pod=replace(SPOT, user=0, volumes={})))
    text = str(refused.value)
    assert text.startswith("TrainingJob Mnist: 4 problems, nothing was changed")
    for path in ("name", "deadline_seconds", "pod.user", "pod.volumes"):
        assert f"\n  - {path}: " in text


# Checks of pod specs against the pools.


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


@pytest.mark.parametrize(("requests", "limits", "rule"), [
    ({"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "2"}, "request and limit of a device must be equal"),
    ({"nvidia.com/gpu": "1"}, {}, "a request alone is refused"),
    ({"nvidia.com/gpu": "0.5"}, {"nvidia.com/gpu": "0.5"}, "the number of devices must be an integer"),
])  # fmt: skip
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
    assert (f"at most {pool.settings.max}" in problem.rule, problem.value) == (
        True,
        f"{pool.settings.max + 1}: {most + 1} of pod",
    )


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
