"""What would hold a manifest, and variants of good ones that are wrong."""

import copy
from dataclasses import replace
from typing import Any, Final

import pytest

from components.addons.kueue import FRAMEWORKS
from components.admission import kinds
from components.admission.isolation import NODE as HOST
from components.workloads.target import Target
from slipway.why.answer import Answer, Layer
from slipway.why.file import findings, notes
from slipway.why.manifests import answer, flat
from slipway.why.podsets import podsets
from slipway.why.schema import versions
from spec.settings.admission import Action, Admission
from tests.e2e.workloads.rows import DEV as ROWS
from tests.e2e.workloads.rows import Objects, Row
from tests.e2e.workloads.wrong import WRONG, Wrong
from tests.slipway.why.objects import CASES, DEV, POOL, Object, cases
from tests.support.stacks import platform_of

# What would hold a manifest, by the settings of stack dev alone: each wrong variant of a right Job.


QUEUE: Final = "kueue.x-k8s.io/queue-name"
TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists"}
CLAIM: Final = {"name": "d", "persistentVolumeClaim": {"claimName": "checkpoints"}}
MIG: Final = "nvidia.com/mig-1g.5gb"
SHARE: Final = {"nvidia.com/gpu": "1"}


def job(devices: dict[str, str] | None = None, **more: Any) -> Object:
    """A right Job on one MIG instance; `spec__x` changes the spec, `pod__x` the pod, `labels` its labels."""
    limits = {"cpu": "1", "memory": "1Gi", **({MIG: "1"} if devices is None else devices)}
    container = {"name": "main", "image": "registry.example.com/a:1", "resources": {"limits": limits}}
    pod = {
        "containers": [container],
        "nodeSelector": {POOL: "a100"},
        "tolerations": [TOLERATION],
        "restartPolicy": "Never",
    }
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
_MOUNT: Final = {"volumeMounts": [{"name": "d", "mountPath": "/d"}]}
_WRITER: Final = {"name": "main", "image": "registry.example.com/a:1", **_MOUNT}
WRITES: Final = {
    "pod__volumes": [CLAIM],
    "pod__containers": [{**_WRITER, "resources": {"limits": {"cpu": "1", "memory": "1Gi", **SHARE}}}],
}
"""A claim that the job writes to."""


def asked(manifest: Object, *others: Object, rules: Admission | None = None) -> Answer:
    return answer(manifest, target=DEV, rules=rules or Admission(), dry_run=None, others=(manifest, *others))


def of_row(row: dict[str, Any]) -> Object:
    """The manifest of a row of `cases.yaml`."""
    if "job" in row:
        changes = dict(row["job"])
        more = {f"{part}__{key}": one for part in ("spec", "pod") for key, one in changes.pop(part, {}).items()}
        more |= WRITES if changes.pop("writes", False) else {}
        more |= {"pod__affinity": APART} if changes.pop("apart", False) else {}
        return job(changes.pop("devices", None), **more, **changes)
    if "metrics" in row:
        return autoscaler(*row["metrics"])
    return claim(**row["claim"]) if "claim" in row else dict(row["manifest"])


MANIFESTS: Final = {row["what"]: of_row(row) for row in CASES["files"]}


@cases("files")
def test_a_manifest_is_accepted_or_its_layer_is_named(row: dict[str, Any]) -> None:
    found = asked(MANIFESTS[row["what"]], *row.get("beside", ()))
    assert found.held is ("layer" in row), found.text()
    if found.held:
        assert (found.part.layer, row["says"] in found.part.cause) == (row["layer"], True), found
        assert found.part.fix
        assert row.get("fix", "") in found.part.fix
        assert "would" in found.sentence


def test_a_gpu_pod_without_a_selector_names_the_pools() -> None:
    found = asked(MANIFESTS["a GPU without a pool"])
    assert "a100 (nvidia.com/mig-1g.5gb 56), gpu-spot (nvidia.com/gpu 4), h100 (nvidia.com/gpu 1)" in found.part.fix


def test_the_right_job_is_accepted_with_where_it_runs() -> None:
    found = asked(job(spec__parallelism=2, spec__completions=2))
    assert found.sentence == "job/train would be accepted: 2 pods on a100."
    assert not found.held


def test_an_object_without_a_name_is_called_by_the_beginning_of_one() -> None:
    manifest = job()
    manifest["metadata"]["generateName"] = f"{manifest['metadata'].pop('name')}-"
    assert asked(manifest).subject == "job/train-"


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
    assert not asked(MANIFESTS[case], rules=Admission.model_validate({rule: Action.WARN})).held


def test_a_claim_of_the_same_file_is_there() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "checkpionts"}, "spec": {}}
    assert not asked(MANIFESTS["a wrong claim"], claim).held


def test_every_other_problem_is_listed_too() -> None:
    manifest = copy.deepcopy(MANIFESTS["no toleration"])
    manifest["spec"]["activeDeadlineSeconds"] = None
    assert [one.source for one in asked(manifest).part.evidence] == ["rule gpu-pool of the stack", "also admission"]


def test_a_deadline_that_nodes_do_not_outlast_is_a_note() -> None:
    found = asked(
        job({"cpu": "1"}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None, spec__activeDeadlineSeconds=864000)
    )
    assert not found.held
    assert "note" in [one.source for one in found.part.evidence]


@pytest.mark.parametrize(
    ("gpus", "selector", "noted"),
    [
        ("8", None, True),
        ("1", {"accelerator": "nvidia-h100"}, True),
        ("1", None, False),
        ("8", {POOL: "h100"}, False),
        ("1", {POOL: "gpu-spot"}, False),
    ],
)
def test_a_pool_of_the_queue_on_which_pods_do_not_fit_is_a_note(
    gpus: str, selector: dict[str, str] | None, noted: bool
) -> None:
    target = Target.of(platform_of("prod"), namespace="vision-training")
    found = notes(job({"nvidia.com/gpu": gpus}, pod__nodeSelector=selector), target)
    assert [("pool gpu-spot, on" in one.rule, one.fix) for one in found] == (
        [(True, f"Select {POOL}: h100.")] if noted else []
    )
    # A team without a share of the pool that fits hears of that instead.
    assert not notes(job({"nvidia.com/gpu": gpus}, pod__nodeSelector=selector), replace(target, shares={"gpu-spot": 9}))


def test_a_list_is_its_items() -> None:
    assert flat([{"kind": "List", "items": [{"kind": "Job"}, {"kind": "Pod"}]}, None]) == [
        {"kind": "Job"},
        {"kind": "Pod"},
    ]


# Pod sets of one object start together.

_ON_SLICES: Final = job()["spec"]["template"]
GANGS: Final = {
    "JobSet": lambda each: {
        "replicatedJobs": [
            {"name": name, "replicas": count, "template": {"spec": {"backoffLimit": 0, "template": _ON_SLICES}}}
            for name, count in each.items()
        ]
    },
    "PyTorchJob": lambda each: {
        "pytorchReplicaSpecs": {name: {"replicas": count, "template": _ON_SLICES} for name, count in each.items()}
    },
    "RayCluster": lambda each: {
        "headGroupSpec": {"template": _ON_SLICES},
        "workerGroupSpecs": [
            {"groupName": name, "replicas": count, "template": _ON_SLICES} for name, count in each.items()
        ],
    },
    "LeaderWorkerSet": lambda each: {
        "replicas": each["a"],
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": _ON_SLICES, "workerTemplate": _ON_SLICES},
    },
}


def gang(kind: str, each: dict[str, int], **metadata: Any) -> Object:
    found = next(one for one in (*kinds.UNCHECKED, kinds.DEPLOYMENT) if one.kind == kind)
    labels = {QUEUE: "default"}
    return {
        "apiVersion": versions(found)[0],
        "kind": kind,
        "metadata": {"name": "a", "labels": labels, **metadata},
        "spec": GANGS[kind](each),
    }


def held(manifest: Object, **facts: Any) -> list[tuple[Layer, str, Any]]:
    """What holds an object on dev, where every add-on is installed."""
    found = findings(manifest, replace(DEV, addons=None, **facts))
    return [(one.layer, one.problem.path, one.problem.value) for one in found]


@pytest.mark.parametrize("kind", GANGS)
def test_pod_sets_are_added_up(kind: str) -> None:
    names = {"RayCluster": "head + a + b", "LeaderWorkerSet": "leader + worker"}.get(kind, "a + b")
    assert not held(gang(kind, {"a": 16, "b": 16}))
    ((layer, path, given),) = held(gang(kind, {"a": 18, "b": 18}))
    assert (layer, path, given.partition(":")[0]) == (Layer.QUOTA, names, "37" if kind == "RayCluster" else "36")
    # 56 instances on the one node of the pool.
    ((layer, path, given),) = held(gang(kind, {"a": 29, "b": 29}), shares=None)
    assert (layer, path, given.partition(":")[0]) == (Layer.POOL_LIMIT, names, "2")


def test_jobs_with_nodes_of_their_own_are_counted_by_nodes() -> None:
    alone = gang("JobSet", {"a": 1, "b": 1}, annotations={"alpha.jobset.sigs.k8s.io/exclusive-topology": HOST})
    assert held(alone) == [(Layer.POOL_LIMIT, "a + b", "2: 1 of a + 1 of b")]


@pytest.mark.parametrize(
    ("strategy", "pods", "noted"),
    [({}, 3, True), ({}, 2, False), ({"type": "Recreate"}, 3, False),
     ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}, 3, False),
     ({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": "20%"}}, 3, True)],
)  # fmt: skip
def test_a_rollout_that_finds_no_room_is_a_note(strategy: Object, pods: int, noted: bool) -> None:
    spec = {"replicas": pods, "strategy": strategy, "template": job({MIG: "11"})["spec"]["template"]}
    spec["template"]["spec"]["restartPolicy"] = "Always"
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "labels": {QUEUE: "default"}},
        "spec": spec,
    }
    assert not held(manifest)
    assert [one.path for one in notes(manifest, DEV)] == (["spec.strategy"] if noted else [])


def test_nodes_that_are_consolidated_are_a_note() -> None:
    def noted(**more: Any) -> list[str]:
        cpu = job({"cpu": "1"}, pod__nodeSelector={POOL: "cpu"}, **more)
        return [one.fix for one in notes(cpu, DEV) if "Karpenter consolidates nodes of pool cpu" in one.rule]

    assert [len(noted()), len(noted(annotations={"karpenter.sh/do-not-disrupt": "true"}))] == [1, 0]


# Pods that a runtime has.


def train(name: str = "torch-distributed-h100", **trainer: Any) -> Object:
    spec = {"runtimeRef": {"name": name}, "trainer": trainer}
    metadata = {"name": "a", "labels": {QUEUE: "default"}}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": metadata, "spec": spec}


def serve(**predictor: Any) -> Object:
    spec = {"predictor": predictor}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def model(**more: Any) -> Object:
    return {"modelFormat": {"name": "onnx"}, "storageUri": "s3://a/b", **more}


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (train(numNodes=2), ""),
        (train(numNodes=3), "2 of h100 has 2 of nvidia.com/gpu 3: 3 of node"),
        (train(resourcesPerNode={"limits": {"nvidia.com/gpu": "16"}}), "a node of pool h100 has 1 16"),
        (train("torch"), "neither the platform nor the file has a runtime of that name torch"),
        (serve(model=model()), ""),
        (serve(model=model(runtime="triton-gpu-spot")), ""),
        (serve(model=model(runtime="triton-gpu-spot"), minReplicas=17), "4 of gpu-spot has 16 of nvidia.com/gpu 17"),
        (serve(model=model(resources={"limits": {"nvidia.com/gpu": "16"}})), "a node of pool gpu-spot has 4 16"),
        (serve(model=model(resources={"limits": {"nvidia.com/mig-3g.20gb": "1"}})), "doesn't offer it 1"),
        (serve(sklearn={"storageUri": "s3://a", "resources": {"limits": {"nvidia.com/gpu": "16"}}}), "16"),
        (serve(model=model(runtime="vllm")), "neither the platform nor the file has a runtime of that name vllm"),
    ],
)
def test_the_sizes_of_a_runtime_are_checked(manifest: Object, says: str) -> None:
    facts = replace(DEV, shares={**(DEV.shares or {}), "h100": 2}, queued=frozenset(FRAMEWORKS.values()))
    found = [f"{one.problem.rule} {one.problem.value}" for one in findings(manifest, facts)]
    assert any(says in one for one in found) if says else not found, found


def test_a_part_of_an_inference_service_is_read_like_its_predictor() -> None:
    manifest = serve(model=model())
    manifest["spec"]["transformer"] = {"containers": [{"name": "a", "resources": {"limits": {"cpu": "500"}}}]}
    assert [one.problem.path for one in findings(manifest, DEV)] == ["transformer.resources[cpu]"]


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
    assert layer == variant.file.layer, sentence
    assert variant.file.words in sentence
    assert fix


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.name)
def test_the_right_ones_are_accepted(row: Row) -> None:
    assert held_by(row.namespace, row.twin())[0] == "accepted"
