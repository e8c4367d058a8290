"""Keeps the Node objects of each cluster in sync with its node groups and NodePools."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from slipway.sandbox.nodes.facts import CloudFacts
from slipway.sandbox.nodes.groups import NodeGroup, nodes_of
from slipway.sandbox.nodes.karpenter import placeholder, template_of
from slipway.sandbox.nodes.spec import NodeSpec

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


class NodeRegistry:
    """Implements `ports.NodeObserver`, and the observer of applied objects for Karpenter's kinds.

    `write` creates or updates a node of a cluster, `remove` deletes one; both are called with the registry's lock held,
    so a node is never written by two threads. A cluster that is not running has no nodes. `elastic` says whether
    Karpenter itself runs in a cluster, whose NodePools then have no placeholder nodes.
    """

    def __init__(
        self,
        facts: CloudFacts,
        write: Callable[[str, NodeSpec], bool],
        remove: Callable[[str, str], None],
        elastic: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._facts = facts
        self._write = write
        self._remove = remove
        self._elastic = elastic
        self._clusters: dict[str, _Cluster] = defaultdict(_Cluster)
        self._asg_tags: dict[str, dict[str, str]] = defaultdict(dict)
        self._lock = threading.RLock()

    # -- ports.NodeObserver --------------------------------------------------------------------------------------------

    def node_group_changed(
        self, cluster: str, name: str, inputs: Mapping[str, Any], launch_template: Mapping[str, Any] | None
    ) -> None:
        """A node group was created or updated."""
        with self._lock:
            asg = self._facts.asg_of(cluster, name)
            tags = self._asg_tags[asg] if asg else {}
            self._clusters[cluster].groups[name] = NodeGroup(name, inputs, launch_template, dict(tags))
            self._reconcile(cluster)

    def node_group_deleted(self, cluster: str, name: str) -> None:
        """A node group was deleted, and its nodes with it."""
        with self._lock:
            self._clusters[cluster].groups.pop(name, None)
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

    # -- objects of Karpenter ------------------------------------------------------------------------------------------

    def object_changed(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was applied; kinds other than Karpenter's are ignored."""
        kind = _kind(obj)
        if kind in _KINDS:
            with self._lock:
                self._clusters[cluster].objects[kind][obj["metadata"]["name"]] = obj
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
        nodes = [spec for group in state.groups.values() for spec in nodes_of(group, self._facts.zone_of)]
        if elastic:
            return nodes
        overlays = state.objects[NODE_OVERLAY].values()
        for pool in state.objects[NODE_POOL].values():
            reference = (template_of(pool).get("spec") or {}).get("nodeClassRef") or {}
            spec = placeholder(pool, state.objects[NODE_CLASS].get(str(reference.get("name"))), overlays)
            if spec is not None:
                nodes.append(spec)
        return nodes


def _kind(obj: Mapping[str, Any]) -> Kind:
    return str(obj.get("apiVersion") or "").partition("/")[0], str(obj.get("kind") or "")
