"""What a member of a team tries to get capacity outside its quota, or before others.

From Kueue 0.19.2 (the constants of apis/kueue/v1beta2, pkg/controller/constants and pkg/controller/jobs), JobSet
0.12.0, LeaderWorkerSet 0.9.0, Trainer 2.3.0, KubeRay 1.6.1, KEDA 2.20.2 and KServe 0.20.0.
"""

from typing import Any, Final

from tests.adversary.independent.pods import tagged
from tests.adversary.independent.work import merged, runtime
from tests.adversary.objects import annotated, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.samples import QUEUE, container, gpus, on, spec

K: Final = "kueue.x-k8s.io/"
GROUP: Final = {f"{K}pod-group-total-count": "2", f"{K}role-hash": "main"}
CLASS: Final = {f"{K}priority-class": "production-training"}
OTHERS: Final = "production-training"
MODEL: Final = make.inference_service(model={}, maxReplicas=1)
EXCLUSIVE: Final = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"}
ALL_GPUS: Final = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]


def waiting(notes: Object | None = None, **labels: Any) -> Object:
    """A pod as Kueue's webhook leaves it."""
    made = make.gated(tagged(make.pod(on("h100")), **{QUEUE: "default", f"{K}managed": "true", **labels}))
    return annotated(made, **(notes or {}))


def running(**labels: str) -> Object:
    """A pod that Kueue has admitted."""
    return tagged(make.pod(on("h100")), **{QUEUE: "default", f"{K}managed": "true", **labels})


def templated(manifest: Object, **metadata: Any) -> Object:
    """The same object with metadata of its pods."""
    template = manifest["spec"]["template"]
    own = template.get("metadata", {})
    both = {key: {**own.get(key, {}), **value} for key, value in metadata.items()}
    return merged(manifest, template={**template, "metadata": {**own, **both}})


def child(manifest: Object, api: str, kind: str) -> Object:
    owner = {"apiVersion": api, "kind": kind, "name": "small", "uid": "1", "controller": True}
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [owner]}}


def later(before: Object, **metadata: Any) -> Object:
    return {"apiVersion": before["apiVersion"], "kind": before["kind"], "metadata": {"name": "it", **metadata}}


def patches(act: str, before: Object, **metadata: Any) -> Request:
    return Request(act, later(before, **metadata), method="PATCH", before=before)


def trains(**more: Any) -> Object:
    return merged(make.train_job(), **more)


def patched(template: Object, manager: str = "example.com/mine") -> Object:
    return trains(runtimePatches=[{"manager": manager, "trainingRuntimeSpec": {"template": template}}])


def replicated(**template: Any) -> Object:
    made = make.job_set()
    (job,) = made["spec"]["replicatedJobs"]
    return merged(made, replicatedJobs=[{**job, "template": {**job["template"], **template}}])


ANNOTATIONS: Final = (
    patches("changes the role of a pod that waits", waiting(), annotations={f"{K}role-hash": "main"}),
    patches("hides a pod that runs from Kueue", running(), labels={f"{K}managed": None}),
    patches("takes a pod that runs out of its queue", running(), labels={QUEUE: None}),
    patches("takes a pod that waits out of its queue", waiting(), labels={QUEUE: None}),
    Request("says in a Deployment's pods that their parent waits",
        templated(make.deployment(on("h100")), annotations={f"{K}pod-suspending-parent": "deployment"})),
    patches("says later that the parent of a pod waits", waiting(), annotations={
        f"{K}pod-suspending-parent": "statefulset"}),
    patches("counts a Ray cluster with other sizes", annotated(ray.cluster(), **{f"{K}elastic-job": "true"}),
            annotations={f"{K}raycluster-podset-replica-sizes": '[{"name":"workers","count":1}]'}),
    Request("gives the steps of a workflow one role", make.workflow(templates=[{"name": "x",
                    "metadata": {"labels": {QUEUE: "default", f"{K}pod-group-name": "g"}, "annotations": GROUP},
                    "container": container()}])),
)  # fmt: skip

PRIORITIES: Final = (
    patches("takes a priority of others later for a TrainJob", make.train_job(), labels=CLASS),
    patches("takes a priority of others later for a pod", waiting(), labels=CLASS),
    Request("takes a priority of others for all pods of a workflow",
        make.workflow(podMetadata={"labels": {QUEUE: "default", **CLASS}})),
    Request("takes a priority of others by a patch of a runtime", patched({"metadata": {"labels": CLASS}})),
    Request("serves with a class of others",
        make.inference_service(priorityClassName=OTHERS, model={}, maxReplicas=1)),
    Request("runs a workflow with a class of others",
        make.workflow(podPriorityClassName=OTHERS, templates=[{"name": "x", "container": container()}])),
    Request("gives one step of a workflow a class of others",
        make.workflow(templates=[{"name": "x", "priorityClassName": OTHERS, "container": container()}])),
    Request("takes its workflow before those of all teams", make.workflow(priority=2147483647)),
    Request("boosts the priority of its workload",
        annotated(thing("kueue.x-k8s.io/v1beta2", "Workload", "job-it"), **{f"{K}priority-boost": "1000000"}),
        method="PATCH"),
)  # fmt: skip

PLACES: Final = (
    Request("keeps all others out of a replicated job's zone", replicated(metadata={"annotations": EXCLUSIVE})),
    Request("keeps all others out of a runtime's zone", thing("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", spec={
                "template": {"metadata": {"annotations": EXCLUSIVE}, "spec": runtime()["spec"]["template"]["spec"]}})),
    patches("keeps all others out of its JobSet's zone later", make.job_set(), annotations=EXCLUSIVE),
    *(Request(f"starts a {made['kind']} as the child of an admitted {kind}", child(made, api, kind))
      for made, api, kind in (
          (make.job(on("h100"), queued=False), "jobset.x-k8s.io/v1alpha2", "JobSet"),
          (make.job_set(on("h100"), queued=False), "trainer.kubeflow.org/v1alpha1", "TrainJob"),
          (ray.cluster(on("h100"), queued=False), "ray.io/v1", "RayJob"),
          (make.stateful_set(on("h100")), "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
          (make.replica_set(on("h100")), "apps/v1", "Deployment"),
          (make.pod(on("h100")), "batch/v1", "Job"))),
    patches("gives its queued JobSet to an admitted TrainJob", make.job_set(on("h100")), ownerReferences=[{
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "small", "uid": "1",
        "controller": True}]),
)  # fmt: skip

DEVICES: Final = (
    Request("sees all GPUs of its node by a variable",
        make.job(on("h100", {**gpus(1), "env": ALL_GPUS}), suspend=True)),
    Request("sees all GPUs of its node in a sidecar", make.job(
            on("h100", gpus(1), initContainers=[container(name="side", restartPolicy="Always", env=ALL_GPUS)]),
            suspend=True)),
    Request("asks for GPUs for the router of a graph", thing("serving.kserve.io/v1alpha1", "InferenceGraph", spec={
                "nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceName": "x"}]}},
                "resources": {"limits": {"nvidia.com/gpu": "8"}}, "nodeSelector": {make.POOL: "h100"}})),
    Request("asks for GPUs of a TrainJob that is not queued", merged(make.train_job(queued=False),
            trainer={"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}}})),
    Request("asks for GPUs in a runtime of models", thing("serving.kserve.io/v1alpha1", "ServingRuntime",
            spec={"containers": [{**gpus(8), "name": "kserve-container"}], "nodeSelector": {make.POOL: "h100"}})),
    Request("asks for GPUs in the workers of a model", make.inference_service(model={}, maxReplicas=1,
            workerSpec={"containers": [gpus(8)], "pipelineParallelSize": 100})),
    Request("patches GPUs into the pods of a workflow",
        make.workflow(podSpecPatch='{"containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}')),
    Request("gives the pods that delete artifacts a class of others", make.workflow(artifactGC={
                "strategy": "OnWorkflowDeletion", "podSpecPatch": '{"priorityClassName":"production-training"}'})),
)  # fmt: skip

REPELLING: Final = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
    "labelSelector": {"matchExpressions": [{"key": "jobset.sigs.k8s.io/job-key", "operator": "Exists"}]},
    "topologyKey": "topology.kubernetes.io/zone", "namespaceSelector": {}}]}}  # fmt: skip


def gets(act: str, actor: str, manifest: Object) -> Request:
    return Request(act, make.owned(manifest), actor=actor)


BY_CONTROLLERS: Final = (
    gets("gets a step with the role of a smaller one", "Argo", waiting(GROUP, **{f"{K}pod-group-name": "g"})),
    gets("gets a step with a priority of others", "Argo", waiting(None, **CLASS)),
    gets("gets a step with a class of others", "Argo", make.pod(spec(priorityClassName=OTHERS))),
    gets("gets a step with GPUs and no queue", "Argo", make.pod(on("h100"))),
    gets("gets a pod that keeps all others out of its zone", "job controller", make.pod(spec(affinity=REPELLING))),
    gets("gets a pod that tolerates everything", "job controller", make.pod(spec(
        tolerations=[{"operator": "Exists"}]))),
    gets("gets a JobSet with a class of others", "Trainer", make.job_set(
        on("h100", priorityClassName=OTHERS), queued=False)),
    gets("gets a JobSet that keeps all others out of its zone", "Trainer", annotated(
        make.job_set(queued=False), **EXCLUSIVE)),
    gets("gets a Deployment with GPUs and no queue", "KServe", make.deployment(on("h100"))),
    gets("gets a Deployment with a priority of others", "KServe", tagged(make.deployment(), **CLASS)),
    gets("gets a Deployment whose pods have one role", "KServe", tagged(templated(
        make.deployment(on("h100")), annotations={f"{K}role-hash": "main"}), **{QUEUE: "default"})),
    gets("gets a leader with a class of others", "stateful set controller", make.pod(spec(
        priorityClassName=OTHERS))),
    Request("gives the pods of a template of workflows one role",
        make.workflow("WorkflowTemplate", podMetadata={"annotations": GROUP})),
    Request("gives scheduled workflows a priority before all teams", make.workflow("CronWorkflow", priority=1000)),
    Request("gives the pods of a runtime of models one role", thing("serving.kserve.io/v1alpha1", "ServingRuntime",
            spec={"annotations": {f"{K}role-hash": "main"}, "labels": CLASS, "containers": [container()]})),
    Request("gives the pods of a graph a priority of others",
        tagged(thing("serving.kserve.io/v1alpha1", "InferenceGraph", spec={"nodes": {}}), **CLASS)),
)  # fmt: skip

QUEUEING: Final = (*ANNOTATIONS, *PRIORITIES, *PLACES, *DEVICES, *BY_CONTROLLERS)
