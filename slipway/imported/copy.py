"""The cluster of a folder in the sandbox: its controllers, its objects, what ran before what waited."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.cluster.patience import Patience
from sandbox.errors import SandboxError
from sandbox.kubernetes.client import METADATA_LIST, ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.controllers.table import Controller, of_image
from sandbox.kubernetes.crds import is_served
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.running import install
from sandbox.kubernetes.objects import Object, Ref
from slipway.imported.keep import CONFIGS, GENERATED, ROWS, name_of
from slipway.upgrade.world import pods_of
from slipway.why.bundle import is_true
from spec.jobs import KUEUE_API, QUEUE

NAME: Final = "imported"
"""Name of the cluster."""
MANAGER: Final = "slipway-import"
_VALUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "kueue": {}, "jobset": {}, "trainer": {"jobset": {"install": False}}, "kuberay": {}, "lws": {},
}  # fmt: skip
"""Controllers that act with the default values of their charts, and these. Karpenter would launch nodes."""
_DURATION: Final = {"sandbox.slipway/duration": "87600h"}
"""What runs goes on: when it would have ended nobody knows."""
_RULES: Final = "admissionregistration.k8s.io"
_LOOK_SECONDS: Final = 2.0
_QUIET_SECONDS: Final = 60.0
_THREADS: Final = 8


@dataclass
class Copy:
    """Puts the objects of a folder into a cluster."""

    client: KubeClient
    objects: Sequence[Mapping[str, Any]]
    say: Callable[[str], None]
    refused: Counter[str] = field(default_factory=Counter)  # what could not be created, by kind and reason

    def install(self, charts: Charts) -> None:
        """Install the controllers of the cluster whose charts are at hand; say which others it has."""
        helm, found = binary.available(), dict[str, tuple[Controller, str]]()
        for each in (one for one in self.objects if one["kind"] == "Deployment"):
            found |= {known.name: (known, each["metadata"]["namespace"]) for known in _known(each)}
        # Kueue last: until it has set up a kind whose CRD came after it, its webhook refuses TrainJobs (0.19.2).
        for one, space in sorted(found.values(), key=lambda each: each[0].name == "kueue"):
            chart = charts.find(one.chart) if one.chart and one.name in _VALUES else None
            if chart is None or helm is None:
                self.say(f"{one.name} does not act here: there is no chart of it, or none that acts without its values")
                continue
            values = {**_VALUES[one.name], **(self._configuration(space) if one.name == "kueue" else {})}
            inputs = {"name": chart.name, "namespace": space, "skipAwait": True, "values": values}
            try:
                self.client.ensure(Ref("v1", "Namespace", space).as_object(), MANAGER)
                install(self.client, helm, chart, inputs, upgrade=False)
                self.say(f"{one.name} {chart.version} is installed in {space}")
            except (ApiError, SandboxError) as error:
                self.say(f"{one.name} does not act here: {error}")

    def _configuration(self, namespace: str) -> Mapping[str, Any]:
        """Kueue's configuration, as its chart takes it (kueue v0.19.2, charts/kueue/values.yaml)."""
        configs = (one for one in self.objects if one["kind"] == "ConfigMap")
        found = (one["data"] for one in configs if one["metadata"]["namespace"] == namespace)
        text = next((text for data in found for key, text in data.items() if key in CONFIGS), None)
        return {"managerConfig": {"controllerManagerConfigYaml": text}} if text else {}

    def put(self) -> int:
        """Create the objects: what workloads need, those that ran, those that waited, admission policies last."""
        names = list(ROWS)
        needed = names[: names.index("DaemonSet.apps")]
        placed = [one for one in self.objects if self._wanted(one)]
        by_uid = {one["metadata"].get("uid"): one for one in placed}
        busy = {id(_top(one, by_uid)) for one in self._ran(by_uid)}
        roots = [one for one in placed if _top(one, by_uid) is one]
        work = [one for one in roots if name_of(one) not in needed]
        work.sort(key=lambda one: str(one["metadata"].get("creationTimestamp")))
        ran = [one for one in work if id(one) in busy]
        for name in (name for name in needed if _RULES not in name):
            self._create(one for one in roots if name_of(one) == name)
        self._create(ran)
        self._settle(ran)
        for one in work:
            if id(one) not in busy:
                self._one(one)
        self._create(one for one in roots if _RULES in name_of(one))
        return len(roots) - self.refused.total()

    def _wanted(self, obj: Mapping[str, Any]) -> bool:
        """Whether an object is created here. One of a controller is its chart's, or would start without its values."""
        row = ROWS.get(name_of(obj))
        if row is None or row.record or any(_known(obj)):
            return False
        if not is_served(self.client, Ref.of(obj)):
            self.refused[f"{obj['kind']} of {obj['apiVersion']}: nothing here serves it"] += 1
            return False
        return True

    def _ran(self, by_uid: Mapping[str, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        for one in self.objects:
            if one["kind"] == "Pod" and one["spec"].get("nodeName"):
                yield one
            elif one["kind"] == "Workload" and is_true(one, "Admitted"):
                owners = (each.get("uid") for each in one["metadata"].get("ownerReferences") or ())
                yield from (by_uid[uid] for uid in owners if uid in by_uid)

    def _create(self, objects: Iterable[Mapping[str, Any]]) -> None:
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="import") as pool:
            list(pool.map(self._one, objects))

    def _one(self, obj: Mapping[str, Any]) -> None:
        try:
            self.client.ensure(_prepared(obj), MANAGER)
            if obj["kind"] == "Node":
                status = {**Ref.of(obj).as_object(), "status": obj.get("status") or {}}
                self.client.apply(status, MANAGER, force=True, subresource="status")
        except (ApiError, NoSuchKindError) as error:
            self.refused[f"{obj['kind']}: {str(error).replace(str(obj['metadata']['name']), 'NAME')}"] += 1

    def _settle(self, ran: Sequence[Mapping[str, Any]]) -> None:
        """Wait until Kueue has admitted what it had admitted and what ran has nodes, or nothing changes any more."""
        queued = sum(QUEUE in (one["metadata"].get("labels") or {}) for one in ran)
        bound = sum(one["kind"] == "Pod" and bool(one["spec"].get("nodeName")) for one in self.objects)
        find, patience, seen = self.client.discovery.find, Patience(_QUIET_SECONDS), (0, 0)
        while (seen[0] < queued or seen[1] < bound) and patience.look(seen):
            time.sleep(_LOOK_SECONDS)
            jobs = self.client.list(find(KUEUE_API, "Workload")) if queued else ()
            pods = self.client.list(find("v1", "Pod"), fields="spec.nodeName!=", accept=METADATA_LIST)
            seen = (sum(is_true(one, "Admitted") for one in jobs), sum(1 for _ in pods))
        self.say(f"of {queued} jobs in queues and {bound} pods that ran, {seen[0]} and {seen[1]} run here")


def _known(obj: Mapping[str, Any]) -> Iterator[Controller]:
    """Controllers of the sandbox's table among the containers of an object."""
    for pod in pods_of(obj):
        yield from filter(None, (of_image(str(each.get("image") or "")) for each in pod["containers"]))


def _top(obj: Mapping[str, Any], by_uid: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The object whose controller makes it, or the one above that; itself without one that is created here."""
    for _ in range(len(ROWS)):
        owners = (each for each in obj["metadata"].get("ownerReferences") or () if each.get("controller"))
        above = next((by_uid[each["uid"]] for each in owners if each.get("uid") in by_uid), None)
        if above is None or above["kind"] == "Node":
            break
        obj = above
    return obj


_GIVEN: Final = frozenset({"uid", "creationTimestamp", "deletionTimestamp", "ownerReferences", *GENERATED})
"""What a cluster gives to an object."""


_PATCHES: Final = "kueue.x-k8s.io/manager"
"""Whose patches of a TrainJob Kueue makes anew (kueue v0.19.2, pkg/controller/jobs/trainjob/trainjob_controller.go)."""


def _prepared(obj: Mapping[str, Any]) -> Object:
    """The object as it is created: without what a cluster gives, and with pods that go on."""
    found: Object = _running({key: value for key, value in obj.items() if key != "status"})
    if obj["kind"] == "Pod" and QUEUE in (obj["metadata"].get("labels") or {}):
        # Kueue holds it by a gate again, and lets the scheduler place it.
        found["spec"] = {key: one for key, one in found["spec"].items() if key not in ("nodeName", "schedulingGates")}
    if patches := (found.get("spec") or {}).get("runtimePatches"):
        found["spec"] = {**found["spec"], "runtimePatches": [one for one in patches if one.get("manager") != _PATCHES]}
    return found


def _running(value: Any) -> Any:
    if isinstance(value, list):
        return [_running(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _running(one) for key, one in value.items() if key not in _GIVEN}
    if isinstance(spec := found.get("spec"), Mapping) and "containers" in spec:
        metadata = found.get("metadata") or {}
        found["metadata"] = {**metadata, "annotations": {**(metadata.get("annotations") or {}), **_DURATION}}
    return found
