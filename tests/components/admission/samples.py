"""Valid workloads, which tests change in one aspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from components.addons.registry import REGISTRY
from components.admission import StackContext
from spec.pools import resolve_all
from tests.components.pools.samples import platform

Object = dict[str, Any]

POOLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "cpu": {"preset": "cpu"},
    "h100": {"preset": "h100", "instanceTypes": ["p5.4xlarge"], "dedicated": True},
    "a100": {"preset": "a100", "mig": {"layout": "all-1g.5gb"}},
    "spot": {"preset": "gpu-spot"},
    "turns": {
        "preset": "gpu-spot",
        "capacity": {"market": "on-demand"},
        "sharing": {"mode": "time-slicing", "replicas": 4},
    },
}
CONTROLLERS: Final = tuple((addon.namespace.name, each) for addon in REGISTRY.values() for each in addon.controllers)
CONTEXT: Final = StackContext(
    pools=resolve_all(platform(POOLS)), queues=True, max_replicas=100, controllers=CONTROLLERS
)
IMAGE: Final = "registry.example.com/team/train:1.2.3"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
POOL: Final = "platform.slipway/pool"
GPU: Final = "nvidia.com/gpu"
SLICE: Final = "nvidia.com/mig-1g.5gb"
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


def job_set(body: Object | None = None, *, queued: bool = True, parallelism: int = 1, **more: Any) -> Object:
    template = {"activeDeadlineSeconds": 3600, "parallelism": parallelism, "template": {"spec": body or spec()}}
    jobs = [{"name": "node", "replicas": 1, "template": {"spec": template}}]
    whole = {"ttlSecondsAfterFinished": 3600, "replicatedJobs": jobs, **more}
    kept = {name: value for name, value in whole.items() if value is not None}
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", kept, {QUEUE: "default"} if queued else {})


def pytorch_job(body: Object | None = None, *, queued: bool = True) -> Object:
    replicas = {"Worker": {"replicas": 2, "template": {"spec": body or spec()}}}
    return _object(
        "kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas}, {QUEUE: "default"} if queued else {}
    )


def mpi_job(body: Object | None = None) -> Object:
    return _object(
        "kubeflow.org/v2beta1", "MPIJob", {"mpiReplicaSpecs": {"Worker": {"template": {"spec": body or spec()}}}}, {}
    )


def train_job(*, queued: bool = True) -> Object:
    labels = {QUEUE: "default"} if queued else {}
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}}, labels)


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
    "JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "PyTorchJob": ("kubeflow.org", "v1", "pytorchjobs"),
    "MPIJob": ("kubeflow.org", "v2beta1", "mpijobs"),
    "TrainJob": ("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "InferenceService": ("serving.kserve.io", "v1beta1", "inferenceservices"),
    "ScaledObject": ("keda.sh", "v1alpha1", "scaledobjects"),
}
"""Custom resources of the samples: their groups, versions and plurals are the add-ons' own."""


def definition(kind: str) -> Object:
    """A CRD that accepts any spec: the rules must work without the help of a schema."""
    group, version, plural = CUSTOM[kind]
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


def _scaled(kind: str, body: Object | None, **more: Any) -> Object:
    labels = {"app": "it"}
    template = {"metadata": {"labels": labels}, "spec": {**(body or spec()), "restartPolicy": "Always"}}
    return _object("apps/v1", kind, {"selector": {"matchLabels": labels}, "template": template, **more}, {})


def _object(api: str, kind: str, body: Object, labels: Mapping[str, str]) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it", "labels": dict(labels)}, "spec": body}
