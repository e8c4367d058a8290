"""Selecting the API server for a provider instance: its cluster's, or the spare while the cluster does not exist."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final, Protocol

from slipway.sandbox.cluster.apiserver import ApiServer
from slipway.sandbox.cluster.clusters import ClusterPool
from slipway.sandbox.cluster.process import Process
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.preview_crds import PreviewCrds
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc.errors import ProviderError

MANAGER: Final = "slipway-sandbox"
SYSTEM_NAMESPACES: Final = ("default", "kube-system")
"""Namespaces of a spare in which pods are validated. It has no controller manager to make their service account
"default", without which its admission refuses every pod."""


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
        self._clients: dict[str, tuple[Process, KubeClient]] = {}
        self._with_accounts: set[str] = set()
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

    def spare(self, settings: Settings) -> Target:
        """The API server without a cluster, for dry runs only; it serves the version of the program's cluster."""
        target = self._target("", self.pool.spare(settings.program))
        with self._lock:
            new = target.client.server not in self._with_accounts
            self._with_accounts.add(target.client.server)
        if new:
            for namespace in SYSTEM_NAMESPACES:
                target.client.apply(Ref("v1", "ServiceAccount", "default", namespace).as_object(), MANAGER)
        return target

    def of_cluster(self, name: str) -> KubeClient | None:
        """The client of a cluster by name; None if it is not running."""
        server = self.pool.existing().get(name)
        return None if server is None else self.client(server)

    def client(self, server: ApiServer) -> KubeClient:
        """The client of an API server; connections and discovery are cached while the server runs."""
        url = server.endpoint.server
        with self._lock:
            known, client = self._clients.get(url, (None, None))
            # A restarted server has the same URL and may serve other kinds.
            if client is None or known is not server.process:
                client = KubeClient(url, self._credentials.authority_text, self._credentials.admin_token)
                self._clients[url] = (server.process, client)
            return client

    def forget_stopped(self) -> None:
        """Drop clients of stopped servers: another server may get their port."""
        urls = {server.endpoint.server for server in self.pool.running()}
        with self._lock:
            for url in [url for url in self._clients if url not in urls]:
                del self._clients[url]
            self._with_accounts &= urls
        self.preview_crds.forget(urls)

    def used(self, server: ApiServer) -> bool:
        """Whether previews left CRDs in an API server."""
        return self.preview_crds.used(server.endpoint.server)

    def _target(self, name: str, server: ApiServer) -> Target:
        return Target(self.client(server), name)
