"""Creates the Jobs, waits for them, and removes them, whatever happens."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, ResourceType
from sandbox.kubernetes.objects import Object, Ref
from slipway.verify import fabric, model, preemption, probes
from slipway.verify.checks import NO_KUEUE, CheckStatus, ClusterCheck, Observed, of_claims, of_probe
from slipway.verify.fabric import FabricProbe, of_fabric_probe
from slipway.verify.metrics import of_metrics
from slipway.verify.model import ModelProbe, of_model_probe
from slipway.verify.preemption import Rivals
from slipway.verify.probes import LABEL, NAMESPACE, Probe
from spec.jobs import KUEUE_API
from spec.settings.platform import Platform

MANAGER: Final = "slipway-verify"
POLL: Final = 2.0
RENEW: Final = 600.0
"""Seconds after which a new client is made: a token of EKS is valid for 14 minutes (EKS User Guide, "get-token")."""
NAMESPACES: Final = (NAMESPACE, fabric.NAMESPACE)
MADE: Final = (
    ("batch/v1", "Job"), ("serving.kserve.io/v1beta1", "InferenceService"),
    (KUEUE_API, "LocalQueue"), (KUEUE_API, "ClusterQueue"),
)  # fmt: skip
"""Kinds that the command creates outside of namespaces of its own."""
CLEAN_UP: Final = 120.0  # seconds that the API server gets to remove the Jobs and the namespace


@dataclass(kw_only=True)
class Verification:
    """One run."""

    connect: Callable[[], KubeClient]  # makes a client of the cluster that may do everything in it
    platform: Platform  # the stack
    seconds: float  # the longest time to wait for the Jobs, all together
    simulated: bool  # whether the cluster is one of the sandbox, in which no container runs
    say: Callable[[str], None]  # reports progress
    sleep: Callable[[float], None] = time.sleep  # waits
    clock: Callable[[], float] = time.monotonic  # seconds since some moment
    nccl_image: str = fabric.IMAGE  # image with nccl-tests
    model_uri: str = model.URI  # where the model is that KServe serves
    _queues: bool = True
    _client: KubeClient | None = None
    _since: float = 0.0

    @property
    def client(self) -> KubeClient:
        """A client whose token is still valid."""
        if self._client is None or self.clock() - self._since >= RENEW:
            self._client, self._since = self.connect(), self.clock()
        return self._client

    def run(self) -> list[ClusterCheck]:
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
        status = CheckStatus.FAILED if left else CheckStatus.PASSED
        return [*checks, ClusterCheck("clean-up", "nothing of this run is left", status, ", ".join(left))]

    def _checks(self) -> Iterator[ClusterCheck]:
        claims = self._claims()
        for team, settings in sorted(self.platform.teams.items()):
            for namespace in settings.namespaces_of(team):
                if namespace in claims:
                    yield of_claims(f"team {team} ({namespace})", claims[namespace])
        # The Jobs end after the command has looked at their pods, which tell why they wait.
        deadline = int(self.seconds + CLEAN_UP)
        self._queues = not self.simulated or self._queues_run()
        measured = fabric.of_fabric(self.platform, deadline, self.nccl_image)
        every = [
            *probes.of_pools(self.platform, deadline), *probes.of_teams(self.platform, claims, deadline), *measured,
            *model.of_model(self.platform, deadline, self.model_uri),
        ]  # fmt: skip
        for space in (probes.namespace(), *([fabric.namespace()] if measured else [])):
            self.client.apply(space, MANAGER, force=True)
        refused = {id(probe): each for probe in every if (each := self._create(probe))}
        running = [probe for probe in every if id(probe) not in refused]
        self.say(f"{len(running)} Jobs created; waiting for at most {self.seconds / 60:.0f} minutes")
        seen = {**refused, **self._wait(running)}
        for probe in every:
            yield from self._judge(probe, seen[id(probe)])
        rivals = preemption.of_queues(self.platform, deadline)
        if rivals is not None:
            yield self._preempt(rivals)
        # Now Prometheus has had the time of the Jobs to see the nodes that they started.
        yield from of_metrics(self.client.get_path, self.platform, simulated=self.simulated)

    def _judge(self, probe: Probe, seen: Observed) -> Iterator[ClusterCheck]:
        if isinstance(probe, FabricProbe):
            return of_fabric_probe(probe, seen, simulated=self.simulated)
        if isinstance(probe, ModelProbe):
            return of_model_probe(probe, seen, simulated=self.simulated)
        return of_probe(probe, seen, simulated=self.simulated)

    def _preempt(self, rivals: Rivals) -> ClusterCheck:
        """Whether Kueue suspends the first Job for the second."""
        if not self._queues:
            return ClusterCheck(rivals.subject, preemption.WHAT, CheckStatus.NEEDS_AWS, NO_KUEUE)
        refused = self._create_all(*rivals.queues, rivals.first)
        if refused is not None:
            return ClusterCheck(rivals.subject, preemption.WHAT, CheckStatus.FAILED, refused.refused or refused.missing)
        first, second = Ref.of(rivals.first), Ref.of(rivals.second)
        started = self._until(lambda: preemption.admitted(self.client.get(first)))
        refused = self._create_all(rivals.second) if started else None
        if refused is not None:
            return ClusterCheck(rivals.subject, preemption.WHAT, CheckStatus.FAILED, refused.refused)
        # The quota is that of one Job, so Kueue admits the second after it has suspended the first.
        replaced = started and self._until(
            lambda: preemption.admitted(self.client.get(second)) and not preemption.admitted(self.client.get(first))
        )
        why = "" if replaced else self._queued(self.client.get(second if started else first))
        return preemption.judged(rivals, started=started, replaced=replaced, why=why)

    def _until(self, done: Callable[[], bool]) -> bool:
        """Wait until something is true; whether it is."""
        began = self.clock()
        while not done():
            if self.clock() - began >= preemption.SECONDS:
                return False
            self.sleep(POLL)
        return True

    def _create(self, probe: Probe) -> Observed | None:
        """Create what a probe consists of; None if the API server accepts all of it."""
        return self._create_all(*probe.before, probe.job)

    def _create_all(self, *objects: Object) -> Observed | None:
        try:
            for one in objects:
                self.client.create(one, MANAGER)
        except ApiError as error:
            return Observed(refused=str(error))
        except NoSuchKindError as error:
            return Observed(missing=error.kind)
        return None

    def _queues_run(self) -> bool:
        """Whether Kueue runs in the sandbox: only it sets the condition of a ClusterQueue."""
        try:
            queues = list(self.client.list(self._kind(KUEUE_API, "ClusterQueue")))
        except NoSuchKindError:
            return False
        conditions = [one for queue in queues for one in (queue.get("status") or {}).get("conditions") or ()]
        return any(one["type"] == "Active" and one["status"] == "True" for one in conditions)

    def _wait(self, running: list[Probe]) -> dict[int, Observed]:
        began, seen = self.clock(), {}
        while True:
            seen = {id(probe): self._observe(probe) for probe in running}
            waiting = [probe for probe in running if not self._final(probe, seen[id(probe)])]
            if not waiting or self.clock() - began >= self.seconds:
                return seen
            self.sleep(POLL)

    def _final(self, probe: Probe, seen: Observed) -> bool:
        if probe.queued and not self._queues:
            return True
        conditions = ((seen.job or {}).get("status") or {}).get("conditions") or ()
        return any(one["type"] in ("Complete", "Failed") and one["status"] == "True" for one in conditions)

    def _observe(self, probe: Probe) -> Observed:
        metadata = probe.job["metadata"]
        job = self.client.get(Ref("batch/v1", "Job", metadata["name"], metadata["namespace"]))
        selector = f"batch.kubernetes.io/job-name={metadata['name']}"
        found = list(self.client.list(self._kind("v1", "Pod"), metadata["namespace"], selector))
        pods = tuple((pod, self._node(pod)) for pod in sorted(found, key=_index))
        if not pods:
            return Observed(job=job, why=_condition(job) or self._queued(job), queues=self._queues)
        pod, node = pods[0]
        why = next((text for each, _ in pods if (text := _condition(each) or self._warning(each))), "")
        return Observed(job=job, pod=pod, node=node, why=why, pods=pods, queues=self._queues)

    def _warning(self, pod: Object) -> str:
        """The last warning about a pod that waits for its node to start it: for a volume, or an image."""
        metadata = pod["metadata"]
        if (pod.get("status") or {}).get("phase") != "Pending" or not pod["spec"].get("nodeName"):
            return ""
        events = self.client.list(self._kind("v1", "Event"), metadata["namespace"])
        of_pod = (one for one in events if one["involvedObject"].get("uid") == metadata["uid"])
        about = [one for one in of_pod if one["type"] == "Warning"]
        latest = max(about, key=lambda one: one.get("lastTimestamp") or one.get("eventTime") or "", default=None)
        return f"{latest.get('reason')}: {latest.get('message')}" if latest else ""

    def _queued(self, job: Object | None) -> str:
        """Why Kueue does not admit a Job."""
        if job is None or not job["spec"].get("suspend") or not self._queues:
            return ""
        selector, where = f"kueue.x-k8s.io/job-uid={job['metadata'].get('uid')}", job["metadata"]["namespace"]
        try:
            found = list(self.client.list(self._kind(KUEUE_API, "Workload"), where, selector))
        except NoSuchKindError:
            return ""
        conditions = [one for each in found for one in (each.get("status") or {}).get("conditions") or ()]
        reasons = (str(one.get("message")) for one in conditions if one["type"] == "QuotaReserved")
        return next(reasons, "")

    def _node(self, pod: Object) -> Object | None:
        name = pod["spec"].get("nodeName")
        return self.client.get(Ref("v1", "Node", name)) if name else None

    def _claims(self) -> dict[str, list[Object]]:
        found: dict[str, list[Object]] = {}
        for one in self.client.list(self._kind("v1", "PersistentVolumeClaim")):
            found.setdefault(one["metadata"]["namespace"], []).append(one)
        return found

    def _clean_up(self) -> list[str]:
        """Remove the Jobs, with their pods, and the namespace; what is left after a while."""
        began = self.clock()
        while True:
            made = [one for kind in MADE for one in self._labelled(*kind)]
            for one in made:
                if not one["metadata"].get("deletionTimestamp"):
                    self.client.delete(Ref.of(one))
            spaces = [found for name in NAMESPACES if (found := self.client.get(Ref("v1", "Namespace", name)))]
            for space in spaces:
                if not space["metadata"].get("deletionTimestamp"):
                    self.client.delete(Ref("v1", "Namespace", space["metadata"]["name"]))
            every = (*made, *self._labelled("v1", "Pod"))
            left = [_named(one) for one in (*every, *self._volumes())]
            left += [f"namespace {space['metadata']['name']}" for space in spaces]
            if not left or self.clock() - began >= CLEAN_UP:
                return left
            self.sleep(POLL)

    def _volumes(self) -> list[Object]:
        """Volumes of the Jobs on pools, which the driver deletes after their claims."""
        every = self.client.list(self._kind("v1", "PersistentVolume"))
        return [one for one in every if (one["spec"].get("claimRef") or {}).get("namespace") in NAMESPACES]

    def _labelled(self, api_version: str, kind: str) -> list[Object]:
        try:
            return list(self.client.list(self._kind(api_version, kind), selector=f"{LABEL}=true"))
        except NoSuchKindError:
            return []

    def _kind(self, api_version: str, kind: str) -> ResourceType:
        return self.client.discovery.find(api_version, kind)


def _named(one: Object) -> str:
    where = one["metadata"].get("namespace")
    return f"{one['kind']} {where}/{one['metadata']['name']}" if where else f"{one['kind']} {one['metadata']['name']}"


def _index(pod: Object) -> int:
    """The pod's place in an Indexed Job."""
    labels = pod["metadata"].get("labels") or {}
    return int(labels.get("batch.kubernetes.io/job-completion-index", 0))


def _condition(of: Mapping[str, Any] | None) -> str:
    """The message of a condition that says what is wrong."""
    for one in ((of or {}).get("status") or {}).get("conditions") or ():
        wrong = one["status"] == "False" if one["type"] == "PodScheduled" else one["type"] == "Failed"
        if wrong:
            return str(one.get("message") or one.get("reason") or "")
    return ""
