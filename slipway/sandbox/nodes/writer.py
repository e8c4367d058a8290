"""Writes Node objects into the API server of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slipway.sandbox.kubernetes import awaits
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.nodes.spec import NodeSpec, node

MANAGER = "slipway-sandbox"


@dataclass(frozen=True)
class NodeWriter:
    """`client_of` returns the client of a cluster; None if it is not running."""

    client_of: Callable[[str], KubeClient | None]

    def write(self, cluster: str, spec: NodeSpec) -> bool:
        """Create or update a node; False if the cluster is not running."""
        client = self.client_of(cluster)
        if client is None:
            return False
        wanted = node(spec)
        live = client.apply(wanted, MANAGER, force=True)
        if live["spec"].get("taints", []) != wanted["spec"]["taints"]:
            # Admission taints a new node as not ready; the node controller would clear that a moment later.
            live = client.apply(wanted, MANAGER, force=True)
        # Applied and not replaced: the controller manager and KWOK write to nodes as well.
        reference = Ref("v1", "Node", spec.name).as_object()
        client.apply({**reference, "status": wanted["status"]}, MANAGER, force=True, subresource="status")
        return True

    def remove(self, cluster: str, name: str) -> None:
        """Delete a node, and its pods, as the pod garbage collector does a minute later (controller/podgc, 1.36)."""
        client = self.client_of(cluster)
        if client is None:
            return
        awaits.delete(client, Ref("v1", "Node", name))
        pods, on_node = client.discovery.find("v1", "Pod"), f"spec.nodeName={name}"
        # One request for each namespace: two for each pod took 3 s for 60 pods, this takes 0.7 (2 busy cores, 2026-11).
        for namespace in {pod["metadata"]["namespace"] for pod in client.list(pods, fields=on_node)}:
            client.call("DELETE", pods.path(namespace), {"gracePeriodSeconds": 0}, {"fieldSelector": on_node})
