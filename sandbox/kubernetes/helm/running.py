"""Installing, upgrading and removing a release with Helm, and what it waits for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sandbox.cluster.patience import Patience
from sandbox.errors import SandboxError
from sandbox.kubernetes import crds
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.table import STARTING, UNHEALTHY
from sandbox.kubernetes.helm import binary, preview, records
from sandbox.kubernetes.helm.binary import HelmError, Stop
from sandbox.kubernetes.helm.chart import Chart, packaged
from sandbox.kubernetes.helm.preview import MANAGER, Rendered, rendered
from sandbox.kubernetes.helm.records import ReleaseName, Revision
from sandbox.kubernetes.helm.values import install_arguments, limit, uninstall_arguments, upgrade_arguments
from sandbox.kubernetes.objects import Object, Ref, condition, is_custom_resource_definition

# What a release waits for: its pods that are not ready, and why.
#
# Looked at while Helm waits: a release that fails is rolled back, and then nothing is left to look at.

WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job"})
HOPELESS_SECONDS: Final = 60.0
"""Simulated pods are ready at once, and nodes come within seconds: a pod whose reason has not changed for this long
never will be."""
QUIET_SECONDS: Final = 300.0
"""The same where nothing shows what Helm waits for, or a controller fails: Helm's own limit, and more if the release
names more. Helm counts all seconds, also those of a busy machine; here they count while nothing changes."""
STARTING_SECONDS: Final = 900.0
"""The same while a controller starts, which may say nothing for minutes, or a pod takes its time."""
SHOWN: Final = 8
"""Lines of a report; the others are counted."""
_DELAY: Final = "sandbox.slipway/start-delay"


@dataclass
class Readiness:
    """What keeps the workloads of one release from being ready, as of the last look.

    `seconds` is the release's own limit.
    """

    client: KubeClient
    workloads: Collection[Ref]
    lines: list[str] = field(default_factory=list)
    seconds: float = QUIET_SECONDS
    limit: float = 0.0
    """How long nothing may change, by what was seen last."""
    _reasons: set[str] = field(default_factory=set)
    _seen: set[object] = field(default_factory=set)
    _patience: Patience = field(init=False)

    def __post_init__(self) -> None:
        self._patience = Patience(STARTING_SECONDS)

    def look(self) -> bool:
        """Look again; returns whether nothing new was seen for so long that waiting is pointless."""
        self._reasons.clear()
        try:
            namespaces = sorted({ref.namespace for ref in self.workloads})
            lines = [line for namespace in namespaces for line in self._of(namespace)]
            # A controller that fails again and again goes back to what it was: only what is new is progress.
            self._seen.add(tuple(line.partition(UNHEALTHY)[0] for line in lines) or self._progress())
            goes_on = self._patience.look(len(self._seen))
            self.lines = lines or self.lines
        except (ApiError, UnreachableError):
            lines, goes_on = [], self._patience.look(answered=False)
        if STARTING in self._reasons:
            self.limit = STARTING_SECONDS
        elif lines and UNHEALTHY not in self._reasons:
            self.limit = HOPELESS_SECONDS
        else:
            self.limit = max(self.seconds, QUIET_SECONDS)
        return not goes_on or self._patience.quiet >= self.limit

    def _progress(self) -> object:
        """What changes while Helm waits for something else than a pod."""
        states = [str((self.client.get(ref) or {}).get("status")) for ref in self.workloads]
        return tuple(states), crds.served_groups(self.client)

    @property
    def text(self) -> str:
        """The lines, for an error message; empty if everything was ready."""
        more = len(self.lines) - SHOWN
        return "; ".join([*self.lines[:SHOWN], *([f"and {more} more"] if more > 0 else [])])

    def _of(self, namespace: str) -> Iterator[str]:
        names = {ref.name for ref in self.workloads if ref.namespace == namespace}
        pods = [
            pod
            for pod in self.client.list(self.client.discovery.find("v1", "Pod"), namespace)
            if _owner(pod) in names and not _ready(pod)
        ]
        events = list(_latest(self._warnings(namespace)))
        self._reasons |= {event["reason"] for event in events}
        if any(_DELAY in (pod["metadata"].get("annotations") or {}) for pod in pods):
            self._reasons.add(STARTING)
        for pod in pods:
            yield f"pod {namespace}/{pod['metadata']['name']}: {_why(pod, events)}"
        for event in events:
            about = event["involvedObject"]
            if about["kind"] != "Pod" and any(_belongs(about["name"], name) for name in names):
                yield f"{about['kind']} {namespace}/{about['name']}: {event['reason']}: {event['message']}"

    def _warnings(self, namespace: str) -> list[Object]:
        path = f"/api/v1/namespaces/{namespace}/events"
        found = self.client.call("GET", path, parameters={"fieldSelector": "type=Warning"})
        return list(found.get("items") or ())


def workloads(objects: Iterable[Object], namespace: str) -> list[Ref]:
    """The objects with pods, in the namespace of the release unless they name another."""
    refs = (Ref.of(obj) for obj in objects)
    return [Ref(r.api_version, r.kind, r.name, r.namespace or namespace) for r in refs if r.kind in WORKLOADS]


def _owner(pod: Mapping[str, Any]) -> str:
    """The name of the workload of a pod; a ReplicaSet has its Deployment's and a hash."""
    owners = pod["metadata"].get("ownerReferences") or ()
    controller: Mapping[str, Any] = next((each for each in owners if each.get("controller")), {})
    name = str(controller.get("name") or "")
    return name.rpartition("-")[0] if controller.get("kind") == "ReplicaSet" else name


def _belongs(name: str, workload: str) -> bool:
    """Whether an object is a workload, or its ReplicaSet."""
    return name == workload or name.rpartition("-")[0] == workload


def _ready(pod: Mapping[str, Any]) -> bool:
    if (pod.get("status") or {}).get("phase") == "Succeeded" or pod["metadata"].get("deletionTimestamp"):
        return True
    return condition(pod, "Ready").get("status") == "True"


def _why(pod: Mapping[str, Any], events: Iterable[Object]) -> str:
    status = pod.get("status") or {}
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"{status.get('phase')}, {scheduled.get('reason')}: {scheduled.get('message')}"
    warning = next((each for each in events if each["involvedObject"].get("uid") == pod["metadata"]["uid"]), None)
    if warning is not None:
        return f"{status.get('phase')}, {warning['reason']}: {warning['message']}"
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    for container in containers:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting:
            return f"container {container['name']}: {waiting.get('reason')} {waiting.get('message') or ''}".strip()
    return str(status.get("reason") or status.get("phase") or "no status")


def _latest(events: Iterable[Object]) -> Iterator[Object]:
    """The newest warning of each object."""
    newest: dict[str, Object] = {}
    for event in sorted(events, key=lambda each: str(each.get("lastTimestamp") or each.get("eventTime") or "")):
        newest[str(event["involvedObject"].get("uid"))] = event
    yield from newest.values()


PENDING: Final = "pending-"
"""Beginning of the state of a release while Helm works on it (helm v3, pkg/release/status.go)."""

IN_USE: Final = "cannot re-use a name that is still in use"
"""Helm's refusal to install a release that exists (helm v3, pkg/action/install.go)."""


@dataclass(frozen=True)
class Installed:
    """A revision that Helm installed, and how it differs from one in a cluster where everything runs."""

    revision: Revision
    left_out: tuple[str, ...]
    effects: tuple[str, ...]
    stand_ins: tuple[str, ...]


class FailedReleaseError(SandboxError):
    """Helm failed; `revision` is the release that it left, None if it left none."""

    def __init__(self, text: str, revision: Revision | None) -> None:
        super().__init__(text)
        self.revision = revision


def install(client: KubeClient, helm: Path, chart: Chart, inputs: Mapping[str, Any], *, upgrade: bool) -> Installed:
    """Install or upgrade. Raises FailedReleaseError, and SandboxError before anything was changed.

    An upgrade of a release that Helm does not know (it was only recorded before) installs it.
    """
    release = ReleaseName(str(inputs["name"]), str(inputs["namespace"]))
    values = inputs.get("values") or {}
    served = table.served(chart.name, chart.version)
    before = records.newest(client, release)
    upgrade = upgrade and before is not None
    if not upgrade and not inputs.get("skipCrds"):
        crds.install_all(client, chart.crds, MANAGER)
    found = rendered(helm, chart, release, values, client)
    stand_ins = tuple(_stand_in(client, release, found))
    done = preview.perform(client, chart, found, upgrade=upgrade)
    waited = workloads((*found.objects, *found.hooks), release.namespace)
    write = upgrade_arguments if upgrade else install_arguments
    looks: list[Readiness] = []

    def attempt() -> binary.Done:
        looks.append(Readiness(client, waited, seconds=limit(inputs)))
        if len(looks) > 1 and before is None:
            # What is left of a release that is not atomic would refuse it.
            uninstall(client, inputs, missing_ok=True)
        with packaged(chart) as folder:
            command = write(inputs, str(folder))
            return binary.run(helm, client, command, values=values, served=served, hopeless=looks[-1].look)

    try:
        result = client.persist(attempt)
    except HelmError as error:
        after = records.newest(client, release)
        raise FailedReleaseError(_explained(error, release, before, looks[-1]), after) from error
    revision = records.newest(client, release)
    if revision is None:
        msg = f"Helm reported success, but there is no record of release {release}"
        raise SandboxError(msg)
    return Installed(revision, result.left_out, tuple(done), stand_ins)


def uninstall(client: KubeClient, inputs: Mapping[str, Any], *, missing_ok: bool = False) -> None:
    """Uninstall. Raises SandboxError with Helm's reason, and the pods of its hooks that did not end."""
    helm = binary.available()
    if helm is None:
        msg = "helm installed this release and is gone: `python -m sandbox.toolchain ensure helm`"
        raise SandboxError(msg)
    release = ReleaseName(str(inputs["name"]), str(inputs["namespace"]))
    revision = records.newest(client, release)
    if revision is None and missing_ok:
        return
    hooks = list(revision.hooks()) if revision is not None else []
    readiness = Readiness(client, workloads(hooks, release.namespace), seconds=limit(inputs))
    try:
        client.persist(lambda: binary.run(helm, client, uninstall_arguments(inputs), hopeless=readiness.look))
    except HelmError as error:
        if revision is not None and "release: not found" in str(error):
            # An attempt before this one removed it.
            return
        raise SandboxError(_explained(error, release, None, readiness)) from error


def _stand_in(client: KubeClient, release: ReleaseName, found: Rendered) -> Iterator[str]:
    """Install stand-ins for kinds that nothing serves and the chart does not bring; replace those that it brings."""
    brought = {
        (crd["spec"]["group"], crd["spec"]["names"]["kind"]): crd
        for crd in found.objects
        if is_custom_resource_definition(crd)
    }
    for obj in (*found.objects, *found.hooks):
        ref = Ref.of(obj)
        if ref.custom and (ref.group, ref.kind) not in brought and not crds.is_served(client, ref):
            crds.ensure_stand_in(client, obj)
            yield f"{ref.kind} of {ref.api_version}"
    if brought:
        for name in crds.stand_ins(client) & {str(crd["metadata"]["name"]) for crd in brought.values()}:
            (crd,) = (each for each in brought.values() if each["metadata"]["name"] == name)
            crds.install(client, _owned(crd, release), MANAGER)


def _owned(obj: Object, release: ReleaseName) -> Object:
    """The object as Helm marks those of a release; it takes over no other (helm.sh, "Labels and annotations")."""
    metadata = obj["metadata"]
    labels = {**(metadata.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm"}
    owner = {"meta.helm.sh/release-name": release.name, "meta.helm.sh/release-namespace": release.namespace}
    annotations = {**(metadata.get("annotations") or {}), **owner}
    return {**obj, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def _explained(error: HelmError, release: ReleaseName, before: Revision | None, readiness: Readiness) -> str:
    parts = [str(error)]
    if readiness.text:
        parts.append(f"not ready: {readiness.text}")
    if error.stopped is Stop.HOPELESS:
        parts.append(f"Helm was interrupted, because nothing had changed for {readiness.limit:.0f} s")
    elif error.stopped is Stop.CANCELLED:
        parts.append("Helm was interrupted, because the operation was cancelled: run it again")
    if before is not None:
        parts += _remedy(release, before, str(error))
    return "; ".join(parts)


def _remedy(release: ReleaseName, before: Revision, error: str) -> Iterator[str]:
    """How to go on after a run that was killed: its release is there, and Pulumi or Helm does not know how it ended."""
    where = f"{release.name} -n {release.namespace}"
    if before.state.startswith(PENDING):
        yield (
            f"revision {before.number} is {before.state}, because Helm was killed while it worked on it: in the shell "
            f"of `slipway sandbox env`, run `helm rollback {where}` if an earlier revision is deployed, else "
            f"`helm uninstall {where}`; then run this again"
        )
    elif IN_USE in error:
        yield (
            f"revision {before.number} is {before.state}, from a run that was killed or from Helm by hand: in the "
            f"shell of `slipway sandbox env`, run `helm uninstall {where}`, or import it with the ID {release}"
        )


SCALED: Final = frozenset({"Deployment", "StatefulSet"})
AUTOSCALER: Final = ("autoscaling/v2", "HorizontalPodAutoscaler")


def drifted(client: KubeClient, objects: Iterable[Object], namespace: str) -> Iterator[str]:
    """Workloads of a release that somebody deleted or scaled, each with the command that repairs it.

    No `up` repairs that: the inputs of the release are the same, so it is not upgraded. What an autoscaler scales is
    left out.
    """
    for obj in objects:
        for ref in workloads([obj], namespace):
            live, wanted = client.get(ref), (obj.get("spec") or {}).get("replicas", 1)
            about = f"{ref.kind} {ref.namespace}/{ref.name}"
            if live is None:
                # A Job may be deleted once it has ended.
                if ref.kind != "Job":
                    yield f"{about} is gone: `helm rollback` of its release, in the sandbox's shell, makes it again"
                continue
            count = live["spec"].get("replicas")
            if ref.kind in SCALED and count != wanted and not _autoscaled(client, ref):
                scale = f"kubectl scale {ref.kind.lower()}/{ref.name} -n {ref.namespace} --replicas={wanted}"
                yield f"{about} has {count} replicas, and its release {wanted}: `{scale}`"


def _autoscaled(client: KubeClient, ref: Ref) -> bool:
    found = client.list(client.discovery.find(*AUTOSCALER), ref.namespace)
    targets = (each["spec"]["scaleTargetRef"] for each in found)
    return any((each["kind"], each["name"]) == (ref.kind, ref.name) for each in targets)
