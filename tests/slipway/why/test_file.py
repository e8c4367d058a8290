"""What would hold a manifest, and variants of good ones that are wrong."""

import copy
from dataclasses import replace
from typing import Any, Final

import pytest

from components.addons.kueue import FRAMEWORKS
from components.workloads.target import Target
from slipway.why.answer import Answer, Layer
from slipway.why.manifests import answer, flat
from slipway.why.podsets import podsets
from spec.settings.admission import Action, Admission
from tests.e2e.workloads.rows import DEV as ROWS
from tests.e2e.workloads.rows import Objects, Row
from tests.e2e.workloads.wrong import WRONG, Wrong
from tests.slipway.why.objects import DEV, POOL, Object
from tests.support.stacks import platform_of

# What would hold a manifest, by the settings of stack dev alone: each wrong variant of a right Job.


QUEUE: Final = "kueue.x-k8s.io/queue-name"
TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists"}
CLAIM: Final = {"name": "d", "persistentVolumeClaim": {"claimName": "checkpoints"}}
MIG: Final = "nvidia.com/mig-1g.5gb"
SHARE: Final = {"nvidia.com/gpu": "1"}
KEPT: Final = {"karpenter.sh/do-not-disrupt": "true"}


def job(devices: dict[str, str] | None = None, **more: Any) -> Object:
    """A right Job on one MIG instance; `spec__x` changes the spec, `pod__x` the pod, `labels` its labels."""
    limits = {"cpu": "1", "memory": "1Gi", **({MIG: "1"} if devices is None else devices)}
    container = {"name": "main", "image": "registry.example.com/a:1", "resources": {"limits": limits}}
    pod = {"containers": [container], "nodeSelector": {POOL: "a100"}, "tolerations": [TOLERATION]}
    spec: Object = {"activeDeadlineSeconds": 3600, "backoffLimit": 1, "ttlSecondsAfterFinished": 60}
    for key, value in more.items():
        where, _, field = key.partition("__")
        if where in ("spec", "pod"):
            {"spec": spec, "pod": pod}[where][field] = value
    labels = more.get("labels", {QUEUE: "default"})
    metadata = {"name": "train", "namespace": "vision", "labels": labels}
    template = {
        "metadata": {"annotations": more.get("annotations", {}), "labels": more.get("pod_labels", {})},
        "spec": {key: value for key, value in pod.items() if value is not None},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {**spec, "template": template}}


def autoscaler(*metrics: Object) -> Object:
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "a"}, "maxReplicas": 2, "metrics": list(metrics)}
    return {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec
    }  # fmt: skip


def claim(**more: Any) -> Object:
    spec = {"storageClassName": "gp3", "accessModes": ["ReadWriteOnce"], **more}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec}


_TERM: Final = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "a"}}}
APART: Final = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}
BARE: Final = {"name": "main", "image": "registry.example.com/a:1"}
_MOUNT: Final = {"volumeMounts": [{"name": "d", "mountPath": "/d"}]}
_WRITER: Final = {"name": "main", "image": "registry.example.com/a:1", **_MOUNT}
WRITES: Final = {
    "pod__volumes": [CLAIM],
    "pod__containers": [{**_WRITER, "resources": {"limits": {"cpu": "1", "memory": "1Gi", **SHARE}}}],
}
"""A claim that the job writes to."""


def asked(manifest: Object, *others: Object, rules: Admission | None = None) -> Answer:
    return answer(manifest, target=DEV, rules=rules or Admission(), dry_run=None, others=(manifest, *others))


CASES: dict[str, tuple[Object, Layer, str]] = {
    "no toleration": (job(pod__tolerations=None), Layer.ADMISSION, "must tolerate its taint nvidia.com/gpu=true"),
    "no such queue": (job(labels={QUEUE: "defualt"}), Layer.QUEUE, "no such LocalQueue (given: defualt)"),
    "a topology that no flavor has": (
        job(annotations={"kueue.x-k8s.io/podset-required-topology": "rack"}),
        Layer.QUEUE,
        "no flavor of a100 has a topology, so the queue never admits these pods (given: rack)",
    ),
    "larger than the quota": (
        job(spec__parallelism=40, spec__completions=40),
        Layer.QUOTA,
        "5 of a100 fits 35 (given: 40)",
    ),
    "a pool without a share": (
        job({"nvidia.com/gpu": "1"}, pod__nodeSelector={POOL: "h100"}),
        Layer.QUOTA,
        "must have a share of pool h100",
    ),
    "more GPUs than any node": (job({MIG: "57"}), Layer.ADMISSION, "a node of pool a100 has 56 (given: 57)"),
    "more CPUs than any node": (
        job({"cpu": "500"}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None),
        Layer.SCHEDULER,
        "15.39 of cpu for pods",
    ),
    "an unknown label": (job(pod__nodeSelector={POOL: "b200"}), Layer.ADMISSION, "must have the labels that the pod"),
    "more pods than nodes hold": (
        job(
            {"cpu": "9"},
            pod__nodeSelector={POOL: "cpu"},
            pod__tolerations=None,
            spec__parallelism=7,
            spec__completions=7,
        ),
        Layer.QUOTA,
        "64 of cpu fits 6 (given: 7)",
    ),
    "a wrong claim": (
        job(pod__volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "checkpionts"}}]),
        Layer.VOLUME,
        "the platform makes no claim of that name",
    ),
    "a wrong priority": (
        job(pod__priorityClassName="urgent"),
        Layer.ADMISSION,
        "priority class urgent is not for teams",
    ),
    "a wrong priority of the workload": (
        job(labels={QUEUE: "default", "kueue.x-k8s.io/priority-class": "urgent"}),
        Layer.ADMISSION,
        "rule priorityClass: the priority class urgent is not for teams",
    ),
    "no deadline": (job(spec__activeDeadlineSeconds=None), Layer.ADMISSION, "fix spec.activeDeadlineSeconds"),
    "a deadline of a month": (
        job(spec__activeDeadlineSeconds=30 * 86400),
        Layer.ADMISSION,
        "fix spec.activeDeadlineSeconds",
    ),
    "too many retries": (job(spec__backoffLimit=99), Layer.ADMISSION, "a job must be bounded: fix spec.backoffLimit"),
    "spot without a claim": (
        job({"nvidia.com/gpu": "1"}, pod__nodeSelector={POOL: "gpu-spot"}),
        Layer.ADMISSION,
        "rule spotCheckpoint: the nodes of pool gpu-spot are Spot",
    ),
    "spot without evictions": (
        job(SHARE, pod__nodeSelector={POOL: "gpu-spot"}, **WRITES, annotations=KEPT),
        Layer.ADMISSION,
        "rule spotEviction: the nodes of pool gpu-spot are Spot",
    ),
    "a pool of the queue's choice without evictions": (
        job(SHARE, pod__nodeSelector=None, **WRITES, annotations=KEPT),
        Layer.ADMISSION,
        "rule spotEviction",
    ),
    "an image without a tag": (
        job(pod__containers=[{"name": "main", "image": "a", "resources": {"limits": {MIG: "1"}}}]),
        Layer.ADMISSION,
        "rule imageTag: image a has no fixed version",
    ),
    "an init container's image without a tag": (
        job(pod__initContainers=[{"name": "first", "image": "a"}]),
        Layer.ADMISSION,
        "rule imageTag: image a has no fixed version",
    ),
    "an autoscaler on a metric that nothing serves": (
        autoscaler({"type": "External", "external": {"metric": {"name": "queue_depth"}}}),
        Layer.CONTROLLER,
        "(external.metrics.k8s.io): the autoscaler would never scale (given: queue_depth)",
    ),
    "an autoscaler on a metric of pods that nothing serves": (
        autoscaler({"type": "Pods", "pods": {"metric": {"name": "requests"}}}),
        Layer.CONTROLLER,
        "custom.metrics.k8s.io",
    ),
    "an autoscaler of KEDA without KEDA": (
        {
            "apiVersion": "keda.sh/v1alpha1",
            "kind": "ScaledObject",
            "metadata": {"name": "a"},
            "spec": {"scaleTargetRef": {"name": "a"}, "maxReplicaCount": 2, "triggers": []},
        },
        Layer.CONTROLLER,
        "ScaledObject needs the add-on keda",
    ),
    "a claim of a class that is not there": (
        claim(storageClassName="gp4"),
        Layer.VOLUME,
        "no StorageClass of that name (given: gp4)",
    ),
    "a disk for many pods": (
        claim(accessModes=["ReadWriteMany"]),
        Layer.VOLUME,
        "volumes of class gp3 (ebs.csi.aws.com) don't have the access mode ReadWriteMany",
    ),
    "a zone that its pool does not have": (
        job(pod__nodeSelector={POOL: "a100", "topology.kubernetes.io/zone": "us-east-1f"}),
        Layer.SCHEDULER,
        "nodes of pool a100 have topology.kubernetes.io/zone us-east-1a, us-east-1b (given: us-east-1f)",
    ),
    "more zones than there are": (
        job(pod__affinity=APART, pod_labels={"app": "a"}, spec__parallelism=3, spec__completions=3),
        Layer.SCHEDULER,
        "its pods have to be in different zones, and pool a100 has 2 (given: 3)",
    ),
    "a GPU without a pool": (
        job({"nvidia.com/mig-9g.90gb": "1"}, pod__nodeSelector=None),
        Layer.ADMISSION,
        "pool a100 has no such MIG instance",
    ),
    "a privileged container": (
        job(pod__containers=[{**BARE, "securityContext": {"privileged": True}}], pod__tolerations=None),
        Layer.ADMISSION,
        "rule hostAccess: pods of a team have no access to their node: remove privileged of container main",
    ),
    "an add-on that is not installed": (
        {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "a"}, "spec": {}},
        Layer.ADMISSION,
        "MPIJob needs the add-on mpiOperator",
    ),
    "an Experiment without Katib": (
        {"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment", "metadata": {"name": "a"}, "spec": {}},
        Layer.ADMISSION,
        "Experiment needs the add-on katib",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_variant_names_its_layer(case: str) -> None:
    manifest, layer, cause = CASES[case]
    found = asked(manifest)
    assert (found.part.layer, cause in found.part.cause) == (layer, True), found
    assert found.held
    assert found.part.fix
    assert "would" in found.sentence


@pytest.mark.parametrize(
    "manifest",
    [
        autoscaler({"type": "Resource", "resource": {"name": "cpu"}}),
        claim(),
        claim(storageClassName=None),
        job(pod__affinity=APART, pod_labels={"app": "a"}, spec__parallelism=2, spec__completions=2),
        job(pod__affinity=APART, pod_labels={"app": "b"}, spec__parallelism=3, spec__completions=3),
        job(pod__nodeSelector={POOL: "a100", "topology.kubernetes.io/zone": "us-east-1b"}),
        # Of Seldon Core, not of Katib.
        {"apiVersion": "mlops.seldon.io/v1alpha1", "kind": "Experiment", "metadata": {"name": "a"}, "spec": {}},
    ],
)
def test_what_the_cluster_serves_is_accepted(manifest: Object) -> None:
    found = asked(manifest)
    assert not found.held, found.text()


def test_a_gpu_pod_without_a_selector_names_the_pools() -> None:
    found = asked(CASES["a GPU without a pool"][0])
    assert "a100 (nvidia.com/mig-1g.5gb 56), gpu-spot (nvidia.com/gpu 4), h100 (nvidia.com/gpu 1)" in found.part.fix


def test_the_right_job_is_accepted_with_where_it_runs() -> None:
    found = asked(job(spec__parallelism=2, spec__completions=2))
    assert found.sentence == "job/train would be accepted: 2 pods on a100."
    assert not found.held


def test_an_object_without_a_name_is_called_by_the_beginning_of_one() -> None:
    manifest = job()
    manifest["metadata"]["generateName"] = f"{manifest['metadata'].pop('name')}-"
    assert asked(manifest).subject == "job/train-"


def test_pods_without_requests_are_not_said_to_exceed_a_share() -> None:
    assert not asked(job({}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None, pod__containers=[BARE])).held


def test_without_a_queue_label_kueue_queues_kinds_that_it_manages() -> None:
    assert not asked(job(labels={})).held


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        ("no deadline", "jobBounds"),
        ("an image without a tag", "imageTag"),
        ("spot without a claim", "spotCheckpoint"),
        ("spot without evictions", "spotEviction"),
    ],
)
def test_a_rule_that_does_not_deny_holds_nothing(case: str, rule: str) -> None:
    assert not asked(CASES[case][0], rules=Admission.model_validate({rule: Action.WARN})).held


@pytest.mark.parametrize(
    "more",
    [
        {"annotations": {}},
        {"annotations": {"karpenter.sh/do-not-disrupt": "no"}},
        {"annotations": KEPT, "pod_labels": {"platform.slipway/notebook": "one"}},
    ],
)
def test_on_spot_pods_that_can_be_evicted_and_notebooks_are_accepted(more: Object) -> None:
    assert not asked(job(SHARE, pod__nodeSelector={POOL: "gpu-spot"}, **WRITES, **more)).held


def test_a_job_without_a_pool_that_no_spot_node_can_run_needs_no_claim() -> None:
    assert not asked(job(pod__nodeSelector=None, annotations=KEPT)).held


def test_a_claim_of_the_same_file_is_there() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "checkpionts"}, "spec": {}}
    assert not asked(CASES["a wrong claim"][0], claim).held


def test_every_other_problem_is_listed_too() -> None:
    manifest = copy.deepcopy(CASES["no toleration"][0])
    manifest["spec"]["activeDeadlineSeconds"] = None
    assert [one.source for one in asked(manifest).part.evidence] == ["rule gpu-pool of the stack", "also admission"]


def test_a_deadline_that_nodes_do_not_outlast_is_a_note() -> None:
    found = asked(
        job({"cpu": "1"}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None, spec__activeDeadlineSeconds=864000)
    )
    assert not found.held
    assert [one.source for one in found.part.evidence] == ["note"]


def test_a_list_is_its_items() -> None:
    assert flat([{"kind": "List", "items": [{"kind": "Job"}, {"kind": "Pod"}]}, None]) == [
        {"kind": "Job"},
        {"kind": "Pod"},
    ]


TEMPLATE: Final = {"spec": {"containers": [{"name": "main"}]}}
RAY: Final = {"headGroupSpec": {"template": TEMPLATE}}
GROUP: Final = {"groupName": "a", "replicas": 2, "template": TEMPLATE}
SETS: Final = {"name": "a", "replicas": 2, "template": {"spec": {"template": TEMPLATE, "parallelism": 3}}}
WORKERS: Final = {"size": 4, "leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}
TORCH: Final = {"Master": {"template": TEMPLATE}, "Worker": {"replicas": 3, "template": TEMPLATE}}
PODS: dict[str, tuple[Object, list[int]]] = {
    "Pod": (TEMPLATE["spec"], [1]),
    "Job": ({"template": TEMPLATE, "parallelism": 4, "completions": 3}, [3]),
    "CronJob": ({"jobTemplate": {"spec": {"template": TEMPLATE, "parallelism": 2}}}, [2]),
    "ScaledJob": ({"jobTargetRef": {"template": TEMPLATE}}, [1]),
    "JobSet": ({"replicatedJobs": [SETS]}, [6]),
    "Deployment": ({"template": TEMPLATE, "replicas": 2}, [2]),
    "LeaderWorkerSet": ({"replicas": 2, "leaderWorkerTemplate": WORKERS}, [2, 6]),
    "PyTorchJob": ({"pytorchReplicaSpecs": TORCH}, [1, 3]),
    "TFJob": ({"tfReplicaSpecs": {"Worker": {"replicas": 4, "template": TEMPLATE}}}, [4]),
    "MPIJob": ({"mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": TEMPLATE}}}, [2]),
    "RayJob": ({"rayClusterSpec": {**RAY, "workerGroupSpecs": [GROUP]}}, [1, 2]),
    "ConfigMap": ({}, []),
}


@pytest.mark.parametrize("kind", PODS)
def test_the_pods_of_every_kind_are_counted(kind: str) -> None:
    spec, counts = PODS[kind]
    assert [one.count for one in podsets({"kind": kind, "spec": spec})] == counts


# The wrong variants of the workload table before submission: by the settings of the stack, without a cluster.


def target(namespace: str) -> Target:
    """A namespace of dev, with the operators that the table adds."""
    found = Target.of(platform_of("dev"), namespace=namespace)
    return replace(found, addons=None, queued=frozenset(FRAMEWORKS.values()))


def held_by(namespace: str, objects: Objects) -> list[str]:
    """What holds the last of some objects: the layer, and the sentence."""
    found = answer(objects[-1], target=target(namespace), rules=Admission(), dry_run=None, others=objects)
    return [str(found.part.layer), found.sentence, found.part.fix]


@pytest.mark.parametrize("variant", WRONG, ids=lambda each: each.name)
def test_a_wrong_variant_is_explained_before_submission(variant: Wrong) -> None:
    layer, sentence, fix = held_by(variant.namespace, variant.objects())
    if variant.file is None:
        assert layer == "accepted"
        return
    assert layer == variant.file.layer, sentence
    assert variant.file.words in sentence
    assert fix


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.name)
def test_the_right_ones_are_accepted(row: Row) -> None:
    assert held_by(row.namespace, row.twin())[0] == "accepted"
