"""Reads from a cluster what an answer needs. What may not be read is noted, and is no error: a member of a team reads
the objects of its namespaces, and neither nodes nor node claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from components.admission import kinds
from components.workloads.target import Target
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Object
from slipway.why.bundle import Bundle

NAMESPACED: Final = (
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("kueue.x-k8s.io/v1beta2", "Workload"),
    ("kueue.x-k8s.io/v1beta2", "LocalQueue"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    *(("kubeflow.org/v1", each.kind) for each in kinds.TRAINING),
    ("kubeflow.org/v2beta1", kinds.MPI_JOB.kind),
    *(("ray.io/v1", each.kind) for each in kinds.RAY),
    ("keda.sh/v1alpha1", "ScaledJob"),
    ("argoproj.io/v1alpha1", "Workflow"),
    ("serving.kserve.io/v1beta1", "InferenceService"),
    ("serving.knative.dev/v1", "Service"),
    ("serving.knative.dev/v1", "Configuration"),
    ("serving.knative.dev/v1", "Revision"),
)
"""Kinds between what a user applies and its pods, what a user applies included: a pod or a Workload of Kueue is asked
about as well. A kind that the cluster does not serve is left out."""
OF_CLUSTER: Final = (("v1", "Node"), ("karpenter.sh/v1", "NodeClaim"))
CLUSTER_EVENTS: Final = "default"
"""Namespace of events about objects of the cluster (client-go, tools/record, makeEvent)."""


@dataclass(frozen=True)
class Survey:
    """What was read of a namespace, for every object in it.

    Attributes:
        objects: Its objects, and those of the cluster.
        events: Their events.
        unread: What could not be read, with the reason.
    """

    objects: Sequence[Object]
    events: Sequence[Object]
    unread: Sequence[str]

    def of(self, subject: Object, target: Target | None = None) -> Bundle:
        """What concerns one object."""
        return Bundle(
            subject=subject, objects=self.objects, events=self.events, target=target, unread=tuple(self.unread)
        )


def survey(client: KubeClient, namespace: str) -> Survey:
    """Read everything that concerns the objects of a namespace.

    Raises:
        ApiError: The API server refuses a request for another reason than missing permissions.
    """
    unread: list[str] = []
    objects = [one for kind in NAMESPACED for one in _list(client, *kind, namespace, unread)]
    objects += [one for kind in OF_CLUSTER for one in _list(client, *kind, "", unread)]
    events = _list(client, "v1", "Event", namespace, unread)
    if namespace != CLUSTER_EVENTS:
        events += _list(client, "v1", "Event", CLUSTER_EVENTS, unread)
    return Survey(objects, events, tuple(dict.fromkeys(unread)))


def collect(client: KubeClient, subject: Object, target: Target | None = None) -> Bundle:
    """Read everything that concerns one object. Raises ApiError, as `survey` does."""
    return survey(client, str(subject["metadata"].get("namespace") or "")).of(subject, target)


def _list(client: KubeClient, api_version: str, kind: str, namespace: str, unread: list[str]) -> list[Object]:
    try:
        return list(_read(client, api_version, kind, namespace))
    except NoSuchKindError:
        return []
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return []
        if error.status == HTTPStatus.FORBIDDEN:
            where = f"of namespace {namespace}" if namespace else "of the cluster"
            unread.append(f"{kind} {where}: your permissions don't include it")
            return []
        raise


def _read(client: KubeClient, api_version: str, kind: str, namespace: str) -> Iterator[Object]:
    yield from client.list(client.discovery.find(api_version, kind), namespace)
