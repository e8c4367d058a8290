"""The Cluster Autoscaler of a cluster, modelled: managed node groups grow for pods without a node, and shrink again.

It acts while its Deployment exists, by the flags of its container, and so by the values of the stack's Helm release.
Its own binary does not run here: its module has no versions that Go could build (ADR 0096). It decides as upstream does
what to add (`scaling`), and removes empty nodes only.
"""

import itertools
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, condition
from sandbox.kubernetes.waiting import Watch
from sandbox.nodes import ec2, scaling
from sandbox.nodes.drain import leaves, shut_if_empty
from sandbox.nodes.registry import Scalable
from sandbox.nodes.scaling import Flags, Option, Place
from sandbox.nodes.spec import node

LOG = logging.getLogger(__name__)
NAME: Final = "cluster-autoscaler"
DEPLOYMENTS: Final = "/apis/apps/v1/deployments"
TICK_SECONDS: Final = 0.5
BACKOFF_SECONDS: Final = 300.0
"""After a failed scale-up (config/flags/flags.go, initial-node-group-backoff-duration)."""
CAPACITY: Final = "eks.amazonaws.com/capacityType"


class Groups(Protocol):
    """What it needs of the registry of nodes."""

    def autoscale(self, cluster: str, *, on: bool) -> None:
        """It begins or ends."""

    def scalable(self, cluster: str) -> tuple[Scalable, ...]:
        """The groups that it may resize."""

    def resize(self, cluster: str, name: str, members: Collection[int]) -> None:
        """Give a group the nodes of some numbers."""


@dataclass
class _State:
    """What it remembers, by group or node; times of the monotonic clock."""

    launching: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """When each instance that has no node yet was requested."""
    backoff: dict[str, float] = field(default_factory=dict)
    unneeded: dict[str, float] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)
    """The last message on each pod: upstream counts equal events, and writes none anew."""
    added: float = float("-inf")


class Autoscaler:
    """Follows one cluster. `cluster_of` gives its name, None before it is ready; `home` is the sandbox's."""

    def __init__(self, client: KubeClient, cluster_of: Callable[[], str | None], groups: Groups, home: Path) -> None:
        self._client = client
        self._cluster_of = cluster_of
        self._groups = groups
        self._home = home
        self._flags: dict[str, Flags] = {}
        self._on = ""
        self._state = _State()
        self._stopped = threading.Event()
        self._watch = Watch(client, DEPLOYMENTS, self._deployment)
        self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._watch.start()
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._watch.stop()
        self._stopped.set()
        self._thread.join()

    def _deployment(self, change: str, deployment: Object) -> None:
        where = f"{deployment['metadata']['namespace']}/{deployment['metadata']['name']}"
        arguments = _arguments(deployment) if change != "DELETED" else None
        if arguments is None:
            self._flags.pop(where, None)
        else:
            self._flags[where] = Flags.of(arguments)

    def _run(self) -> None:
        scanned = float("-inf")
        while not self._stopped.wait(TICK_SECONDS):
            flags, cluster = next(iter(list(self._flags.values())), None), self._cluster_of()
            try:
                self._switch(cluster if flags is not None and cluster is not None else "")
                if flags is None or cluster is None:
                    continue
                now = time.monotonic()
                self._register(cluster, flags, now)
                if now - scanned >= flags.scan:
                    scanned = now
                    self._scan(cluster, flags, now)
            except SandboxError as error:
                LOG.debug("%s: %s", NAME, error)

    def _switch(self, cluster: str) -> None:
        if self._on == cluster:
            return
        if self._on:
            self._groups.autoscale(self._on, on=False)
        if cluster:
            self._state = _State()
            self._groups.autoscale(cluster, on=True)
        self._on = cluster

    def _register(self, cluster: str, flags: Flags, now: float) -> None:
        """Nodes of instances that have started; an instance that EC2 refuses is asked for until it takes too long."""
        settings = ec2.read(self._home)
        for group in self._groups.scalable(cluster):
            launching = self._state.launching[group.name]
            started = [at for at in launching if now - at >= settings.launch_seconds]
            if started and _refused(settings, group):
                late = [at for at in launching if now - at >= flags.provision]
                if late:
                    self._state.launching[group.name] = [at for at in launching if at not in late]
                    self._state.backoff[group.name] = now + BACKOFF_SECONDS
            elif started:
                free = (number for number in itertools.count() if number not in group.nodes)
                self._groups.resize(cluster, group.name, [*group.nodes, *itertools.islice(free, len(started))])
                self._state.launching[group.name] = [at for at in launching if at not in started]

    def _scan(self, cluster: str, flags: Flags, now: float) -> None:
        pods: dict[str, list[Object]] = defaultdict(list)
        waiting = []
        for pod in self._client.list(self._client.discovery.find("v1", "Pod")):
            if pod["status"].get("phase") in ("Succeeded", "Failed"):
                continue
            if name := pod["spec"].get("nodeName"):
                pods[name].append(pod)
            elif _unschedulable(pod):
                waiting.append(pod)
        nodes = list(self._client.list(self._client.discovery.find("v1", "Node")))
        groups = self._groups.scalable(cluster)
        self._grow(groups, waiting, [Place.of(one, pods[one["metadata"]["name"]]) for one in nodes], flags, now)
        if flags.scales_down:
            self._shrink(cluster, groups, pods, flags, now)

    def _grow(
        self, groups: Sequence[Scalable], waiting: list[Object], places: list[Place], flags: Flags, now: float
    ) -> None:
        templates = {group.name: Place.of(node(group.template)) for group in groups}
        coming = [templates[group.name].empty() for group in groups for _ in self._state.launching[group.name]]
        left = scaling.left_over(waiting, [*places, *coming])
        options, reasons = [], defaultdict[str, dict[str, int]](lambda: defaultdict(int))
        for group in groups:
            room = group.maximum - len(group.nodes) - len(self._state.launching[group.name])
            skipped = scaling.AT_MAXIMUM if room <= 0 else ""
            if now < self._state.backoff.get(group.name, now):
                skipped = scaling.IN_BACKOFF
            template, fitting = templates[group.name], []
            for pod in left:
                refusal = template.refusal(pod) or skipped
                if refusal:
                    reasons[pod["metadata"]["uid"]][refusal] += 1
                else:
                    fitting.append(pod)
            count, taken = scaling.estimate(fitting, template, room) if fitting else (0, ())
            if count:
                options.append(Option(group.name, count, taken, group.template))
        if not options:
            for pod in left:
                counted = ", ".join(f"{number} {why}" for why, number in reasons[pod["metadata"]["uid"]].items())
                self._event(pod, "NotTriggerScaleUp", f"pod didn't trigger scale-up: {counted}")
            return
        chosen = scaling.best(options, flags.expander)
        group = next(one for one in groups if one.name == chosen.group)
        present = len(group.nodes) + len(self._state.launching[group.name])
        self._state.launching[group.name] += [now] * chosen.count
        self._state.added = now
        change = f"[{{{group.name} {present}->{present + chosen.count} (max: {group.maximum})}}]"
        for pod in chosen.pods:
            self._event(pod, "TriggeredScaleUp", f"pod triggered scale-up: {change}")

    def _shrink(
        self, cluster: str, groups: Iterable[Scalable], pods: Mapping[str, list[Object]], flags: Flags, now: float
    ) -> None:
        empty = {name for group in groups for name in group.nodes.values() if not any(map(leaves, pods[name]))}
        self._state.unneeded = {name: self._state.unneeded.get(name, now) for name in empty}
        if now - self._state.added < flags.after_add:
            return
        for group in groups:
            spare = len(group.nodes) - group.minimum
            long = [
                number
                for number, name in sorted(group.nodes.items(), reverse=True)
                if now - self._state.unneeded.get(name, now) >= flags.unneeded and name in empty
            ][: max(0, spare)]
            # A pod may have come since the look: upstream taints and looks again (core/scaledown/actuation, 1.36.1).
            long = [number for number in long if shut_if_empty(self._client, group.nodes[number])]
            if long:
                self._groups.resize(cluster, group.name, [one for one in group.nodes if one not in long])

    def _event(self, pod: Mapping[str, Any], reason: str, message: str) -> None:
        metadata = pod["metadata"]
        if self._state.reported.get(metadata["uid"]) == message:
            return
        self._state.reported[metadata["uid"]] = message
        involved = {"apiVersion": "v1", "kind": "Pod", "uid": metadata["uid"]}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
            "involvedObject": {**involved, "name": metadata["name"], "namespace": metadata["namespace"]},
            "reason": reason,
            "message": message,
            "type": "Normal",
            "source": {"component": NAME},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
        try:
            self._client.create(event, NAME)
        except ApiError as error:
            # Its namespace is being deleted.
            LOG.debug("%s", error)


def _arguments(deployment: Mapping[str, Any]) -> list[str] | None:
    """The arguments of the autoscaler's container; None if a Deployment is another's, or is scaled to zero."""
    spec = deployment["spec"]
    if spec.get("replicas") == 0 or deployment["metadata"].get("deletionTimestamp"):
        return None
    for container in spec["template"]["spec"]["containers"]:
        if f"/{NAME}:" in str(container.get("image")):
            return [str(one) for one in (*(container.get("command") or ()), *(container.get("args") or ()))]
    return None


def _unschedulable(pod: Mapping[str, Any]) -> bool:
    scheduled = condition(pod, "PodScheduled")
    return scheduled.get("reason") == "Unschedulable" and not pod["metadata"].get("deletionTimestamp")


def _refused(settings: ec2.Ec2, group: Scalable) -> bool:
    """Whether EC2 has no capacity for a group."""
    market = "spot" if group.template.labels.get(CAPACITY) == "SPOT" else "on-demand"
    refused = {
        one.zone
        for one in settings.refused
        if one.instance_type in ("", group.template.instance_type) and one.capacity_type in ("", market)
    }
    return "" in refused or group.zones <= refused
