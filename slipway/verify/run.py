"""Creates the Jobs, waits for them, and removes them, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.discovery import ResourceType
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.verify import probes
from slipway.verify.checks import Check, Observed, Status, of_claims, of_probe
from slipway.verify.probes import LABEL, NAMESPACE, Probe
from spec.settings.platform import Platform

MANAGER: Final = "slipway-verify"
POLL: Final = 2.0
RENEW: Final = 600.0
"""Seconds after which a new client is made: a token of EKS is valid for 14 minutes (EKS User Guide, "get-token")."""
CLEAN_UP: Final = 120.0
"""Seconds that the API server gets to remove the Jobs and the namespace."""


@dataclass(kw_only=True)
class Verification:
    """One run.

    Attributes:
        connect: Makes a client of the cluster that may do everything in it.
        platform: The stack.
        seconds: The longest time to wait for the Jobs, all together.
        simulated: Whether the cluster is one of the sandbox, in which nothing runs.
        say: Reports progress.
        sleep: Waits.
        clock: Seconds since some moment.
    """

    connect: Callable[[], KubeClient]
    platform: Platform
    seconds: float
    simulated: bool
    say: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _client: KubeClient | None = None
    _since: float = 0.0

    @property
    def client(self) -> KubeClient:
        """A client whose token is still valid."""
        if self._client is None or self.clock() - self._since >= RENEW:
            self._client, self._since = self.connect(), self.clock()
        return self._client

    def run(self) -> list[Check]:
        """Every check, that of the clean-up last.

        Raises:
            ApiError, UnreachableError: The API server refuses what no Job is about, or does not answer.
        """
        # What a run left that was killed.
        self._clean_up()
        checks = []
        try:
            checks += list(self._checks())
        finally:
            left = self._clean_up()
        status = Status.FAILED if left else Status.PASSED
        return [*checks, Check("clean-up", "nothing of this run is left", status, ", ".join(left))]

    def _checks(self) -> Iterator[Check]:
        claims = self._claims()
        for team, settings in sorted(self.platform.teams.items()):
            for namespace in settings.namespaces_of(team):
                if namespace in claims:
                    yield of_claims(f"team {team} ({namespace})", claims[namespace])
        self.client.apply(probes.namespace(), MANAGER, force=True)
        deadline = int(self.seconds)
        every = [*probes.of_pools(self.platform, deadline), *probes.of_teams(self.platform, claims, deadline)]
        refused = {id(probe): self._create(probe) for probe in every}
        running = [probe for probe in every if not refused[id(probe)]]
        self.say(f"{len(running)} Jobs created; waiting for at most {self.seconds / 60:.0f} minutes")
        seen = self._wait(running)
        for probe in every:
            observed = seen.get(id(probe), Observed(refused=refused[id(probe)]))
            yield from of_probe(probe, observed, simulated=self.simulated)

    def _create(self, probe: Probe) -> str:
        try:
            self.client.create(probe.job, MANAGER)
        except ApiError as error:
            return str(error)
        return ""

    def _wait(self, running: list[Probe]) -> dict[int, Observed]:
        began, seen = self.clock(), {}
        while True:
            seen = {id(probe): self._observe(probe) for probe in running}
            waiting = [probe for probe in running if not self._final(probe, seen[id(probe)])]
            if not waiting or self.clock() - began >= self.seconds:
                return seen
            self.sleep(POLL)

    def _final(self, probe: Probe, seen: Observed) -> bool:
        if self.simulated and probe.queued:
            return True
        conditions = ((seen.job or {}).get("status") or {}).get("conditions") or ()
        return any(one["type"] in ("Complete", "Failed") and one["status"] == "True" for one in conditions)

    def _observe(self, probe: Probe) -> Observed:
        metadata = probe.job["metadata"]
        job = self.client.get(Ref("batch/v1", "Job", metadata["name"], metadata["namespace"]))
        selector = f"batch.kubernetes.io/job-name={metadata['name']}"
        pod = next(self.client.list(self._kind("v1", "Pod"), metadata["namespace"], selector), None)
        if pod is None:
            return Observed(job=job, why=_condition(job))
        name = pod["spec"].get("nodeName")
        node = self.client.get(Ref("v1", "Node", name)) if name else None
        return Observed(job=job, pod=pod, node=node, why=_condition(pod))

    def _claims(self) -> dict[str, list[Object]]:
        found: dict[str, list[Object]] = {}
        for one in self.client.list(self._kind("v1", "PersistentVolumeClaim")):
            found.setdefault(one["metadata"]["namespace"], []).append(one)
        return found

    def _clean_up(self) -> list[str]:
        """Remove the Jobs, with their pods, and the namespace; what is left after a while."""
        began = self.clock()
        while True:
            jobs = list(self.client.list(self._kind("batch/v1", "Job"), selector=f"{LABEL}=true"))
            for one in jobs:
                if not one["metadata"].get("deletionTimestamp"):
                    self.client.delete(Ref.of(one))
            namespace = self.client.get(Ref("v1", "Namespace", NAMESPACE))
            if namespace and not namespace["metadata"].get("deletionTimestamp"):
                self.client.delete(Ref("v1", "Namespace", NAMESPACE))
            pods = list(self.client.list(self._kind("v1", "Pod"), selector=f"{LABEL}=true"))
            left = [f"{one['kind']} {one['metadata']['namespace']}/{one['metadata']['name']}" for one in (*jobs, *pods)]
            left += [f"namespace {NAMESPACE}"] if namespace else []
            if not left or self.clock() - began >= CLEAN_UP:
                return left
            self.sleep(POLL)

    def _kind(self, api_version: str, kind: str) -> ResourceType:
        return self.client.discovery.find(api_version, kind)


def _condition(of: Mapping[str, Any] | None) -> str:
    """The message of a condition that says what is wrong."""
    for one in ((of or {}).get("status") or {}).get("conditions") or ():
        wrong = one["status"] == "False" if one["type"] == "PodScheduled" else one["type"] == "Failed"
        if wrong:
            return str(one.get("message") or one.get("reason") or "")
    return ""
