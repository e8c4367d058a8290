"""Selecting the API server for a provider instance: its cluster's, or the spare while the cluster does not exist."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from slipway.sandbox.cluster.apiserver import ApiServer
from slipway.sandbox.cluster.clusters import ClusterPool
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.preview_crds import PreviewCrds
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc.errors import ProviderError


class Credentials(Protocol):
    """The admin's. The exec plugin of an EKS kubeconfig gets a token from AWS, which no API server here accepts."""

    @property
    def admin_token(self) -> str:
        """A bearer token of the group system:masters."""

    @property
    def authority_text(self) -> str:
        """PEM of the certificate authority that signed the servers' certificates."""


@dataclass(frozen=True)
class Target:
    """An API server to talk to; `cluster` is empty for the spare."""

    client: KubeClient
    cluster: str = ""


class Targets:
    """One client per API server, and the CRDs that previews may install in the spare."""

    def __init__(self, pool: ClusterPool, credentials: Credentials) -> None:
        self.pool = pool
        self.preview_crds = PreviewCrds()
        self._credentials = credentials
        self._clients: dict[str, KubeClient] = {}
        self._lock = threading.Lock()

    def live(self, settings: Settings) -> Target:
        """The cluster, for reading or changing objects. Raises ProviderError if it is not running."""
        target = self.existing(settings)
        if target is None:
            existing = ", ".join(self.pool.existing()) or "none"
            where = f"the kubeconfig's server is {settings.server}" if settings.server else "there is no kubeconfig"
            msg = (
                f"{where}, and no cluster of this sandbox matches (running: {existing}): take the kubeconfig from the "
                "outputs of this sandbox's aws.eks.Cluster, or run `slipway refresh` if the cluster was deleted"
            )
            raise ProviderError(msg)
        return target

    def existing(self, settings: Settings) -> Target | None:
        """The cluster; None if it is not running or not known yet."""
        if settings.ambient:
            newest = list(self.pool.existing().items())[-1:]
            return self._target(*newest[0]) if newest else None
        cluster = self.pool.at(settings.server) if settings.server else None
        return None if cluster is None else self._target(*cluster)

    def spare(self) -> Target:
        """The API server without a cluster, for dry runs only."""
        return self._target("", self.pool.spare())

    def of_cluster(self, name: str) -> KubeClient | None:
        """The client of a cluster by name; None if it is not running."""
        server = self.pool.existing().get(name)
        return None if server is None else self.client(server)

    def client(self, server: ApiServer) -> KubeClient:
        """The client of an API server; connections and discovery are cached while the server runs."""
        url = server.endpoint.server
        with self._lock:
            if url not in self._clients:
                self._clients[url] = KubeClient(url, self._credentials.authority_text, self._credentials.admin_token)
            return self._clients[url]

    def forget_stopped(self) -> None:
        """Drop clients of stopped servers: another server may get their port."""
        urls = {server.endpoint.server for server in self.pool.running()}
        with self._lock:
            for url in [url for url in self._clients if url not in urls]:
                del self._clients[url]
        self.preview_crds.forget(urls)

    def used(self, server: ApiServer) -> bool:
        """Whether previews left CRDs in an API server."""
        return self.preview_crds.used(server.endpoint.server)

    def _target(self, name: str, server: ApiServer) -> Target:
        return Target(self.client(server), name)
