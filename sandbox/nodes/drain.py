"""Empties nodes as EKS does when it updates a node group: evictions, which disruption budgets may refuse.

Source: EKS User Guide, "Understand each phase of node updates" (managed-node-update-behavior.html, read 2026-11).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from sandbox.errors import SandboxError
from sandbox.kubernetes import waiting
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref

STUCK_SECONDS: Final = 30.0
"""How long no pod may leave a node. EKS gives each node 15 minutes in all."""
_MIRROR: Final = "kubernetes.io/config.mirror"


def drain(client: KubeClient, group: str, names: Sequence[str], *, forced: bool = False) -> None:
    """Evict the pods of nodes, one node after the other; nothing new is placed on any of them meanwhile.

    A forced update goes on where pods don't leave; they end with their node then.

    Raises:
        SandboxError: Pods don't leave, in EKS's words. Then nodes take pods again.
    """
    _cordon(client, names, on=True)
    for name in names:
        try:
            _empty(client, name)
        except TimeoutError as error:
            if forced:
                continue
            _cordon(client, names, on=False)
            msg = (
                f"PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group {group}: "
                f"{error}"
            )
            raise SandboxError(msg) from error


def shut_if_empty(client: KubeClient, name: str) -> bool:
    """Whether a node has no pod that a drain would wait for; then nothing new is placed on it either."""
    _cordon(client, [name], on=True)
    empty = not any(map(leaves, _pods(client, name)))
    if not empty:
        _cordon(client, [name], on=False)
    return empty


def _cordon(client: KubeClient, names: Sequence[str], *, on: bool) -> None:
    for name in names:
        if client.get(Ref("v1", "Node", name)) is not None:
            client.merge(Ref("v1", "Node", name), {"spec": {"unschedulable": on or None}})


def _pods(client: KubeClient, name: str) -> Iterable[Object]:
    return client.list(client.discovery.find("v1", "Pod"), fields=f"spec.nodeName={name}")


def _empty(client: KubeClient, name: str) -> None:
    refusals: dict[str, str] = {}
    left: list[str] = []

    def gone() -> bool | None:
        pods = list(_pods(client, name))
        left[:] = [one["metadata"]["uid"] for one in pods if leaves(one)]
        for pod in pods:
            if leaves(pod) and not pod["metadata"].get("deletionTimestamp"):
                refusals[str(Ref.of(pod))] = _evict(client, pod)
        return None if left else True

    def what() -> str:
        said = [f"{pod}: {text}" for pod, text in refusals.items() if text]
        return "; ".join(said) or f"{len(left)} pods on node {name} don't end"

    waiting.until(gone, STUCK_SECONDS, what, longest=waiting.SLOW_POLL_SECONDS, sight=lambda: tuple(sorted(left)))


def leaves(pod: Object) -> bool:
    """Whether a drain waits for it: not for those that the node brings, or that a DaemonSet puts back at once."""
    owners = {one["kind"] for one in pod["metadata"].get("ownerReferences") or ()}
    return "DaemonSet" not in owners and _MIRROR not in (pod["metadata"].get("annotations") or {})


def _evict(client: KubeClient, pod: Object) -> str:
    """Why the API server refuses it; empty if it doesn't."""
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
    path = client.discovery.find("v1", "Pod").path(metadata["namespace"], f"{metadata['name']}/eviction")
    try:
        client.call("POST", path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata})
    except ApiError as error:
        if error.not_found:
            return ""
        if not error.of_budget:
            raise
        return error.message
    return ""
