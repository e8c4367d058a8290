"""Kinds that rules check, and where each of them has its pods.

Pods are always checked, whatever creates them. Kinds with pod templates are checked too, so that the user who applies a
Job sees the error instead of an event. Objects of controllers (ReplicaSets, Jobs of a JobSet) aren't checked, only
their owners and pods: a JobSet's Jobs get their tolerations only when Kueue admits the set.
"""

from __future__ import annotations

from typing import Final

from components.admission.rule import Kind

POD: Final = Kind("", "pods", "Pod")
JOB: Final = Kind("batch", "jobs", "Job")
CRON_JOB: Final = Kind("batch", "cronjobs", "CronJob")
DEPLOYMENT: Final = Kind("apps", "deployments", "Deployment")
STATEFUL_SET: Final = Kind("apps", "statefulsets", "StatefulSet")
DAEMON_SET: Final = Kind("apps", "daemonsets", "DaemonSet")
JOB_SET: Final = Kind("jobset.x-k8s.io", "jobsets", "JobSet")
PYTORCH_JOB: Final = Kind("kubeflow.org", "pytorchjobs", "PyTorchJob")
MPI_JOB: Final = Kind("kubeflow.org", "mpijobs", "MPIJob")
TRAIN_JOB: Final = Kind("trainer.kubeflow.org", "trainjobs", "TrainJob")
INFERENCE_SERVICE: Final = Kind("serving.kserve.io", "inferenceservices", "InferenceService")
AUTOSCALER: Final = Kind("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
SCALED_OBJECT: Final = Kind("keda.sh", "scaledobjects", "ScaledObject")

UNCHECKED: Final = (JOB_SET, PYTORCH_JOB, MPI_JOB)
"""Kinds whose pod templates the API server doesn't validate: their CRD schemas have no rules for pods."""
JOBS: Final = (JOB, CRON_JOB, *UNCHECKED)
WITH_PODS: Final = (POD, *JOBS, DEPLOYMENT, STATEFUL_SET, DAEMON_SET)

O: Final = "dyn(object)"  # noqa: E741 - short, because every expression uses it
"""The object. `dyn`, because CEL's type checker would look for the fields of a Job in a Pod."""
KIND: Final = "request.kind.kind"
UNOWNED: Final = (
    "!has(object.metadata.ownerReferences) || "
    "!object.metadata.ownerReferences.exists(r, has(r.controller) && r.controller)"
)
"""Whether no controller created it."""
CHANGED: Final = "request.operation == 'CREATE' || object.spec != oldObject.spec"
"""Whether the spec is new: finalizers of objects older than a rule must still be removable."""

_REPLICAS: Final = f"{O}.spec.%s.map(r, {O}.spec.%s[r].template.spec)"
SPECS: Final = (
    f"{KIND} == 'Pod' ? [{O}.spec] : "
    f"{KIND} == 'CronJob' ? [{O}.spec.jobTemplate.spec.template.spec] : "
    f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(j, j.template.spec.template.spec) : "
    f"{KIND} == 'PyTorchJob' ? {_REPLICAS.replace('%s', 'pytorchReplicaSpecs')} : "
    f"{KIND} == 'MPIJob' ? {_REPLICAS.replace('%s', 'mpiReplicaSpecs')} : "
    f"[{O}.spec.template.spec]"
)
"""Pod specs of an object."""
CONTAINERS: Final = "variables.specs.map(s, s.containers + (has(s.initContainers) ? s.initContainers : []))"
"""Containers of each of the `specs`."""
_TEMPLATE: Final = f"{O}.spec.jobTemplate.metadata"
LABELS: Final = (
    f"{KIND} == 'CronJob' ? (has({_TEMPLATE}) && has({_TEMPLATE}.labels) ? {_TEMPLATE}.labels : {{}}) : "
    f"(has({O}.metadata.labels) ? {O}.metadata.labels : {{}})"
)
"""Labels of the object; of a CronJob, those of its Jobs."""
JOINED: Final = ".filter(t, t != '').join(', ')"
"""Suffix for a list of strings: joins those that aren't empty."""
