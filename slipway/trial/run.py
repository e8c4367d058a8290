"""Creates the objects of a trial with the rights of a team's member, watches and removes them, whatever happens."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.workloads.target import Target
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import Ref
from slipway.trial.evaluation import Check, Seen, Status, checks
from slipway.trial.expectations import Trial
from slipway.why.collect import Survey, survey
from slipway.why.explain import explain
from spec.errors import EXIT_REFUSED, SlipwayError

USER: Final = "slipway-try"
POLL: Final = 0.5
CLEAN_UP: Final = 60.0
"""Seconds that the cluster gets to remove the objects with what is below them."""
REFERRED: Final = frozenset(
    {"ConfigMap", "PersistentVolumeClaim", "Secret", "ServingRuntime", "TrainingRuntime", "WorkflowTemplate"}
)
"""Kinds that others name. They go when the others are gone: without its TrainingRuntime, Kueue's webhook denies each
update of a TrainJob, such as the removal of the finalizer of its deletion (kueue v0.19.2,
pkg/controller/jobs/trainjob, validateCreate)."""


@dataclass(kw_only=True)
class Run:
    """One run of a trial.

    Attributes:
        client: The cluster, with the rights of an administrator.
        trial: Manifests and expectations.
        namespace: Namespace of all objects.
        member: Group with whose rights the objects are created; empty for those of the administrator.
        target: What the stack offers in the namespace; None if it is no team's.
        say: Reports progress.
        sleep: Waits.
        clock: Seconds since some moment.
    """

    client: KubeClient
    trial: Trial
    namespace: str
    member: str
    target: Target | None
    say: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _created: list[Ref] = field(default_factory=list)
    _done: dict[str, dict[str, Check]] = field(default_factory=dict)

    def run(self) -> list[Check]:
        """Every expectation of every object, that of the clean-up last.

        Raises:
            SlipwayError: An object of a manifest exists already.
        """
        self._refuse_existing()
        found: list[Check] = []
        try:
            refusals = {name: self._create(manifest) for name, manifest in self.trial.manifests.items()}
            self.say(f"{len(self._created)} objects created, {sum(map(bool, refusals.values()))} refused")
            found = self._watch(refusals)
        finally:
            left = self._remove()
        status = Status.FAILED if left else Status.PASSED
        return [*found, Check("clean-up", "nothing is left", status, ", ".join(map(str, left)))]

    def _refuse_existing(self) -> None:
        for name, manifest in self.trial.manifests.items():
            try:
                there = self.client.get(self._ref(manifest))
            except NoSuchKindError:
                continue
            if there is not None:
                msg = f"{name} exists already in namespace {self.namespace}: remove it, or use another namespace"
                raise SlipwayError(msg, EXIT_REFUSED)

    def _ref(self, manifest: Mapping[str, Any]) -> Ref:
        kind = self.client.discovery.find(str(manifest["apiVersion"]), str(manifest["kind"]))
        place = self.namespace if kind.namespaced else ""
        return Ref(kind.api_version, kind.kind, str(manifest["metadata"]["name"]), place)

    def _create(self, manifest: Mapping[str, Any]) -> str:
        """Create an object; the API server's error, or an empty text."""
        refused = submit(self.client, manifest, self.namespace, self.member)
        if not refused:
            self._created.append(self._ref(manifest))
        return refused

    def _watch(self, refusals: Mapping[str, str]) -> list[Check]:
        """Look again until each expectation is met, can't be met, or its time has passed."""
        began = self.clock()
        while True:
            elapsed = self.clock() - began
            read = survey(self.client, self.namespace)
            found = {name: self._look(name, refusals[name], elapsed, read) for name in self.trial.manifests}
            waiting = [
                name
                for name, every in found.items()
                if any(one.status is Status.WAITS for one in every) and elapsed < self.trial.within(name)
            ]
            if not waiting:
                return [_final(one) for every in found.values() for one in every]
            self.sleep(POLL)

    def _look(self, name: str, refusal: str, elapsed: float, read: Survey) -> list[Check]:
        """The checks of an object; what has passed once stays passed: pods and Workloads go when a job has ended."""
        done = self._done.setdefault(name, {})
        seen = Seen(refusal=refusal) if refusal else self._read(name, elapsed, read)
        every = [done.get(one.expected, one) for one in checks(name, self.trial.expected[name], seen)]
        done.update({one.expected: one for one in every if one.status is Status.PASSED})
        return every

    def _read(self, name: str, elapsed: float, read: Survey) -> Seen:
        subject = self.client.get(self._ref(self.trial.manifests[name]))
        if subject is None:
            return Seen(elapsed=elapsed)
        bundle = read.of(subject, self.target)
        return Seen(bundle=bundle, answer=explain(bundle), elapsed=elapsed)

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


def _final(check: Check) -> Check:
    """After its time, what still waits has failed."""
    if check.status is not Status.WAITS:
        return check
    return Check(check.subject, check.expected, Status.FAILED, check.detail)
