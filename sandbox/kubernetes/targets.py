"""The arguments of one instance of the provider, and the API server that they select."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import yaml

from sandbox.cluster.apiserver import ApiServer
from sandbox.cluster.clusters import ClusterPool
from sandbox.cluster.patience import Work
from sandbox.cluster.process import Process
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.crds import PreviewCrds, is_served
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import nested
from spec import strict_yaml

# The arguments of one instance of the kubernetes provider.

UNKNOWN_KUBECONFIG = "(known after the cluster exists)"
"""Replaces a kubeconfig that is not known yet: with an unknown argument the engine would not check any resource."""

REFUSED = {"renderYamlToDirectory": "renders manifests to files and applies none; `slipway report --files` does that"}


@dataclass(frozen=True)
class Settings:
    """The arguments that the sandbox supports.

    `server` is empty if the kubeconfig is not known yet, or if there is none: then `ambient` is true, and the sandbox's
    own kubeconfig applies, whose current context is the newest cluster. `program` is the stack and project of the
    resource that a call is about.
    """

    server: str = ""
    namespace: str = ""
    cluster_identifier: str = ""
    patch_force: bool = False
    upsert: bool = False
    config_map_mutable: bool = False
    secret_mutable: bool = False
    ambient: bool = False
    program: str = ""


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Parse the arguments. Raises ProviderError for an invalid kubeconfig."""
    for key, why in REFUSED.items():
        if config.get(key):
            msg = f"the sandbox does not support {key}: it {why}"
            raise ProviderError(msg)
    text = str(config.get("kubeconfig") or "")
    context = _context(text, config) if text and text != UNKNOWN_KUBECONFIG else {}
    return Settings(
        server=context.get("server", ""),
        namespace=str(config.get("namespace") or context.get("namespace", "")),
        cluster_identifier=str(config.get("clusterIdentifier") or ""),
        patch_force=nested(config.get("enablePatchForce")) is True,
        upsert=nested(config.get("upsertExistingObjects")) is True,
        config_map_mutable=nested(config.get("enableConfigMapMutable")) is True,
        secret_mutable=nested(config.get("enableSecretMutable")) is True,
        ambient=not text,
    )


def _context(text: str, config: Mapping[str, Any]) -> dict[str, str]:
    document = _document(text)
    named = {
        section: {str(each.get("name")): each for each in document.get(section) or ()}
        for section in ("clusters", "contexts")
    }
    name = str(config.get("context") or document.get("current-context") or "")
    context = (named["contexts"].get(name) or {}).get("context")
    if context is None:
        msg = f"kubeconfig: there is no context {name!r}; it has: {', '.join(sorted(named['contexts'])) or 'none'}"
        raise ProviderError(msg)
    cluster = str(config.get("cluster") or context.get("cluster") or "")
    entry = (named["clusters"].get(cluster) or {}).get("cluster")
    if not entry or not entry.get("server"):
        clusters = ", ".join(sorted(named["clusters"])) or "none"
        msg = f"kubeconfig: there is no cluster {cluster!r} with a server; it has: {clusters}"
        raise ProviderError(msg)
    return {"server": str(entry["server"]).rstrip("/"), "namespace": str(context.get("namespace") or "")}


def _document(text: str) -> Mapping[str, Any]:
    """The kubeconfig's text, or the file of that path."""
    if "\n" not in text and "{" not in text:
        path = Path(text).expanduser()
        if not path.is_file():
            msg = f"kubeconfig: {text!r} is neither the contents of a kubeconfig nor the path of a file"
            raise ProviderError(msg)
        text = path.read_text(encoding="utf-8")
    try:
        document = strict_yaml.one(text)
    except yaml.YAMLError as error:
        msg = f"kubeconfig: not valid YAML or JSON: {error}"
        raise ProviderError(msg) from error
    if not isinstance(document, Mapping):
        msg = "kubeconfig: must be a map with clusters, contexts and users"
        raise ProviderError(msg)
    return document


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
                "outputs of this sandbox's aws.eks.Cluster, or run `slipway refresh` if the cluster was deleted. A "
                "program of Kubernetes alone needs a cluster first, such as that of `slipway up STACK --sandbox`"
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

    def serving(self, settings: Settings, ref: Ref) -> Target:
        """The API server that validates an object: its cluster, or the spare until that serves the kind.

        In a preview, the same run may bring the kind with a CRD or another version of Kubernetes; in an update it came
        before the object, or `create` reports that it is missing.
        """
        target = self.existing(settings)
        if target is not None:
            comes = self.preview_crds.offers(ref) or self.pool.awaits(settings.program, target.cluster)
            if not comes or is_served(target.client, ref):
                return target
        spare = self.spare(settings)
        self.preview_crds.install_for(spare.client, ref)
        return spare

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
                client.progress = lambda: (server.process.identity, Work(server.process.identity.pid)())
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
