"""Independent probes that get through, and why that is accepted. Remove an act here once a rule refuses it."""

from collections.abc import Mapping
from typing import Final

_REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "the claim itself is refused: requests.storage of the quota counts what controllers claim": (
        "claims a petabyte with an ephemeral volume",
        "claims a petabyte in a StatefulSet",
    ),
    "no signer of that name answers requests of pods: the pod stays pending": (
        "asks the kubelet for a certificate of the API server",
    ),
    "no node has them: the pod stays pending and counts against its quota": (
        "asks for all huge pages of a node",
        "fills the node's disk",
    ),
    "the pods are refused: a quota of zero for the classes of others (ResourceQuota priorities)": (
        "serves with a class of others",
        "runs a workflow with a class of others",
        "gives one step of a workflow a class of others",
        "gives the pods that delete artifacts a class of others",
    ),
    "costs are counted by the labels of pods and namespaces, and teamLabels judges each pod": (
        "bills its deployment to another cost center",
    ),
    "the quota of jobs and pods limits what a CronJob piles up or keeps": ("starts a Job of 100 pods every minute",),
    (
        "the controller's own request is refused: scaleBounds and externalIps judge it, and the quota has no "
        "load balancers"
    ): (
        "lets KEDA hold 5000 replicas while it pauses",
        "takes a Ray head to the outside by its Service",
        "orders a load balancer for a Ray head",
        "orders a load balancer for Ray Serve",
        "opens ports of nodes for Ray Serve",
        "orders a load balancer by annotations of Ray's head",
    ),
    "queueMetadata, priorityClass, gpuQueue, triggerScope and ingressScope refuse what the controller makes of it": (
        "gives the steps of a workflow one role",
        "takes a priority of others for all pods of a workflow",
        "asks for GPUs for the router of a graph",
        "asks for GPUs in a runtime of models",
        "asks for GPUs in the workers of a model",
        "patches GPUs into the pods of a workflow",
        "gives the pods of a template of workflows one role",
        "gives the pods of a runtime of models one role",
        "gives the pods of a graph a priority of others",
        "scales a model by an address",
        "scales a model by credentials of KEDA",
        "scales a model by an external scaler",
        "orders a load balancer by annotations of a predictor",
        "orders a load balancer by annotations of a runtime",
    ),
    "the pods are refused: nodeSelection judges each of them after JobSet's webhook": (
        "keeps all others out of its JobSet's zone later",
        "gets a JobSet that keeps all others out of its zone",
    ),
    "the runtime that names the class is refused, and a patch of a TrainJob names none": (
        "gets a JobSet with a class of others",
    ),
    "it has no quota there that others have, and the count of objects limits what stays": (
        "hands a TrainJob to another cluster",
    ),
    "it protects long jobs; a drain has a deadline (terminationGracePeriod of the pool)": (
        "keeps Karpenter from removing the node of a pod",
    ),
    "the node stays as long as its pod, which counts against its quota": (
        "keeps the Cluster Autoscaler from removing the node of a pod",
    ),
    "an alias in its own namespace; network policies see the real address": ("names the API server as its Service",),
    "KEDA reads no Secrets there, so the trigger is not ready; no allowed trigger needs one": (
        "hides the address that KEDA connects to in a Secret",
    ),
    "the quota of `pods` and Kueue limit them; each step is queued by itself": (
        "runs a step of a workflow 100000 times",
    ),
    "Grafana's sidecars read their own namespace only": (
        "adds a data source to Grafana",
        "replaces a dashboard of the platform",
        "adds a data source to Grafana by a Secret",
    ),
    "the pod is refused: its namespace has no account of that name": (
        "reads secrets of the system through its submitter's account",
        "gives Ray's head the account of the operator",
    ),
    "the role admin exists for it; security groups still apply": (
        "deletes the platform's network policy as an administrator",
    ),
    "its load balancer has a name of its own, which no DNS record of others names": (
        "takes the host name of another team in its Ingress",
    ),
}
ACCEPTED: Final[Mapping[str, str]] = {act: reason for reason, acts in _REASONS.items() for act in acts}
"""Why each act is accepted: docs/security.md gives the same reason."""
