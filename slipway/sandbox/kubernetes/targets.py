"""Which API server a provider instance talks to: its cluster's, or the spare while the cluster does not exist."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from slipway.sandbox.cluster.apiserver import ApiServer
from slipway.sandbox.cluster.clusters import ClusterPool
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.definitions import Definitions
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc.errors import ProviderError


class Credentials(Protocol):
    """The admin's. The exec plugin in a kubeconfig for EKS asks AWS for a token that no API server here would know."""

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
    """Clients of the API servers, one for each; and the CRDs that previews may install in the spare."""

    def __init__(self, pool: ClusterPool, credentials: Credentials) -> None:
        self.pool = pool
        self.definitions = Definitions()
        self._credentials = credentials
        self._clients: dict[str, KubeClient] = {}
        self._lock = threading.Lock()

    def live(self, settings: Settings) -> Target:
        """The cluster, for what changes or reads objects. Raises ProviderError when it does not stand."""
        found = self.existing(settings)
        if found is None:
            existing = ", ".join(self.pool.existing()) or "none"
            where = f"the kubeconfig leads to {settings.server}" if settings.server else "no kubeconfig names a cluster"
            msg = (
                f"{where}, and no cluster of this sandbox is there (standing: {existing}): take the kubeconfig from "
                "the outputs of this sandbox's aws.eks.Cluster, or run `slipway refresh` if the cluster was deleted"
            )
            raise ProviderError(msg)
        return found

    def existing(self, settings: Settings) -> Target | None:
        """The cluster, None when it does not stand or is not known yet."""
        if settings.ambient:
            newest = list(self.pool.existing().items())[-1:]
            return self._target(*newest[0]) if newest else None
        found = self.pool.at(settings.server) if settings.server else None
        return None if found is None else self._target(*found)

    def spare(self) -> Target:
        """The API server that has no cluster: for dry runs only."""
        return self._target("", self.pool.spare())

    def of_cluster(self, name: str) -> KubeClient | None:
        """A client of a cluster by its name, None when it does not stand."""
        server = self.pool.existing().get(name)
        return None if server is None else self.client(server)

    def client(self, server: ApiServer) -> KubeClient:
        """The client of an API server; its connections and what it discovered are kept as long as it stands."""
        url = server.endpoint.server
        with self._lock:
            if url not in self._clients:
                self._clients[url] = KubeClient(url, self._credentials.authority_text, self._credentials.admin_token)
            return self._clients[url]

    def forget_stopped(self) -> None:
        """Drop clients of servers that are gone: another server may get their port."""
        urls = {server.endpoint.server for server in self.pool.running()}
        with self._lock:
            for url in [url for url in self._clients if url not in urls]:
                del self._clients[url]
        self.definitions.forget(urls)

    def used(self, server: ApiServer) -> bool:
        """Whether previews left CRDs in an API server."""
        return self.definitions.used(server.endpoint.server)

    def _target(self, name: str, server: ApiServer) -> Target:
        return Target(self.client(server), name)
