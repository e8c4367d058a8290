"""Creates the objects of a trial with the rights of a team's member, lets its events happen, watches and removes them,
whatever happens.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from components.workloads.target import Target
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.trial.evaluation import UNDISTURBED, Check, Seen, Status, checks
from slipway.trial.events import Events
from slipway.trial.expectations import CREATE, DELETE, Step, Trial
from slipway.why import price
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle
from slipway.why.collect import Survey, survey
from slipway.why.explain import explain
from spec.errors import refuse
from spec.settings import Platform

USER: Final = "slipway-try"
POLL: Final = 0.5
CLEAN_UP: Final = 60.0  # seconds that the cluster gets to remove the objects with what is below them
REFERRED: Final = frozenset(
    {"ConfigMap", "PersistentVolumeClaim", "Secret", "ServingRuntime", "TrainingRuntime", "WorkflowTemplate"}
)
"""Kinds that others name. They go when the others are gone: without its TrainingRuntime, Kueue's webhook denies each
update of a TrainJob, such as the removal of the finalizer of its deletion (kueue v0.19.2,
pkg/controller/jobs/trainjob, validateCreate)."""


WAITS: Final = "waits"
RUNS: Final = "runs"
ENDED: Final = "ended"
_STATES: Final = {Layer.RUNS: RUNS, Layer.FINISHED: ENDED, Layer.FAILED: ENDED}  # what waits is in another layer


@dataclass(frozen=True)
class Turn:
    """A change of a job."""

    at: float  # seconds after the start
    state: str  # `waits`, `runs` or `ended` from then on
    text: str  # what was said


@dataclass(kw_only=True)
class Life:
    """What became of one object."""

    began: float  # when it was created
    refusal: str = ""  # the API server's error; empty if it accepted the object
    uid: str = ""
    price: Decimal | None = None  # USD that it costs at most; None if it is unknown
    layer: str = ""  # what `slipway why` said last
    bundle: Bundle | None = None  # what was read about it last
    done: dict[str, Check] = field(default_factory=dict)  # its expectations that were met
    turns: list[Turn] = field(default_factory=list)  # its changes
    disturbed: bool = False  # whether a pod that ran was lost
    _ran: set[str] = field(default_factory=set)
    _at_once: int = 0
    _running: frozenset[str] = frozenset()
    _first: frozenset[str] = frozenset()
    _nodes: frozenset[str] = frozenset()
    replaced: bool = False  # whether a node on which it ran first is gone, and it has run on another

    def follow(self, bundle: Bundle, layer: str) -> None:
        """Look at its pods and their nodes."""
        self.layer = layer
        running = [pod for pod in bundle.pods if (pod.get("status") or {}).get("phase") == "Running"]
        self._running = frozenset(str(pod["metadata"]["uid"]) for pod in running)
        self._ran |= self._running
        pods = [pod for pod in bundle.pods if (pod.get("status") or {}).get("phase") != "Failed"]
        lost = self._ran - {str(pod["metadata"]["uid"]) for pod in pods}
        self.disturbed |= bool(lost) and layer != Layer.FINISHED
        self._at_once = max(self._at_once, len(self._running))
        nodes = frozenset(str(pod["spec"]["nodeName"]) for pod in running)
        self._first, self._nodes = self._first or nodes, self._nodes | nodes
        there = {str(one["metadata"]["name"]) for one in bundle.of_kind("Node")}
        self.replaced |= bool(self._first - there) and self._nodes > self._first

    @property
    def started_again(self) -> bool:
        """Whether as many pods run as ever before, and others ran before them."""
        return 0 < self._at_once == len(self._running) < len(self._ran)


@dataclass(kw_only=True)
class Run:
    """One run of a trial."""

    client: KubeClient  # the cluster, with the rights of an administrator
    trial: Trial  # manifests, steps and expectations
    namespace: str  # namespace of objects whose manifests have none
    member: Callable[[str], str]
    """By namespace, the group with whose rights objects are created; empty for those of the administrator."""
    target: Callable[[str], Target | None]  # by namespace, what the stack offers there; None if it is no team's
    say: Callable[[str], None]  # reports progress
    events: Events | None = None  # lets events happen; None if the trial has none
    platform: Platform | None = None  # the stack, for prices; None if no price is expected
    sleep: Callable[[float], None] = time.sleep  # waits
    clock: Callable[[], float] = time.monotonic  # seconds since some moment
    _created: list[Ref] = field(default_factory=list)
    _objects: dict[str, Life] = field(default_factory=dict)
    _start: float = 0.0

    def run(self) -> list[Check]:
        """Every expectation of every object, that of the clean-up last."""
        self._refuse_existing()
        found: list[Check] = []
        try:
            found = self._watch()
        finally:
            if self.events is not None:
                self.events.undo()
            left = self._remove()
        status = Status.FAILED if left else Status.PASSED
        return [*found, Check("clean-up", "nothing is left", status, ", ".join(map(str, left)))]

    @property
    def turns(self) -> dict[str, list[Turn]]:
        """What became of each object, by name."""
        return {name: life.turns for name, life in self._objects.items()}

    @property
    def _updates(self) -> bool:
        """Whether the stack is being updated."""
        return self.events is not None and self.events.works

    def _refuse_existing(self) -> None:
        for name, manifest in self.trial.manifests.items():
            try:
                ref = self._ref(manifest)
                there = self.client.get(ref)
            except NoSuchKindError:
                continue
            if there is not None:
                refuse(f"{name} exists already in namespace {ref.namespace}: remove it, or use another namespace")

    def _place(self, manifest: Mapping[str, Any]) -> str:
        return str(manifest["metadata"].get("namespace") or self.namespace)

    def _ref(self, manifest: Mapping[str, Any]) -> Ref:
        kind = self.client.discovery.find(str(manifest["apiVersion"]), str(manifest["kind"]))
        place = self._place(manifest) if kind.namespaced else ""
        return Ref(kind.api_version, kind.kind, str(manifest["metadata"]["name"]), place)

    def _watch(self) -> list[Check]:
        """Look again until each expectation is met, can't be met, or its time has passed."""
        self._start = began = self.clock()
        pending = self._advance(list(self.trial.timeline), 0)
        if not self.trial.steps:
            refused = sum(bool(life.refusal) for life in self._objects.values())
            self.say(f"{len(self._created)} objects created, {refused} refused")
        while True:
            elapsed = self.clock() - began
            pending = self._advance(pending, elapsed)
            spaces = {self._place(manifest) for manifest in self.trial.manifests.values()}
            try:
                read = {place: survey(self.client, place) for place in spaces}
                found = {name: self._look(name, read) for name in self.trial.manifests}
            except UnreachableError:
                # A control plane that is upgraded starts its API server anew.
                if not self._updates:
                    raise
                self.sleep(POLL)
                continue
            late = elapsed >= self.trial.seconds and not self._updates
            if not any(self._waits(name, every) for name, every in found.items()) and (late or not pending):
                never = [Check("timeline", one.text, Status.FAILED, _never(one)) for one in pending]
                return [*never, *(_final(one) for every in found.values() for one in every)]
            self.sleep(POLL)

    def _waits(self, name: str, every: list[Check]) -> bool:
        """Whether an object that exists may still do what is expected."""
        life = self._objects.get(name)
        if life is None:
            return False
        return any(one.status is Status.WAITS for one in every) and self.clock() - life.began < self.trial.within(name)

    def _advance(self, pending: list[Step], elapsed: float) -> list[Step]:
        """Let everything happen whose turn it is, in order; what remains."""
        # What an update waited for may be gone when it ends.
        while pending and (self._updates or self._is_due(pending[0], elapsed)) and self._act(pending[0]):
            if self.trial.steps:
                self.say(f"{elapsed:.0f} s: {pending[0].text}")
            pending = pending[1:]
        return pending

    def _is_due(self, step: Step, elapsed: float) -> bool:
        if elapsed < step.at:
            return False
        life = self._objects.get(step.after[0]) if step.after else None
        return step.after is None or (life is not None and life.layer == step.after[1])

    def _act(self, step: Step) -> bool:
        if step.action == CREATE:
            self._create(step.subject)
            return True
        life = self._objects.get(step.subject)
        if step.action == DELETE:
            self.client.delete(self._ref(self.trial.manifests[step.subject]), "Foreground")
            return True
        return self.events is not None and self.events.act(step, life.bundle if life else None)

    def _create(self, name: str) -> None:
        """Create an object, and keep the API server's error or its UID."""
        manifest = self.trial.manifests[name]
        place = self._place(manifest)
        refusal = submit(self.client, manifest, place, self.member(place))
        self._objects[name] = life = Life(began=self.clock(), refusal=refusal)
        life.turns.append(Turn(life.began - self._start, ENDED if refusal else WAITS, refusal or "created"))
        if not refusal:
            self._created.append(ref := self._ref(manifest))
            life.uid = str(((self.client.get(ref) or {}).get("metadata") or {}).get("uid") or "")
        target = self.target(place) if self.platform else None
        costs = price.bound(manifest, target, self.platform) if target and self.platform else None
        life.price = costs.most if costs else None

    def _look(self, name: str, read: Mapping[str, Survey]) -> list[Check]:
        """The checks of an object; what has passed once stays passed: pods and Workloads go when a job has ended."""
        life = self._objects.get(name)
        if life is None:
            return [Check(name, "created", Status.WAITS, "its turn did not come")]
        seen = Seen(refusal=life.refusal) if life.refusal else self._read(name, life, read)
        every = [life.done.get(one.expected, one) for one in checks(name, self.trial.expected[name], seen)]
        passed = [one for one in every if one.status is Status.PASSED and one.expected != UNDISTURBED]
        life.done.update({one.expected: one for one in passed})
        return every

    def _read(self, name: str, life: Life, read: Mapping[str, Survey]) -> Seen:
        manifest, elapsed = self.trial.manifests[name], self.clock() - life.began
        subject = self.client.get(self._ref(manifest))
        if subject is None:
            return Seen(elapsed=elapsed)
        place = self._place(manifest)
        life.bundle = read[place].of(subject, self.target(place))
        answer = explain(life.bundle)
        layer = answer.part.layer
        if life.layer != layer:
            life.turns.append(Turn(self.clock() - self._start, _STATES.get(layer, WAITS), answer.sentence))
        life.follow(life.bundle, str(layer))
        uids = {one: other.uid for one, other in self._objects.items() if other.uid}
        return Seen(
            bundle=life.bundle, answer=answer, elapsed=elapsed, uids=uids, lost=life.started_again,
            disturbed=life.disturbed, replaced=life.replaced, price=life.price,
        )  # fmt: skip

    def _remove(self) -> list[Ref]:
        """Delete the objects, with what is below them; what is left after a while."""
        began = self.clock()
        created = list(reversed(self._created))
        left = self._delete([ref for ref in created if ref.kind not in REFERRED], began)
        return left + self._delete([ref for ref in created if ref.kind in REFERRED], began)

    def _delete(self, refs: list[Ref], began: float) -> list[Ref]:
        for ref in refs:
            self.client.delete(ref, "Foreground")
        left = list(refs)
        while left := [ref for ref in left if self.client.get(ref) is not None]:
            if self.clock() - began >= CLEAN_UP:
                break
            self.sleep(POLL)
        return left


def submit(client: KubeClient, manifest: Mapping[str, Any], namespace: str, member: str) -> str:
    """Create an object in a namespace with the rights of a group, or without one with the client's own; the API
    server's error, or an empty text."""
    headers = {"Impersonate-User": USER, "Impersonate-Group": member} if member else {}
    options = {"fieldManager": USER, "fieldValidation": "Strict"}
    try:
        kind = client.discovery.find(str(manifest["apiVersion"]), str(manifest["kind"]))
        place = namespace if kind.namespaced else ""
        body = {**manifest, "metadata": {**manifest["metadata"], "namespace": place}}
        client.call("POST", kind.path(place), body, options, headers=headers)
    except NoSuchKindError as error:
        return str(error)
    except ApiError as error:
        return error.message
    return ""


def _never(step: Step) -> str:
    return f"{step.after[0]} was never at {step.after[1]}" if step.after else "its turn did not come"


def _final(check: Check) -> Check:
    """After its time, what still waits has failed."""
    if check.status is not Status.WAITS:
        return check
    return Check(check.subject, check.expected, Status.FAILED, check.detail)
