"""Creates the objects of a trial with the rights of a team's member, watches and removes them, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.workloads.target import Target
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Ref
from slipway.trial.evaluation import Check, Seen, Status, checks
from slipway.trial.expectations import Trial
from slipway.why.collect import collect
from slipway.why.explain import explain
from spec.errors import EXIT_REFUSED, SlipwayError

USER: Final = "slipway-try"
POLL: Final = 0.5
CLEAN_UP: Final = 60.0
"""Seconds that the cluster gets to remove the objects with what is below them."""


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
        try:
            ref = self._ref(manifest)
            kind = self.client.discovery.find(ref.api_version, ref.kind)
            body = {**manifest, "metadata": {**manifest["metadata"], "namespace": ref.namespace}}
            headers = {"Impersonate-User": USER, "Impersonate-Group": self.member} if self.member else {}
            options = {"fieldManager": USER, "fieldValidation": "Strict"}
            self.client.call("POST", kind.path(ref.namespace), body, options, headers=headers)
        except NoSuchKindError as error:
            return str(error)
        except ApiError as error:
            return error.message
        self._created.append(ref)
        return ""

    def _watch(self, refusals: Mapping[str, str]) -> list[Check]:
        """Look again until each expectation is met, can't be met, or its time has passed."""
        began = self.clock()
        while True:
            elapsed = self.clock() - began
            found = {name: self._look(name, refusals[name], elapsed) for name in self.trial.manifests}
            waiting = [
                name
                for name, every in found.items()
                if any(one.status is Status.WAITS for one in every) and elapsed < self.trial.within(name)
            ]
            if not waiting:
                return [_final(one) for every in found.values() for one in every]
            self.sleep(POLL)

    def _look(self, name: str, refusal: str, elapsed: float) -> list[Check]:
        """The checks of an object; what has passed once stays passed: pods and Workloads go when a job has ended."""
        done = self._done.setdefault(name, {})
        seen = Seen(refusal=refusal) if refusal else self._read(name, elapsed)
        every = [done.get(one.expected, one) for one in checks(name, self.trial.expected[name], seen)]
        done.update({one.expected: one for one in every if one.status is Status.PASSED})
        return every

    def _read(self, name: str, elapsed: float) -> Seen:
        subject = self.client.get(self._ref(self.trial.manifests[name]))
        if subject is None:
            return Seen(elapsed=elapsed)
        bundle = collect(self.client, subject, self.target)
        return Seen(bundle=bundle, answer=explain(bundle), elapsed=elapsed)

    def _remove(self) -> list[Ref]:
        """Delete the objects, with what is below them; what is left after a while."""
        began = self.clock()
        left = list(reversed(self._created))
        for ref in left:
            self.client.delete(ref, "Foreground")
        while left := [ref for ref in left if self.client.get(ref) is not None]:
            if self.clock() - began >= CLEAN_UP:
                break
            self.sleep(POLL)
        return left


def _final(check: Check) -> Check:
    """After its time, what still waits has failed."""
    if check.status is not Status.WAITS:
        return check
    return Check(check.subject, check.expected, Status.FAILED, check.detail)
