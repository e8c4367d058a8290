"""Distributed training: common start, rendezvous and communication."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from components.addons.kueue import FRAMEWORKS
from components.workloads import Topology, WorkloadRefused, distributed_training, training_job
from components.workloads.distributed import Kind
from components.workloads.metadata import GROUP
from infra.target import target_of
from spec.jobs import PODSET
from spec.settings.addons.batch import Jobset, MpiOperator, Trainer, TrainingOperator, Yunikorn
from tests.components.pools.samples import platform
from tests.components.workloads.samples import DISTRIBUTED, GOOD, NODE, POOLS, TARGET, TRAINING, bodies, body

KINDS: tuple[Kind, ...] = ("TrainJob", "PyTorchJob", "TFJob", "MPIJob", "JobSet")


def templates(value: Any) -> Iterator[dict[str, Any]]:
    """All pod templates."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for each in value.values():
            yield from templates(each)
    if isinstance(value, list):
        for each in value:
            yield from templates(each)


def workers(kind: Kind, **changes: Any) -> list[dict[str, Any]]:
    """Templates of the pods that train."""
    manifests = bodies(distributed_training("llm", replace(DISTRIBUTED, kind=kind, **changes)))
    all_templates = [each for manifest in manifests.values() for each in templates(manifest)]
    return [each for each in all_templates if "nvidia.com/gpu" in each["spec"]["containers"][0]["resources"]["limits"]]


@pytest.mark.parametrize("kind", KINDS)
def test_pods_of_every_kind_have_gpus_efa_huge_pages_and_shared_memory(kind: Kind) -> None:
    assert workers(kind)
    for template in workers(kind):
        limits = template["spec"]["containers"][0]["resources"]["limits"]
        assert limits["nvidia.com/gpu"] == "8"
        assert limits["vpc.amazonaws.com/efa"] == "32"
        assert limits["hugepages-2Mi"] == "5120Mi"
        (memory,) = (each for each in template["spec"]["volumes"] if each.get("emptyDir", {}).get("medium"))
        assert memory["emptyDir"]["sizeLimit"] == "256Gi"


@pytest.mark.parametrize("kind", KINDS)
def test_pods_of_every_kind_have_topology_and_no_disruption_annotations(kind: Kind) -> None:
    level = "topology.k8s.aws/network-node-layer-3"
    for template in workers(kind):
        assert template["metadata"]["annotations"]["kueue.x-k8s.io/podset-preferred-topology"] == level
        assert template["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"
    for template in workers(kind, topology=Topology(required=True)):
        assert template["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == level


@pytest.mark.parametrize("kind", KINDS)
def test_pods_of_every_kind_have_network_variables_that_the_user_can_override(kind: Kind) -> None:
    pod = replace(NODE, env={"NCCL_DEBUG": "TRACE"})
    for template in workers(kind, pod=pod):
        env = {each["name"]: each.get("value") for each in template["spec"]["containers"][0]["env"]}
        assert env["FI_PROVIDER"] == "efa"
        assert env["NCCL_SOCKET_IFNAME"] == "eth0"
        assert env["NCCL_DEBUG"] == "TRACE"


def test_without_efa_no_libfabric_provider_is_set() -> None:
    (template,) = workers("TrainJob", nodes=1, pod=replace(NODE, resources=replace(NODE.resources, efa=0)))
    assert "FI_PROVIDER" not in {each["name"] for each in template["spec"]["containers"][0]["env"]}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("train-job", ("suspend",)),
        ("job-set", ("suspend",)),
        ("pytorch-job", ("runPolicy", "suspend")),
        ("tf-job", ("runPolicy", "suspend")),
        ("mpi-job", ("runPolicy", "suspend")),
    ],
)
def test_it_is_created_suspended_for_the_queue(name: str, field: tuple[str, ...]) -> None:
    value = list(bodies(GOOD[name]()).values())[-1]["spec"]
    for key in field:
        value = value[key]
    assert value is True


def test_a_train_job_has_its_own_runtime() -> None:
    manifests = GOOD["train-job"]()
    runtime, job = body(manifests, "runtime"), body(manifests, "train-job")
    assert job["spec"]["runtimeRef"] == {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "TrainingRuntime",
        "name": runtime["metadata"]["name"],
    }
    assert manifests["train-job"].needs == ("runtime",)
    assert job["spec"]["trainer"]["numProcPerNode"] == 8
    # A TTL of the JobSet would make Trainer train again.
    assert "ttlSecondsAfterFinished" not in runtime["spec"]["template"]["spec"]


def test_a_disruption_restarts_a_jobset_without_counting_as_failure() -> None:
    spec = body(GOOD["job-set"]())["spec"]
    (rule,) = spec["failurePolicy"]["rules"]
    assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    assert rule["onJobFailureReasons"] == ["PodFailurePolicy"]
    job = spec["replicatedJobs"][0]["template"]["spec"]
    assert job["podFailurePolicy"]["rules"] == [
        {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
    ]


def test_the_first_pod_of_a_jobset_is_the_rendezvous_endpoint() -> None:
    command = next(templates(body(GOOD["job-set"]())))["spec"]["containers"][0]["command"]
    assert command[:3] == ["torchrun", "--nnodes=2", "--nproc-per-node=8"]
    assert "--rdzv-endpoint=llm-node-0-0.llm:29400" in command


def test_a_pytorch_job_has_one_master_and_otherwise_workers() -> None:
    specs = body(GOOD["pytorch-job"]())["spec"]["pytorchReplicaSpecs"]
    assert {role: each["replicas"] for role, each in specs.items()} == {"Master": 1, "Worker": 1}
    alone = body(distributed_training("llm", replace(DISTRIBUTED, kind="PyTorchJob", nodes=1)))
    assert set(alone["spec"]["pytorchReplicaSpecs"]) == {"Master"}


def test_a_tf_job_has_equal_workers_and_ends_when_all_have() -> None:
    spec = body(GOOD["tf-job"]())["spec"]
    assert {role: each["replicas"] for role, each in spec["tfReplicaSpecs"].items()} == {"Worker": 2}
    (container,) = spec["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert (container["name"], spec["successPolicy"]) == ("tensorflow", "AllWorkers")


def test_a_pod_of_a_tf_job_is_one_process() -> None:
    with pytest.raises(WorkloadRefused, match=r"processes: a pod of a TFJob is one process.*given: 8"):
        distributed_training("llm", replace(DISTRIBUTED, kind="TFJob", processes=8))


def test_the_mpi_launcher_starts_a_process_per_gpu_and_requests_no_gpu() -> None:
    spec = body(GOOD["mpi-job"]())["spec"]
    assert spec["slotsPerWorker"] == 8
    launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    assert launcher["containers"][0]["command"][:3] == ["mpirun", "-np", "16"]
    assert "nvidia.com/gpu" not in launcher["containers"][0]["resources"]["limits"]


def test_the_launcher_of_mpi_waits_for_workers_that_answer_by_ssh_as_the_user_of_the_image() -> None:
    job = body(GOOD["mpi-job"]())
    spec = job["spec"]
    assert (job["apiVersion"], spec["launcherCreationPolicy"]) == ("kubeflow.org/v2beta1", "WaitForWorkersReady")
    worker = spec["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    assert worker["command"][:2] == ["/usr/sbin/sshd", "-De"]
    assert worker["readinessProbe"]["tcpSocket"] == {"port": 2222}
    assert worker["command"][3].rpartition("/")[0] == spec["sshAuthMountPath"].rpartition("/")[0]
    assert worker["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}


def test_no_pod_of_mpi_has_a_token_of_the_api_server() -> None:
    replicas = body(GOOD["mpi-job"]())["spec"]["mpiReplicaSpecs"]
    assert not any(each["template"]["spec"]["automountServiceAccountToken"] for each in replicas.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_suspended_kind_that_the_stacks_kueue_does_not_manage_is_refused(kind: Kind) -> None:
    enough: dict[str, Any] = {"trainer": {}, "jobset": {}, "trainingOperator": {}, "mpiOperator": {}, "kueue": {}}
    target = replace(target_of(platform(POOLS, addons=enough), namespace="research"), addons=None)
    args = replace(DISTRIBUTED, kind=kind, target=target, topology=None)
    assert distributed_training("llm", args)
    assert target.queued is not None
    less = replace(target, queued=target.queued - {FRAMEWORKS[kind]})
    with pytest.raises(WorkloadRefused, match=f"a suspended {kind} starts when Kueue admits it"):
        distributed_training("llm", replace(args, target=less))
    assert distributed_training("llm", replace(args, target=less, suspend=False))


def test_without_kueue_nothing_is_created_suspended() -> None:
    settings = platform(POOLS, addons={"jobset": {}, "yunikorn": {}}, cluster={"version": "1.36"})
    target = target_of(settings, namespace="research")
    with pytest.raises(WorkloadRefused, match="the target has no queue"):
        distributed_training("llm", replace(DISTRIBUTED, kind="JobSet", target=target))


@pytest.mark.parametrize("kind", KINDS)
def test_with_yunikorn_the_pods_that_train_are_one_gang(kind: Kind) -> None:
    addons = frozenset({Jobset, MpiOperator, Trainer, TrainingOperator, Yunikorn})
    target = replace(DISTRIBUTED.target, addons=addons)
    for template in workers(kind, target=target):
        notes, spec = template["metadata"]["annotations"], template["spec"]
        (group,) = json.loads(notes[f"{GROUP}s"])
        assert (group["name"], group["minMember"]) == (notes[f"{GROUP}-name"], DISTRIBUTED.nodes)
        resources = spec["containers"][0]["resources"]
        assert group["minResource"] == {**resources["limits"], **resources["requests"]}
        assert (group["nodeSelector"], group["tolerations"]) == (spec["nodeSelector"], spec["tolerations"])
    assert not any(GROUP in key for each in workers(kind) for key in each["metadata"]["annotations"])


def placement(kind: Kind, pools: frozenset[str] | None, topology: Topology | None) -> set[str]:
    """Kueue's annotations of topology, if it places pods by topology on some pools."""
    target = replace(DISTRIBUTED.target, by_topology=pools)
    found = workers(kind, target=target, topology=topology)
    return {key for each in found for key in each["metadata"]["annotations"] if key.startswith(PODSET)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_with_a_topology_gets_an_annotation_and_others_get_none(kind: Kind) -> None:
    """Kueue admits no pod without one there, and no pod with one elsewhere."""
    block = frozenset({"block"})
    assert placement(kind, block, None) == {f"{PODSET}unconstrained-topology"}
    assert placement(kind, block, Topology()) == {f"{PODSET}preferred-topology"}
    assert placement(kind, frozenset(), None) == placement(kind, None, None) == set()


def test_a_topology_is_refused_where_the_queue_places_nothing_by_topology() -> None:
    with pytest.raises(WorkloadRefused, match="topology: a queue places pods by topology only on EFA pools"):
        placement("TrainJob", frozenset(), Topology())


def test_any_job_on_a_pool_with_a_topology_gets_the_annotation() -> None:
    target = replace(TARGET, by_topology=frozenset({"spot"}))
    (job,) = bodies(training_job("one", replace(TRAINING, target=target))).values()
    notes = job["spec"]["template"]["metadata"]["annotations"]
    assert notes[f"{PODSET}unconstrained-topology"] == "true"


def test_the_target_of_a_stack_knows_the_pools_with_a_topology() -> None:
    def of(**queues: Any) -> frozenset[str] | None:
        settings = platform(POOLS, addons={"kueue": {}}, queues=queues)
        return target_of(settings, namespace="research").by_topology

    assert of() == frozenset()
    assert of(topology=True) == frozenset({"block"})
    assert target_of(platform(POOLS), namespace="research").by_topology is None
