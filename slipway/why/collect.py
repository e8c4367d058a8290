"""Reads from a cluster what an answer needs, by the names that kubectl takes.

the objects of its namespaces, and neither nodes nor node claims.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from components.admission import kinds
from components.workloads.target import Target
from sandbox.kubernetes.client import AGGREGATED, ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import Object, Ref
from slipway.why.bundle import Bundle
from slipway.why.schema import versions
from slipway.why.served import CLAIM
from spec.errors import SlipwayError, fail
from spec.jobs import KUEUE_API

# Objects by the names that kubectl takes: `job/train`, `jobs.batch/train`, `deploy/x`, or a name alone.


GUESSED: Final = ("pod", "job", "workload", "trainjob", "jobset", "deployment", "statefulset", "cronjob")
"""Kinds that are tried, in this order, for a name without a kind."""


@dataclass(frozen=True)
class Served:
    """A kind, and the names that kubectl takes for it."""

    api_version: str
    kind: str
    group: str
    names: frozenset[str]


def served(client: KubeClient) -> list[Served]:
    """Every kind that the API server serves, in its order of preference."""
    found = []
    for path in ("/api", "/apis"):
        for group in client.get_path(path, headers={"Accept": AGGREGATED}).get("items") or ():
            found += list(_of_group(group))
    return found


def _of_group(group: dict[str, Any]) -> Iterator[Served]:
    name = str((group.get("metadata") or {}).get("name") or "")
    for version in group.get("versions") or ():
        api_version = f"{name}/{version['version']}" if name else str(version["version"])
        for each in version.get("resources") or ():
            kind = str((each.get("responseKind") or {}).get("kind") or "")
            names = {each["resource"], each.get("singularResource"), kind.lower(), *(each.get("shortNames") or ())}
            yield Served(api_version, kind, name, frozenset(one for one in names if one))


def find(client: KubeClient, text: str, namespace: str) -> Object:
    """The object that a user names."""
    word, slash, name = text.partition("/")
    kinds = served(client)
    if slash and (not word or not name or "/" in name):
        fail(f"{text}: write kind/name, as kubectl does: job/train")
    words = (word,) if slash else GUESSED
    denied = ""
    for each in words:
        kind = _kind(kinds, each)
        if kind is None:
            continue
        try:
            found = client.get(Ref(kind.api_version, kind.kind, name if slash else word, namespace))
        except ApiError as error:
            denied = error.message
            continue
        except NoSuchKindError:
            continue
        if found is not None:
            return found
    if denied:
        raise SlipwayError(denied)
    if slash and _kind(kinds, word) is None:
        fail(f"the cluster serves no kind {word}: `kubectl api-resources` lists them")
    what = f"no {word} {name}" if slash else f"no pod, job or workload {word}, and there is no such file"
    msg = f"namespace {namespace} has {what}: name the namespace with -n, and the object as kind/name"
    raise SlipwayError(msg)


def _kind(kinds: list[Served], word: str) -> Served | None:
    name, _, group = word.lower().partition(".")
    for one in kinds:
        if name in one.names and (not group or one.group == group or one.group.startswith(f"{group}.")):
            return one
    return None


# Reads from a cluster what an answer needs. What may not be read is noted, and is no error: a member of a team reads


NAMESPACED: Final = (
    *((versions(one)[0], one.kind) for one in kinds.WITH_PODS if one is not kinds.DAEMON_SET),
    *((versions(one)[0], one.kind) for one in (kinds.TRAIN_JOB, kinds.WORKFLOW, kinds.INFERENCE_SERVICE)),
    ("v1", CLAIM),
    (KUEUE_API, "Workload"),
    (KUEUE_API, "LocalQueue"),
    *(("serving.knative.dev/v1", each) for each in ("Service", "Configuration", "Revision")),
)
"""Kinds between what a user applies and its pods, what a user applies included: a pod or a Workload of Kueue is asked
about as well. A kind that the cluster does not serve is left out."""
OF_CLUSTER: Final = (
    ("v1", "Node"),
    ("karpenter.sh/v1", "NodeClaim"),
    ("karpenter.sh/v1", "NodePool"),
    ("storage.k8s.io/v1", "StorageClass"),
)
CLUSTER_EVENTS: Final = "default"
"""Namespace of events about objects of the cluster (client-go, tools/record, makeEvent)."""


@dataclass(frozen=True)
class Survey:
    """What was read of a namespace, for every object in it."""

    objects: Sequence[Object]  # its objects, and those of the cluster
    events: Sequence[Object]
    unread: Sequence[str]  # what could not be read, with the reason

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
        return list(client.list(client.discovery.find(api_version, kind), namespace))
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
