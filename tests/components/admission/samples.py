"""Valid workloads, which tests change in one aspect."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from components.addons.registry import REGISTRY
from components.addons.schedulers import Yunikorn
from components.admission import StackContext
from components.admission.kinds import REPLICATED
from spec.pools import resolve_all
from tests.components.pools.samples import platform
from tests.support.cases import beside

DATA: Final = beside(__file__)
Object = dict[str, Any]

POOLS: Final[Mapping[str, Mapping[str, Any]]] = DATA["pools"]
CONTROLLERS: Final = tuple((addon.namespace.name, each) for addon in REGISTRY.values() for each in addon.controllers)
GPU: Final = "nvidia.com/gpu"
SLICE: Final = "nvidia.com/mig-1g.5gb"
CONTEXT: Final = StackContext(
    pools=resolve_all(platform(POOLS)),
    queues=True,
    max_replicas=100,
    controllers=CONTROLLERS,
    # Made up, in thousandths of a USD an hour.
    prices={"h100": {GPU: 6880}, "a100": {SLICE: 392}, "spot": {GPU: 400}},
)
PLACED: Final = replace(CONTEXT, by_topology=frozenset({"h100"}))
"""With a topology on one pool."""
EVERY: Final = replace(PLACED, scheduler=Yunikorn.scheduler)
"""With all rules: no stack has queues of Kueue and another scheduler, but each rule is evaluated alone."""
JOB_USD: Final = 1000
"""The most that one job may cost in the namespaces of the tests."""
IMAGE: Final = "registry.example.com/team/train:1.2.3"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
POOL: Final = "platform.slipway/pool"
GPU_TAINT: Final = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
DEDICATED: Final = {"key": "dedicated", "operator": "Equal", "value": "ml-workloads", "effect": "NoSchedule"}


def pool_taint(pool: str) -> Object:
    return {"key": POOL, "operator": "Equal", "value": pool, "effect": "NoSchedule"}


def container(**more: Any) -> Object:
    return {"name": "main", "image": IMAGE, **more}


def asks(**devices: Any) -> Object:
    return container(resources={"limits": dict(devices)})


def gpus(count: int = 1, resource: str = GPU) -> Object:
    return container(resources={"limits": {resource: str(count)}})


def spec(*containers: Object, **more: Any) -> Object:
    return {"restartPolicy": "Never", "containers": list(containers) or [container()], **more}


def on(pool: str, *containers: Object, taints: list[Object] | None = None, **more: Any) -> Object:
    """A pod that selects a pool and tolerates its taints."""
    tolerations = [pool_taint(pool), GPU_TAINT, DEDICATED] if taints is None else taints
    return spec(*(containers or [gpus()]), nodeSelector={POOL: pool}, tolerations=tolerations, **more)


def pod(body: Object | None = None, **labels: str) -> Object:
    return _object("v1", "Pod", body or spec(), labels)


def job(body: Object | None = None, *, queued: bool = True, **more: Any) -> Object:
    bounds = {"activeDeadlineSeconds": 3600, "backoffLimit": 3, "ttlSecondsAfterFinished": 3600, **more}
    kept = {name: value for name, value in bounds.items() if value is not None}
    labels = {QUEUE: "default"} if queued else {}
    return _object("batch/v1", "Job", {**kept, "template": {"spec": body or spec()}}, labels)


def cron_job(body: Object | None = None, *, queued: bool = True, **more: Any) -> Object:
    template = {"spec": job(body, **more)["spec"], "metadata": {"labels": {QUEUE: "default"} if queued else {}}}
    return _object("batch/v1", "CronJob", {"schedule": "0 3 * * *", "jobTemplate": template}, {})


def deployment(body: Object | None = None, **more: Any) -> Object:
    return _scaled("Deployment", body, **more)


def stateful_set(body: Object | None = None, **more: Any) -> Object:
    return _scaled("StatefulSet", body, serviceName="it", **more)


def replica_set(body: Object | None = None, **more: Any) -> Object:
    return _scaled("ReplicaSet", body, **more)


def daemon_set(body: Object | None = None) -> Object:
    return _scaled("DaemonSet", body)


def job_set(
    body: Object | None = None, *, queued: bool = True, parallelism: int = 1, deadline: int | None = 3600, **more: Any
) -> Object:
    template = {"parallelism": parallelism, "template": {"spec": body or spec()}}
    if deadline is not None:
        template["activeDeadlineSeconds"] = deadline
    jobs = [{"name": "node", "replicas": 1, "template": {"spec": template}}]
    whole = {"ttlSecondsAfterFinished": 3600, "replicatedJobs": jobs, **more}
    kept = {name: value for name, value in whole.items() if value is not None}
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", kept, {QUEUE: "default"} if queued else {})


def reclaimed(*rules: Object) -> Object:
    """A JobSet that restarts without counting when a Job fails with these rules of its `podFailurePolicy`."""
    rule = {
        "name": "reclaimed",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"],
    }
    one = job_set(failurePolicy={"maxRestarts": 1, "rules": [rule]})
    one["spec"]["replicatedJobs"][0]["template"]["spec"]["podFailurePolicy"] = {"rules": list(rules)}
    return one


POLICY: Final = {"activeDeadlineSeconds": 3600, "backoffLimit": 3, "ttlSecondsAfterFinished": 3600}


def operated(kind: str, body: Object | None = None, *, queued: bool = True, replicas: int = 2, **policy: Any) -> Object:
    """A job with replica groups of the training operator or the MPI Operator."""
    worker = {"Worker": {"replicas": replicas, "template": {"spec": body or spec()}}}
    kept = {name: value for name, value in {**POLICY, **policy}.items() if value is not None}
    return _object(
        f"kubeflow.org/{CUSTOM[kind][1]}",
        kind,
        {REPLICATED[kind]: worker, "runPolicy": kept},
        {QUEUE: "default"} if queued else {},
    )


def pytorch_job(body: Object | None = None, *, queued: bool = True) -> Object:
    return operated("PyTorchJob", body, queued=queued)


def mpi_job(body: Object | None = None) -> Object:
    return operated("MPIJob", body)


def leader_worker_set(body: Object | None = None, *, queued: bool = True, **more: Any) -> Object:
    template = {"size": 2, "workerTemplate": {"spec": body or spec()}}
    labels = {QUEUE: "default"} if queued else {}
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"leaderWorkerTemplate": template, **more}, labels)


def scaled_job(body: Object | None = None, *, queued: bool = True, maximum: int = 10, **more: Any) -> Object:
    target = {**job(body, **more)["spec"]}
    labels = {QUEUE: "default"} if queued else {}
    return _object("keda.sh/v1alpha1", "ScaledJob", {"jobTargetRef": target, "maxReplicaCount": maximum}, labels)


def workflow(kind: str = "Workflow", **more: Any) -> Object:
    body = {"activeDeadlineSeconds": 3600, **more}
    kept = {name: value for name, value in body.items() if value is not None}
    cron = {"workflowSpec": kept, "concurrencyPolicy": "Forbid"}
    return _object("argoproj.io/v1alpha1", kind, cron if kind == "CronWorkflow" else kept, {})


def claim_template(name: str = "it", *, count: int | None = 1, **exactly: Any) -> Object:
    given = {"deviceClassName": "gpu.nvidia.com", "count": count, **exactly}
    request = {"name": "gpu", "exactly": {key: value for key, value in given.items() if value is not None}}
    made = _object("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"devices": {"requests": [request]}}}, {})
    return {**made, "metadata": {**made["metadata"], "name": name}}


def service(**more: Any) -> Object:
    return _object("v1", "Service", {"ports": [{"port": 80}], **more}, {})


def ingress(**annotations: str) -> Object:
    backend = {"service": {"name": "it", "port": {"number": 80}}}
    found = _object("networking.k8s.io/v1", "Ingress", {"defaultBackend": backend}, {})
    found["metadata"]["annotations"] = {f"alb.ingress.kubernetes.io/{key}": text for key, text in annotations.items()}
    return found


def service_monitor(**endpoint: Any) -> Object:
    body = {"selector": {}, "endpoints": [{"port": "http", **endpoint}]}
    return _object("monitoring.coreos.com/v1", "ServiceMonitor", body, {})


def noted(manifest: Object, name: str, value: str) -> Object:
    """The same object with an annotation of the load balancer controller."""
    notes = {f"alb.ingress.kubernetes.io/{name}": value}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}


def labelled(manifest: Object, queue: str | None = "default") -> Object:
    """The same object in a queue; None removes the label in a merge."""
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {QUEUE: queue}}}


def given(manifest: Object, **fields: Any) -> Object:
    """The same object with these fields of its spec."""
    return {**manifest, "spec": {**manifest["spec"], **fields}}


def gated(manifest: Object) -> Object:
    """The same pod as Kueue's webhook leaves it."""
    return {**manifest, "spec": {**manifest["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}


def train_job(*, queued: bool = True, nodes: int = 2, deadline: int = 3600, **trainer: Any) -> Object:
    labels = {QUEUE: "default"} if queued else {}
    body = {
        "runtimeRef": {"name": "torch-distributed"},
        "activeDeadlineSeconds": deadline,
        "trainer": {"numNodes": nodes, **trainer},
    }
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", body, labels)


def experiment(trial: Object | None = None, *, template: Object | None = None, **more: Any) -> Object:
    """An Experiment whose trials are this job, without its name."""
    one = trial or job()
    labels = {"metadata": {"labels": one["metadata"]["labels"]}} if one["metadata"]["labels"] else {}
    parameter = {"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.1"}}
    body = {
        "maxTrialCount": 12,
        "parallelTrialCount": 3,
        "resumePolicy": "Never",
        "parameters": [parameter],
        "trialTemplate": {
            "primaryContainerName": "main",
            "trialParameters": [{"name": "rate", "reference": "lr"}],
            "trialSpec": {key: one[key] for key in ("apiVersion", "kind", "spec")} | labels,
            **(template or {}),
        },
        **more,
    }
    kept = {name: value for name, value in body.items() if value is not None}
    return _object("kubeflow.org/v1beta1", "Experiment", kept, {})


def inference_service(**predictor: Any) -> Object:
    return _object("serving.kserve.io/v1beta1", "InferenceService", {"predictor": predictor}, {})


def scaled_object(**more: Any) -> Object:
    return _object("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "it"}, **more}, {})


def autoscaler(maximum: int) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"}
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }
    body = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": maximum, "metrics": [metric]}
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", body, {})


def owned(manifest: Object, *, controller: bool = True) -> Object:
    """The same object with an owner."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "it", "uid": "1", "controller": controller}
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [owner]}}


CUSTOM: Final = {
    "RayCluster": ("ray.io", "v1", "rayclusters"),
    "RayJob": ("ray.io", "v1", "rayjobs"),
    "RayService": ("ray.io", "v1", "rayservices"),
    "JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "PyTorchJob": ("kubeflow.org", "v1", "pytorchjobs"),
    "MPIJob": ("kubeflow.org", "v2beta1", "mpijobs"),
    **{kind: ("kubeflow.org", "v1", f"{kind.lower()}s") for kind in ("TFJob", "XGBoostJob", "JAXJob")},
    "Experiment": ("kubeflow.org", "v1beta1", "experiments"),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
    "ScaledJob": ("keda.sh", "v1alpha1", "scaledjobs"),
    "Workflow": ("argoproj.io", "v1alpha1", "workflows"),
    "CronWorkflow": ("argoproj.io", "v1alpha1", "cronworkflows"),
    "WorkflowTemplate": ("argoproj.io", "v1alpha1", "workflowtemplates"),
    "TrainingRuntime": ("trainer.kubeflow.org", "v1alpha1", "trainingruntimes"),
    "ServiceMonitor": ("monitoring.coreos.com", "v1", "servicemonitors"),
    "PodMonitor": ("monitoring.coreos.com", "v1", "podmonitors"),
    "TrainJob": ("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "InferenceService": ("serving.kserve.io", "v1beta1", "inferenceservices"),
    "InferenceGraph": ("serving.kserve.io", "v1alpha1", "inferencegraphs"),
    "ScaledObject": ("keda.sh", "v1alpha1", "scaledobjects"),
    "TriggerAuthentication": ("keda.sh", "v1alpha1", "triggerauthentications"),
}
"""Custom resources of the samples: their groups, versions and plurals are the add-ons' own."""


def definition(kind: str, *names: str) -> Object:
    """A CRD that accepts any spec: the rules must work without the help of a schema.

    `names` are its group, version and plural if it isn't one of `CUSTOM`.
    """
    group, version, plural = names or CUSTOM[kind]
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose, "status": loose}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"}, "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}]}}  # fmt: skip


def _scaled(kind: str, body: Object | None, **more: Any) -> Object:
    labels = {"app": "it"}
    template = {"metadata": {"labels": labels}, "spec": {**(body or spec()), "restartPolicy": "Always"}}
    return _object("apps/v1", kind, {"selector": {"matchLabels": labels}, "template": template, **more}, {})


def _object(api: str, kind: str, body: Object, labels: Mapping[str, str]) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it", "labels": dict(labels)}, "spec": body}
