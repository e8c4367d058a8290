"""Waiting for the API server and controllers, for one object, and for each change of a kind."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeVar

import urllib3

from sandbox.cluster.patience import Patience
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Object, Ref

T = TypeVar("T")
POLL_SECONDS: Final = 0.05
SLOW_POLL_SECONDS: Final = 0.5
"""Longest pause of a wait for a controller: twenty namespaces that are deleted together take 5 s each (2026-11)."""
_GROWTH: Final = 1.5
LOOK_SECONDS: Final = 2.0
"""Between two looks at whether what is awaited makes progress."""


def until(
    poll: Callable[[], T | None],
    seconds: float,
    what: str | Callable[[], str],
    *,
    longest: float = POLL_SECONDS,
    sight: Callable[[], object] = lambda: None,
) -> T:
    """The first result of `poll` that is not None.

    Pauses grow up to `longest` seconds. It waits as long as what `sight` returns changes, and then for so many seconds
    more (`patience.Patience`), also while a busy API server does not answer. Raises TimeoutError with `what`, the unmet
    condition, or what it returns then.
    """
    patience = Patience(seconds)
    pause = POLL_SECONDS
    while True:
        unanswered = ""
        try:
            answer = poll()
            if answer is not None:
                return answer
            goes_on = patience.look(sight())
        except UnreachableError as error:
            if error.refused:
                raise
            unanswered = f" ({error})"
            goes_on = patience.look(answered=False)
        if not goes_on:
            msg = f"{what if isinstance(what, str) else what()} {patience}{unanswered}"
            raise TimeoutError(msg)
        time.sleep(pause)
        pause = min(longest, pause * _GROWTH)


# What is awaited of an object that was applied or deleted.
#
# pulumi-kubernetes waits in the same cases (v4.34.2, provider/pkg/await/awaiters.go), for up to ten minutes. Here a
# controller answers within seconds or never, so the waits are short while nothing changes: while their controller still
# writes objects of the kind, they go on. Their errors name what did not happen. Pods and whatever creates them are not
# awaited: without an autoscaler a pod may wait for a node that it would get on EKS.

READY_SECONDS: Final = 30.0
"""On a busy machine a quota got its status in 0.1 s, in a new cluster in 1.9; a claim was bound in 0.2 s (2026-11)."""
GONE_SECONDS: Final = 120.0
"""A namespace takes 5 s, the pause of its controller, and 11 on a busy machine (2026-11); the pods of a lost node take
a minute (kube-controller-manager 1.36, namespaceDeletionGracePeriod; podgc, quarantineTime)."""
SKIP: Final = "pulumi.com/skipAwait"
"""Annotation that turns waiting off."""
_OWNS_PODS: Final = frozenset({"apps", "batch"})
"""API groups whose objects are deleted after their dependents, as pulumi-kubernetes does for all (propagation policy
Foreground). For the others that would only cost time: the garbage collector knows the kind of a new CRD 30 s later."""
_ALONE: Final = frozenset({"Namespace", "Pod", "ReplicationController"})
"""Kinds of the core group whose deletion is not awaited with the annotation (v4.34.2,
provider/pkg/metadata/overrides.go, allowsSkipAwaitWithDelete)."""


def until_ready(client: KubeClient, live: Object) -> Object:
    """The object once its controller has answered; itself if nothing is awaited. Raises TimeoutError, ApiError."""
    ref = Ref.of(live)
    lacking = _LACKING.get((ref.api_version, ref.kind))
    if lacking is None or skipped(live) or lacking(client, live) is None:
        return live
    missing = ""

    def ready() -> Object | None:
        nonlocal missing
        found = client.get(ref)
        if found is None:
            missing = "it was deleted"
            return None
        missing = lacking(client, found) or ""
        return None if missing else found

    def what() -> str:
        return f"{ref}: {missing}{_said(client, live)}"

    return until(ready, READY_SECONDS, what, longest=SLOW_POLL_SECONDS, sight=_of_kind(client, ref))


def delete(client: KubeClient, ref: Ref, *, wait: bool = True) -> None:
    """Delete an object and wait until it is gone; no error if it does not exist or its kind is not served any more.

    Raises TimeoutError with what holds it.
    """
    try:
        remaining = client.delete(ref, "Foreground" if ref.group in _OWNS_PODS else "Background")
    except NoSuchKindError:
        return
    if remaining is not None and wait:
        _until_gone(client, ref, remaining)
    if ref.kind == "CustomResourceDefinition":
        client.discovery.forget(ref.name.partition(".")[2])


def _until_gone(client: KubeClient, ref: Ref, last: Object) -> None:
    uid = last["metadata"]["uid"]

    def gone() -> bool | None:
        nonlocal last
        found = client.get(ref)
        if found is None or found["metadata"]["uid"] != uid:
            return True
        last = found
        return None

    def what() -> str:
        return f"{ref} is still there{held_by(last)}"

    until(gone, GONE_SECONDS, what, longest=SLOW_POLL_SECONDS, sight=_of_kind(client, ref))


def _of_kind(client: KubeClient, ref: Ref) -> Callable[[], object]:
    """What shows whether the controllers of a kind still work: the versions of its objects, read every few seconds."""
    seen: frozenset[object] = frozenset()
    looked = time.monotonic()

    def sight() -> object:
        nonlocal seen, looked
        if time.monotonic() - looked > LOOK_SECONDS:
            looked = time.monotonic()
            with suppress(ApiError, NoSuchKindError):
                found = client.versions(client.discovery.find(ref.api_version, ref.kind))
                seen = frozenset(found)
        return seen

    return sight


def skipped(obj: Object) -> bool:
    """Whether the program does not want to wait for the object."""
    return ((obj.get("metadata") or {}).get("annotations") or {}).get(SKIP) == "true"


def skipped_at_deletion(obj: Object) -> bool:
    """The same for its deletion, where the annotation counts for namespaces and for what owns pods alone."""
    ref = Ref.of(obj)
    return skipped(obj) and (ref.kind in _ALONE if ref.api_version == "v1" else ref.group in _OWNS_PODS)


def held_by(obj: Object) -> str:
    """What keeps an object that is being deleted: its finalizers, and for a namespace what is left in it."""
    found = [f"finalizer {name} is not removed" for name in obj["metadata"].get("finalizers") or ()]
    conditions = (obj.get("status") or {}).get("conditions") or () if obj["kind"] == "Namespace" else ()
    found += [str(each.get("message")) for each in conditions if each.get("status") == "True"]
    return f" ({'; '.join(found)})" if found else ""


def _quota(_: KubeClient, quota: Object) -> str | None:
    hard = quota["spec"].get("hard") or {}
    if (quota.get("status") or {}).get("hard", {}) == hard:
        return None
    return "the quota controller has not written its limits into status.hard, and the API server enforces only those"


def _volume(_: KubeClient, volume: Object) -> str | None:
    phase = (volume.get("status") or {}).get("phase")
    return None if phase in ("Available", "Bound") else f"the volume is {phase or 'new'}, not Available or Bound"


def _claim(client: KubeClient, claim: Object) -> str | None:
    phase = (claim.get("status") or {}).get("phase")
    if phase == "Bound":
        return None
    name = claim["spec"].get("storageClassName")
    storage_class = client.get(Ref("storage.k8s.io/v1", "StorageClass", name)) if name else None
    if (storage_class or {}).get("volumeBindingMode") == "WaitForFirstConsumer":
        return None
    wanted = f"storage class {name}" if name else "no storage class"
    return f"the claim ({wanted}) is {phase or 'new'}, not Bound"


def _service(_client: KubeClient, service: Object) -> str | None:
    spec = service["spec"]
    if spec.get("type") != "LoadBalancer" or spec.get("loadBalancerClass"):
        return None
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    return None if balancer.get("ingress") else "its load balancer has no address"


_LACKING: Final[Mapping[tuple[str, str], Callable[[KubeClient, Object], str | None]]] = {
    ("v1", "ResourceQuota"): _quota,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Service"): _service,
}
"""By API version and kind: what an object lacks before the program goes on; None if nothing."""


def _said(client: KubeClient, obj: Object) -> str:
    """The last event of an object, which has its controller's reason."""
    metadata = obj["metadata"]
    path = f"/api/v1/namespaces/{metadata.get('namespace') or 'default'}/events"
    try:
        found = client.call("GET", path, parameters={"fieldSelector": f"involvedObject.uid={metadata['uid']}"})
    except (ApiError, UnreachableError):
        return ""
    messages = [str(event.get("message")) for event in found.get("items") or ()]
    return f" ({messages[-1]})" if messages else ""


# Follows the objects of a kind: all of them, then each change (kubernetes.io, "Efficient detection of changes").
#
# A watch is one open request, so following costs nothing while nothing changes.

LOG = logging.getLogger(__name__)
RETRY_SECONDS: Final = 1.0
READ_SECONDS: Final = 300.0
"""An API server ends a watch by itself after five to ten minutes."""

Handler = Callable[[str, Object], None]
"""Called by one thread with `ADDED`, `MODIFIED` or `DELETED` and the object, in the order of the changes."""


class Watch:
    """A thread that follows one path of the API until it is stopped. A handler that raises misses that change alone."""

    def __init__(
        self, client: KubeClient, path: str, handle: Handler, parameters: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._path = path
        self._handle = handle
        self._parameters = dict(parameters or {})
        self._stopped = threading.Event()
        self.listed = threading.Event()
        """Set once the handler got all objects that were there."""
        self._answer: urllib3.BaseHTTPResponse | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch {path}", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self) -> None:
        """End; the handler is not called any more once this returns."""
        self._stopped.set()
        answer = self._answer
        if answer is not None:
            # It may have ended by itself since: then nothing reads it (urllib3 2.8, HTTPResponse.shutdown), or its
            # socket is closed already.
            with suppress(ValueError, RuntimeError, OSError):
                answer.shutdown()
        self._thread.join(RETRY_SECONDS + 5)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow(self._list())
            except (ApiError, UnreachableError, urllib3.exceptions.HTTPError, json.JSONDecodeError) as error:
                # The server is busy or gone, or what was read is too old to go on from: begin again.
                LOG.debug("%s: %s", self._path, error)
            self._stopped.wait(RETRY_SECONDS)

    def _list(self) -> str:
        found = self._client.call("GET", self._path, parameters=self._parameters)
        for item in found.get("items") or ():
            self._call("ADDED", item)
        self.listed.set()
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> None:
        parameters = {**self._parameters, "watch": "1", "resourceVersion": version, "allowWatchBookmarks": "false"}
        with self._client.stream(self._path, parameters, READ_SECONDS) as answer:
            self._answer = answer
            for line in _lines(answer):
                if self._stopped.is_set():
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(int(event["object"].get("code") or HTTPStatus.GONE), event["object"])
                self._call(event["type"], event["object"])

    def _call(self, change: str, obj: Object) -> None:
        if self._stopped.is_set():
            return
        try:
            self._handle(change, obj)
        except (ApiError, UnreachableError) as error:
            LOG.debug("%s %s: %s", change, self._path, error)
        except Exception:
            LOG.exception("%s of an object at %s was not handled", change, self._path)


class Follower:
    """What follows some paths of the API; `_watches` are its own."""

    _watches: Sequence[Watch]

    def start(self) -> None:
        """Begin to follow."""
        for watch in self._watches:
            watch.start()

    def stop(self) -> None:
        """End; no handler is called any more once this returns."""
        for watch in self._watches:
            watch.stop()


def _lines(answer: urllib3.BaseHTTPResponse) -> Any:
    rest = b""
    for part in answer.stream(65536):
        *whole, rest = (rest + part).split(b"\n")
        yield from (line for line in whole if line)
