"""Independent probes that get through: acts that are accepted, and gaps that a rule has to close.

`make adversary` counts a gap against the rate. Remove an act here once a rule refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GAPS: Final[Mapping[str, str]] = {}
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
    ),
    "the quota of `pods` and Kueue limit them; each step is queued by itself": (
        "runs a step of a workflow 100000 times",
    ),
    "KEDA has no role at AWS": (
        "uses KEDA's own identity at AWS",
        "lets KEDA assume a role",
    ),
    "KEDA takes a number from the answer, and its pods have no role at AWS": ("lets KEDA ask the metadata service",),
    "Grafana's sidecars read their own namespace only": (
        "adds a data source to Grafana",
        "replaces a dashboard of the platform",
        "adds a data source to Grafana by a Secret",
    ),
    "the pod is refused: its namespace has no account of that name": (
        "reads secrets of the system through its submitter's account",
    ),
    "the role admin exists for it; security groups still apply": (
        "deletes the platform's network policy as an administrator",
    ),
    "its load balancer has a name of its own, which no DNS record of others names": (
        "takes the host name of another team in its Ingress",
    ),
    "an entry that is valid for more than 370 days excuses nothing, and `suppression-current` fails the run": (
        "excuses a rule for six years",
    ),
}
ACCEPTED: Final[Mapping[str, str]] = {act: reason for reason, acts in _REASONS.items() for act in acts}
"""Why each act is accepted: docs/security.md gives the same reason."""
