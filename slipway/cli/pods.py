"""Pods of a cluster in the sandbox: how many its workloads want, how many run, and why others don't.

A pod that was never created (too small a quota, a missing service account) is no object: wanted pods are counted from
their workloads, and the event of the controller that could not create one has the reason.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from slipway.cli.cluster import client_of
from slipway.cli.reach import Unreached, unreached
from spec.errors import fail

Object = Mapping[str, Any]
WAIT_SECONDS: Final = 30.0  # longest time that pods get to start
STILL_SECONDS: Final = 4.0  # a picture that stays the same for so long is final: the scheduler has tried each pod
ELASTIC_SECONDS: Final = 12.0
"""The same where Karpenter runs: it tries a pod again after ten seconds (karpenter v1.14.1,
pkg/controllers/provisioning), and a node registers two seconds after its launch."""
NODE_POOLS: Final = "/apis/karpenter.sh/v1/nodepools"
POLL_SECONDS: Final = 0.5
ENDED: Final = frozenset({"Succeeded", "Failed"})
PATHS: Final[Mapping[str, str]] = {
    "Pod": "/api/v1/pods",
    "Node": "/api/v1/nodes",
    "Event": "/api/v1/events?fieldSelector=type%3DWarning",
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
}
"""What is read, by kind."""
_FORBIDDEN: Final = re.compile(r'^.*pods "[^"]*" is forbidden: ', re.DOTALL)
"""Begins a controller's message; the name of the pod differs at each attempt."""
_PREEMPTION: Final = re.compile(r",? (?:no new claims to deallocate, )?preemption: .*", re.DOTALL)
"""Ends a scheduler's message: whether other pods could make room."""


@dataclass(frozen=True)
class Waiting:
    """Pods of one owner that don't run, all for one reason."""

    owner: str
    count: int
    reason: str


@dataclass(frozen=True)
class Pods:
    """All pods of a cluster that should run; those of ended Jobs are not among them."""

    wanted: int
    running: int
    waiting: tuple[Waiting, ...] = ()
    unreached: tuple[Unreached, ...] = ()


def read_pods(kubeconfig: Path, cluster: str) -> Pods | None:
    """The pods of a cluster, once they have started or it is clear that they don't; None if there is no cluster."""
    client = client_of(kubeconfig, cluster)
    if client is None:
        return None
    try:
        return settled(client)
    except (ApiError, UnreachableError) as error:
        fail(f"the pods of cluster {cluster} can't be read: {error}", error)


def settled(client: KubeClient) -> Pods:
    """The pods once all run, or nothing has changed for a while."""
    deadline = time.monotonic() + WAIT_SECONDS
    last, since = None, 0.0
    while True:
        found = picture({kind: client.get_path(path)["items"] for kind, path in PATHS.items()})
        now = time.monotonic()
        if found != last:
            last, since = found, now
        if not found.waiting or now > deadline or (now - since > STILL_SECONDS and now - since > _patience(client)):
            return found
        time.sleep(POLL_SECONDS)


def _patience(client: KubeClient) -> float:
    """Time without a change after which no pod gets a node any more. Karpenter writes conditions into its pools."""
    try:
        pools = client.get_path(NODE_POOLS)["items"]
    except ApiError as error:
        if not error.not_found:
            raise
        return STILL_SECONDS
    return ELASTIC_SECONDS if any((pool.get("status") or {}).get("conditions") for pool in pools) else STILL_SECONDS


def picture(objects: Mapping[str, Iterable[Object]]) -> Pods:
    """The pods from the objects of a cluster, by kind."""
    listed = {kind: list(found) for kind, found in objects.items()}
    owners = _Owners(listed)
    present: Counter[str] = Counter()
    running = 0
    waiting: Counter[tuple[str, str]] = Counter()
    events = _events(listed["Event"])
    for pod in listed["Pod"]:
        if (pod.get("status") or {}).get("phase") in ENDED or pod["metadata"].get("deletionTimestamp"):
            continue
        owner = owners.of(pod)
        present[owner] += 1
        reason = why_not_running(pod, events)
        running += not reason
        if reason:
            waiting[owner, reason] += 1
    wanted = owners.wanted | {owner: count for owner, count in present.items() if owner not in owners.wanted}
    for owner, count in wanted.items():
        if count > present[owner]:
            waiting[owner, owners.not_created(owner, events)] += count - present[owner]
    rows = tuple(Waiting(owner, count, reason) for (owner, reason), count in sorted(waiting.items()))
    total = sum(max(count, present[owner]) for owner, count in wanted.items())
    return Pods(total, running, rows, tuple(unreached(listed["DaemonSet"], listed["Node"])))


def why_not_running(pod: Object, events: Mapping[str, str]) -> str:
    """Why a pod is not ready: the scheduler's message, a container's state or a kubelet's event; empty if it is."""
    status = pod.get("status") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    if (conditions.get("Ready") or {}).get("status") == "True":
        return ""
    scheduled = conditions.get("PodScheduled") or {}
    if scheduled.get("status") == "False":
        return _PREEMPTION.sub("", str(scheduled.get("message") or scheduled.get("reason")))
    for container in status.get("containerStatuses") or ():
        state = (container.get("state") or {}).get("waiting")
        if state:
            return str(state.get("reason"))
    return events.get(pod["metadata"]["uid"]) or ("not scheduled yet" if not scheduled else "ContainerCreating")


class _Owners:
    """The workloads, named as `Deployment ns/name`, and the pods that each wants."""

    def __init__(self, listed: Mapping[str, list[Object]]) -> None:
        self.wanted: dict[str, int] = {}
        self._by_uid: dict[str, str] = {}
        self._uids: defaultdict[str, list[str]] = defaultdict(list)
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"):
            for each in listed[kind]:
                metadata = each["metadata"]
                above = self._by_uid.get(_controller(each))
                name = above or _name(kind, each)
                self._by_uid[metadata["uid"]] = name
                self._uids[name].append(metadata["uid"])
                if above is None:
                    self.wanted[name] = _wanted(kind, each)

    def of(self, pod: Object) -> str:
        """The workload of a pod, or the pod itself."""
        return self._by_uid.get(_controller(pod)) or _name("Pod", pod)

    def not_created(self, owner: str, events: Mapping[str, str]) -> str:
        """Why a workload has fewer pods than it wants."""
        return next((events[uid] for uid in self._uids[owner] if uid in events), "not created yet")


def _controller(obj: Object) -> str:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _name(kind: str, obj: Object) -> str:
    return f"{kind} {obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _wanted(kind: str, obj: Object) -> int:
    spec, status = obj["spec"], obj.get("status") or {}
    if kind == "DaemonSet":
        return int(status.get("desiredNumberScheduled") or 0)
    if kind != "Job":
        return int(spec.get("replicas", 1))
    ended = any(
        each["type"] in ("Complete", "Failed") and each["status"] == "True" for each in status.get("conditions") or ()
    )
    if ended or spec.get("suspend"):
        return 0
    parallel = int(spec.get("parallelism", 1))
    left = int(spec.get("completions") or parallel) - int(status.get("succeeded") or 0)
    return max(0, min(parallel, left))


def _events(events: Iterable[Object]) -> dict[str, str]:
    """The last warning about each object, by its UID."""
    ordered = sorted(
        events, key=lambda event: str(event.get("lastTimestamp") or event["metadata"]["creationTimestamp"])
    )
    return {str(event["involvedObject"].get("uid")): _FORBIDDEN.sub("", str(event.get("message"))) for event in ordered}
