"""Writes Node objects into the API server of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.removal import remove
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
            # Admission taints a new node as not ready; the node controller, which would clear that, does not run here.
            live = client.apply(wanted, MANAGER, force=True)
        # Applied and not replaced: the controller manager and KWOK write to nodes as well.
        reference = Ref("v1", "Node", spec.name).as_object()
        client.apply({**reference, "status": wanted["status"]}, MANAGER, force=True, subresource="status")
        return True

    def remove(self, cluster: str, name: str) -> None:
        """Delete a node."""
        client = self.client_of(cluster)
        if client is not None:
            remove(client, Ref("v1", "Node", name))
