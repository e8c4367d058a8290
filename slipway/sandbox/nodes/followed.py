"""Karpenter's objects of one cluster, followed in the API server: the official provider reports no object here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.manifests import ObjectObserver
from slipway.sandbox.kubernetes.objects import Object
from slipway.sandbox.kubernetes.watch import Watch

PATHS: Final = (
    "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    "/apis/karpenter.sh/v1/nodepools",
)


class Followed:
    """Reports each change to an observer; `cluster_of` gives the cluster's name, None before it is ready."""

    def __init__(self, client: KubeClient, cluster_of: Callable[[], str | None], observer: ObjectObserver) -> None:
        self._cluster_of = cluster_of
        self._observer = observer
        self._watches = [Watch(client, path, self._changed) for path in PATHS]

    def start(self) -> None:
        """Begin to follow."""
        for watch in self._watches:
            watch.start()

    def stop(self) -> None:
        """End."""
        for watch in self._watches:
            watch.stop()

    def _changed(self, change: str, obj: Object) -> None:
        cluster = self._cluster_of()
        if cluster is not None:
            report = self._observer.object_deleted if change == "DELETED" else self._observer.object_changed
            report(cluster, obj)
