"""Keeps the Node objects of each cluster in sync with its node groups and NodePools."""

import copy
import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sandbox.nodes.groups import CloudFacts, NodeGroup, node_name, nodes_of
from sandbox.nodes.karpenter import placeholder, template_of
from sandbox.nodes.spec import NodeSpec

NODE_POOL = ("karpenter.sh", "NodePool")
NODE_CLASS = ("karpenter.k8s.aws", "EC2NodeClass")
NODE_OVERLAY = ("karpenter.sh", "NodeOverlay")
_KINDS = frozenset({NODE_POOL, NODE_CLASS, NODE_OVERLAY})
Kind: TypeAlias = tuple[str, str]


@dataclass
class _Cluster:
    groups: dict[str, NodeGroup] = field(default_factory=dict)
    objects: dict[Kind, dict[str, Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    """The nodes in the API server, by name."""
    members: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of the nodes of each group whose size the Cluster Autoscaler has chosen."""
    ended: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Numbers of the nodes of other groups whose instances have ended."""
    leaving: dict[str, tuple[NodeSpec, ...]] = field(default_factory=dict)
    """Nodes of each group that an update replaces, until their pods have left."""
    autoscaled: bool = False


@dataclass(frozen=True)
class Scalable:
    """A node group that the Cluster Autoscaler may resize."""

    name: str  # name of the group
    minimum: int  # least number of nodes
    maximum: int  # greatest number of nodes
    nodes: Mapping[int, str]  # names of its nodes, by number
    template: NodeSpec  # a node of it
    zones: frozenset[str] = frozenset()  # where its instances may be


class NodeRegistry:
    """Implements `ports.NodeObserver`, and the observer of applied objects for Karpenter's kinds.

    `write` creates or updates a node of a cluster, `remove` deletes one; both are called with the registry's lock held,
    so a node is never written by two threads. A cluster that is not running has no nodes. `elastic` says whether
    Karpenter itself runs in a cluster, whose NodePools then have no placeholder nodes. `drain` empties nodes of a group
    before they are removed.
    """

    def __init__(
        self,
        facts: CloudFacts,
        write: Callable[[str, NodeSpec], bool],
        remove: Callable[[str, str], None],
        elastic: Callable[[str], bool] = lambda _: False,
        drain: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self._facts = facts
        self._write = write
        self._remove = remove
        self._elastic = elastic
        self._drain = drain
        self._clusters: dict[str, _Cluster] = defaultdict(_Cluster)
        self._asg_tags: dict[str, dict[str, str]] = defaultdict(dict)
        self._lock = threading.RLock()

    # -- saved sandboxes -----------------------------------------------------------------------------------------------

    @property
    def memory(self) -> tuple[dict[str, _Cluster], dict[str, dict[str, str]]]:
        """What it knows of nodes that are in API servers already."""
        with self._lock:
            return copy.deepcopy((self._clusters, self._asg_tags))

    @memory.setter
    def memory(self, known: tuple[dict[str, _Cluster], dict[str, dict[str, str]]]) -> None:
        with self._lock:
            self._clusters, self._asg_tags = known

    # -- ports.NodeObserver --------------------------------------------------------------------------------------------

    def node_group_changed(
        self, cluster: str, name: str, inputs: Mapping[str, Any], launch_template: Mapping[str, Any] | None
    ) -> None:
        """A node group was created or updated. Another version replaces its nodes, as EKS does: others come first, then
        the old ones are emptied and removed. Raises SandboxError if pods don't leave them."""
        with self._lock:
            state, asg = self._clusters[cluster], self._facts.asg_of(cluster, name)
            before = state.groups.get(name)
            tags = self._asg_tags[asg] if asg else {}
            state.groups[name] = group = NodeGroup(name, inputs, launch_template, dict(tags))
            if before is not None and before.image != group.image:
                self._retire(state, before)
            self._reconcile(cluster)
            leaving = [one.name for one in state.leaving.get(name, ())]
        if leaving:
            self._drain(cluster, name, leaving, forced=bool(inputs.get("forceUpdateVersion")))
            with self._lock:
                state.leaving.pop(name, None)
                self._reconcile(cluster)

    def _retire(self, state: _Cluster, group: NodeGroup) -> None:
        """The nodes of a group leave, and others with numbers of their own take their place."""
        specs = nodes_of(group, self._facts.zone_of, _members(state, group))
        live = tuple(one for one in specs if not one.placeholder)
        first = max((_number(one) for one in live), default=-1) + 1
        if group.name in state.members:
            state.members[group.name] = tuple(range(first, first + len(live)))
        else:
            state.ended[group.name].update(range(first))
        state.leaving[group.name] = (*state.leaving.get(group.name, ()), *live)

    def node_group_deleted(self, cluster: str, name: str) -> None:
        """A node group was deleted, and its nodes with it."""
        with self._lock:
            state = self._clusters[cluster]
            for known in (state.groups, state.members, state.leaving):
                known.pop(name, None)
            self._reconcile(cluster)

    def asg_tag_changed(self, asg_name: str, key: str, value: str | None) -> None:
        """A tag changed that names resources beyond those of the instance type."""
        with self._lock:
            if value is None:
                self._asg_tags[asg_name].pop(key, None)
            else:
                self._asg_tags[asg_name][key] = value
            for cluster, state in list(self._clusters.items()):
                for name, group in list(state.groups.items()):
                    if self._facts.asg_of(cluster, name) == asg_name:
                        state.groups[name] = replace(group, asg_tags=dict(self._asg_tags[asg_name]))
                        self._reconcile(cluster)

    def instance_ended(self, cluster: str, node: str) -> None:
        """EC2 has ended the instance of a group, and its node is gone: the Auto Scaling group launches another, whose
        node has a name of its own."""
        with self._lock:
            state = self._clusters[cluster]
            for group in state.groups.values():
                specs = nodes_of(group, self._facts.zone_of, _members(state, group))
                numbers = [_number(spec) for spec in specs if not spec.placeholder]
                gone = next((each for each in numbers if node_name(group.name, each) == node), None)
                if gone is None:
                    continue
                state.nodes.pop(node, None)
                if group.name in state.members:
                    kept = (each for each in numbers if each != gone)
                    state.members[group.name] = tuple(sorted((*kept, max(numbers) + 1)))
                else:
                    state.ended[group.name].add(gone)
                self._reconcile(cluster)

    def repairs(self, cluster: str, name: str) -> bool:
        """Whether EKS replaces unhealthy nodes of a group; not where a cluster has no such group."""
        with self._lock:
            group = self._clusters[cluster].groups.get(name)
            return bool(((group.inputs if group else {}).get("nodeRepairConfig") or {}).get("enabled"))

    # -- the Cluster Autoscaler ----------------------------------------------------------------------------------------

    def autoscale(self, cluster: str, *, on: bool) -> None:
        """The Cluster Autoscaler begins or ends: groups that it finds have no placeholder nodes meanwhile."""
        with self._lock:
            self._clusters[cluster].autoscaled = on
            self._reconcile(cluster)

    def scalable(self, cluster: str) -> tuple[Scalable, ...]:
        """The groups that it may resize, as they are."""
        with self._lock:
            state = self._clusters[cluster]
            return tuple(self._scalable(state, group) for group in state.groups.values() if group.autoscaled)

    def resize(self, cluster: str, name: str, members: Collection[int]) -> None:
        """Give a group the nodes of some numbers, within its limits; nothing if the group is gone."""
        with self._lock:
            state = self._clusters[cluster]
            if name in state.groups:
                state.members[name] = tuple(sorted(members))
                self._reconcile(cluster)

    def _scalable(self, state: _Cluster, group: NodeGroup) -> Scalable:
        specs = nodes_of(group, self._facts.zone_of, _members(state, group))
        live = () if specs[0].placeholder else specs
        numbers = {_number(spec): spec.name for spec in live}
        zones = {self._facts.zone_of(subnet) or "" for subnet in group.inputs.get("subnetIds") or ()}
        template = replace(specs[0], placeholder=False)
        return Scalable(group.name, *group.limits, numbers, template, frozenset(zones or {template.zone}))

    # -- objects of Karpenter ------------------------------------------------------------------------------------------

    def object_changed(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was applied; kinds other than Karpenter's are ignored."""
        kind = _kind(obj)
        if kind in _KINDS:
            with self._lock:
                objects = self._clusters[cluster].objects[kind]
                # A list that is read again is no change: Karpenter may not be running yet.
                if objects.get(obj["metadata"]["name"]) != obj:
                    objects[obj["metadata"]["name"]] = obj
                    self._reconcile(cluster)

    def object_deleted(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was deleted."""
        kind = _kind(obj)
        if kind in _KINDS:
            with self._lock:
                self._clusters[cluster].objects[kind].pop(obj["metadata"]["name"], None)
                self._reconcile(cluster)

    def existing_clusters(self, names: Collection[str]) -> None:
        """Forget all other clusters: a new cluster of the same name starts without nodes."""
        with self._lock:
            for name in [name for name in self._clusters if name not in names]:
                del self._clusters[name]

    # ------------------------------------------------------------------------------------------------------------------

    def _reconcile(self, cluster: str) -> None:
        state = self._clusters[cluster]
        wanted = {spec.name: spec for spec in self._wanted(state, elastic=self._elastic(cluster))}
        for name in [name for name in state.nodes if name not in wanted]:
            self._remove(cluster, name)
            del state.nodes[name]
        for name, spec in wanted.items():
            if state.nodes.get(name) != spec and self._write(cluster, spec):
                state.nodes[name] = spec

    def _wanted(self, state: _Cluster, *, elastic: bool) -> list[NodeSpec]:
        nodes = [
            spec
            for group in state.groups.values()
            for spec in nodes_of(group, self._facts.zone_of, _members(state, group))
            if not (spec.placeholder and state.autoscaled and group.autoscaled)
        ]
        nodes += [one for leaving in state.leaving.values() for one in leaving]
        if elastic:
            return nodes
        overlays = state.objects[NODE_OVERLAY].values()
        for pool in state.objects[NODE_POOL].values():
            reference = (template_of(pool).get("spec") or {}).get("nodeClassRef") or {}
            spec = placeholder(pool, state.objects[NODE_CLASS].get(str(reference.get("name"))), overlays)
            if spec is not None:
                nodes.append(spec)
        return nodes


def _members(state: _Cluster, group: NodeGroup) -> tuple[int, ...] | None:
    """The numbers that the Cluster Autoscaler chose, within the limits of the group now; without it, those whose
    instances have not ended; None for the first ones."""
    chosen, ended = state.members.get(group.name), state.ended[group.name]
    if chosen is None:
        live = (number for number in itertools.count() if number not in ended)
        return tuple(itertools.islice(live, group.size)) if ended else None
    least, most = group.limits
    free = (number for number in itertools.count() if number not in chosen)
    return (*chosen[:most], *itertools.islice(free, max(0, least - len(chosen))))


def _number(spec: NodeSpec) -> int:
    return int(spec.name.rpartition("-")[2])


def _kind(obj: Mapping[str, Any]) -> Kind:
    return str(obj.get("apiVersion") or "").partition("/")[0], str(obj.get("kind") or "")
