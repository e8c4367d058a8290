"""Kinds that rules check: everything that makes pods and that the platform serves.

Pods are always checked, whatever creates them. Kinds with pod templates are checked too, so that the user who applies a
Job sees the error instead of an event. What a controller makes for a parent that the rules check isn't checked again
(`components.base.controllers`): a JobSet's Jobs get their tolerations only when Kueue admits the set.
"""

from __future__ import annotations

from typing import Final

from components.addons.kubeflow_crds import GROUP, KINDS
from components.admission.rule import Kind

POD: Final = Kind("", "pods", "Pod")
JOB: Final = Kind("batch", "jobs", "Job")
CRON_JOB: Final = Kind("batch", "cronjobs", "CronJob")
DEPLOYMENT: Final = Kind("apps", "deployments", "Deployment")
REPLICA_SET: Final = Kind("apps", "replicasets", "ReplicaSet")
STATEFUL_SET: Final = Kind("apps", "statefulsets", "StatefulSet")
DAEMON_SET: Final = Kind("apps", "daemonsets", "DaemonSet")
JOB_SET: Final = Kind("jobset.x-k8s.io", "jobsets", "JobSet")
LEADER_WORKER_SET: Final = Kind("leaderworkerset.x-k8s.io", "leaderworkersets", "LeaderWorkerSet")
TRAINING: Final = tuple(Kind(GROUP, kind.plural, kind.kind) for kind in KINDS.values())
"""Kinds of the training operator."""
MPI_JOB: Final = Kind(GROUP, "mpijobs", "MPIJob")
TRAIN_JOB: Final = Kind("trainer.kubeflow.org", "trainjobs", "TrainJob")
TRAINING_RUNTIME: Final = Kind("trainer.kubeflow.org", "trainingruntimes", "TrainingRuntime")
EXPERIMENT: Final = Kind(GROUP, "experiments", "Experiment")
RAY_CLUSTER: Final = Kind("ray.io", "rayclusters", "RayCluster")
RAY_JOB: Final = Kind("ray.io", "rayjobs", "RayJob")
RAY_SERVICE: Final = Kind("ray.io", "rayservices", "RayService")
INFERENCE_SERVICE: Final = Kind("serving.kserve.io", "inferenceservices", "InferenceService")
INFERENCE_GRAPH: Final = Kind("serving.kserve.io", "inferencegraphs", "InferenceGraph")
AUTOSCALER: Final = Kind("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
SCALED_OBJECT: Final = Kind("keda.sh", "scaledobjects", "ScaledObject")
SCALED_JOB: Final = Kind("keda.sh", "scaledjobs", "ScaledJob")
TRIGGER_AUTHENTICATION: Final = Kind("keda.sh", "triggerauthentications", "TriggerAuthentication")
WORKFLOW: Final = Kind("argoproj.io", "workflows", "Workflow")
CRON_WORKFLOW: Final = Kind("argoproj.io", "cronworkflows", "CronWorkflow")
WORKFLOW_TEMPLATE: Final = Kind("argoproj.io", "workflowtemplates", "WorkflowTemplate")
SERVICE: Final = Kind("", "services", "Service")
INGRESS: Final = Kind("networking.k8s.io", "ingresses", "Ingress")
POD_MONITOR: Final = Kind("monitoring.coreos.com", "podmonitors", "PodMonitor")
CONFIG_MAP: Final = Kind("", "configmaps", "ConfigMap")
SECRET: Final = Kind("", "secrets", "Secret")
CLAIM_TEMPLATE: Final = Kind("resource.k8s.io", "resourceclaimtemplates", "ResourceClaimTemplate")
POD_GROUP: Final = Kind("scheduling.volcano.sh", "podgroups", "PodGroup")
SERVICE_MONITOR: Final = Kind("monitoring.coreos.com", "servicemonitors", "ServiceMonitor")

REPLICATED: Final = {**{kind.kind: kind.replicas for kind in KINDS.values()}, MPI_JOB.kind: "mpiReplicaSpecs"}
"""Field of the replica groups, by kind."""
OPERATED: Final = (*TRAINING, MPI_JOB)  # kinds with replica groups and a `runPolicy`
RAY: Final = (RAY_CLUSTER, RAY_JOB, RAY_SERVICE)  # kinds of KubeRay, each with the spec of a Ray cluster
UNCHECKED: Final = (JOB_SET, LEADER_WORKER_SET, *OPERATED, SCALED_JOB, *RAY)
"""Kinds whose pod templates the API server doesn't validate: their CRD schemas have no rules for pods."""
JOBS: Final = (JOB, CRON_JOB, JOB_SET, *OPERATED, SCALED_JOB, RAY_JOB)  # kinds of jobs with pod templates
SERVERS: Final = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, LEADER_WORKER_SET, RAY_CLUSTER, RAY_SERVICE)
"""Kinds with pod templates whose pods run without end."""
WITH_PODS: Final = (POD, *JOBS, *SERVERS)
WORKFLOWS: Final = (WORKFLOW, CRON_WORKFLOW, WORKFLOW_TEMPLATE)


def scale(kind: Kind) -> Kind:
    """The subresource `scale` of a kind, which `kubectl scale` and autoscalers write."""
    return Kind(kind.group, f"{kind.resource}/scale", "Scale")


SCALES: Final = tuple(
    scale(kind)
    for kind in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, LEADER_WORKER_SET, *TRAINING)
    if kind not in TRAINING or KINDS[kind.kind].scales
)
EPHEMERAL_CONTAINERS: Final = Kind("", "pods/ephemeralcontainers", "Pod")
SMALL: Final = (
    CLAIM_TEMPLATE,
    Kind("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    Kind("", "serviceaccounts", "ServiceAccount"),
    Kind("argoproj.io", "workfloweventbindings", "WorkflowEventBinding"),
    # The StatefulSet that Seldon's controller makes of a Server is evaluated, as one of a member is.
    Kind("mlops.seldon.io", "experiments", "Experiment"),
    Kind("mlops.seldon.io", "models", "Model"),
    Kind("mlops.seldon.io", "servers", "Server"),
    Kind("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
    Kind("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
    Kind("serving.kserve.io", "servingruntimes", "ServingRuntime"),
    Kind("serving.kserve.io", "trainedmodels", "TrainedModel"),
)
"""Other kinds that members create."""
BY_RESOURCE: Final = {
    (kind.group, kind.resource): kind
    for each in tuple(vars().values())
    for kind in (each if isinstance(each, tuple) else (each,))
    if isinstance(kind, Kind)
}
"""Kinds of this module by group and resource."""
