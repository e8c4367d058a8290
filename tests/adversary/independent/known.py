"""Independent probes that get through: acts that are accepted, and gaps that a rule has to close.

`make adversary` counts a gap against the rate. Remove an act here once a rule refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MISSING: Final[Mapping[str, tuple[str, ...]]] = {
    "Kueue queues by priorityClassName where no label names a class; priorityClass compares it with all classes": (
        "queues a Job with a class of others",
        "queues the second part of a JobSet with a class of others",
        "queues a head of Ray with a class of others",
        "trains with a class of others in a runtime of its own",
        "leads with a class of others",
        "gets a JobSet with a class of others",
    ),
    "no rule judges the priority by which Argo's controller takes workflows of all namespaces": (
        "takes its workflow before those of all teams",
        "gives scheduled workflows a priority before all teams",
    ),
    "the container runtime of GPU nodes takes NVIDIA_VISIBLE_DEVICES of a container instead of the device plugin's": (
        "sees all GPUs of its node by a variable",
        "sees all GPUs of its node in a sidecar",
    ),
    "monitorScope and monitorFiles list what is refused, not what is allowed: Prometheus asks the proxy or token URL": (
        "scrapes through a proxy of its own",
        "lets Prometheus ask an address for a token",
        "scrapes its pods through a proxy of its own",
        "scrapes its pods with a token from an address",
    ),
    "monitorScope doesn't read targetLabels and podTargetLabels, nor labeldrop and labelkeep": (
        "takes the namespace of its metrics away",
        "takes the namespace of its targets away",
        "keeps no namespace of its targets",
        "copies another namespace from the labels of its Service",
        "copies another namespace from the labels of its pods",
    ),
    "the server of workflows reads argo/* of all namespaces, and no rule judges the keys of artifacts": (
        "reads artifacts of another team as the server of workflows, by a key",
        "reads artifacts of another team as the server of workflows, by a bucket",
    ),
    "the controller of workflows serves the metrics of all teams, and no rule judges those that a workflow declares": (
        "lets Argo publish metrics with a million labels",
    ),
    "ingressScope allows an InferenceService what the load balancer of all models takes from each Ingress": (
        "stops the load balancer of all models by a second name",
        "stops the load balancer of all models by an attribute that AWS does not know",
        "stops the load balancer of all models by a health check that AWS refuses",
        "stops the load balancer of all models by a port that is none",
    ),
    "a rule that knows what each value of a chart switches on": ("lets Argo's server act for everybody",),
}
GAPS: Final[Mapping[str, str]] = {act: missing for missing, acts in _MISSING.items() for act in acts}
"""What each act misses."""

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
        "serves with a class its namespace does not have",
        "serves with a class of others",
        "runs a workflow with a class of others",
        "gives one step of a workflow a class of others",
        "gives the pods that delete artifacts a class of others",
        "gets a step with a class of others",
        "gets a leader with a class of others",
    ),
    "costs are counted by the labels of pods and namespaces, and teamLabels judges each pod": (
        "bills its deployment to another cost center",
    ),
    "the quota of jobs and pods limits what a CronJob piles up or keeps": (
        "starts a Job of 100 pods every minute",
        "keeps 100000 finished Jobs of a CronJob",
    ),
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
        "keeps all others out of its JobSet's zone",
        "keeps all others out of a replicated job's zone",
        "keeps all others out of the zone by the annotation of its pods",
        "keeps all others out of a TrainJob's zone",
        "keeps all others out of a runtime's zone",
        "keeps all others out of its JobSet's zone later",
        "gets a JobSet that keeps all others out of its zone",
        "opens the gates of a TrainJob's pods",
    ),
    "its pods have that token anyway; AWS takes tokens with another audience only": ("makes a token that never ends",),
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
    "teams are refused it: priorityClass admits the four classes of the platform": ("adds a priority that preempts",),
    "its load balancer has a name of its own, which no DNS record of others names": (
        "takes the host name of another team in its Ingress",
    ),
    "an entry that is valid for more than 370 days excuses nothing, and `suppression-current` fails the run": (
        "excuses a rule for six years",
    ),
}
ACCEPTED: Final[Mapping[str, str]] = {act: reason for reason, acts in _REASONS.items() for act in acts}
"""Why each act is accepted: docs/security.md gives the same reason."""
