"""kube-apiserver, the control plane of one EKS cluster: its binary, version, process and data."""

import os
import signal
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import urllib3

from sandbox import toolchain
from sandbox.cluster.etcd import Etcd
from sandbox.cluster.patience import REQUEST_SECONDS
from sandbox.cluster.pki import Pki
from sandbox.cluster.process import PortTakenError, Process, ProcessSpec, Supervisor, with_free_ports
from sandbox.errors import SandboxError
from sandbox.ports import ClusterEndpoint
from sandbox.toolchain import locate
from spec.catalog import kubernetes

SERVICE_CIDR = "172.20.0.0/16"
"""EKS's default if the VPC does not overlap with it (CreateCluster, kubernetesNetworkConfig.serviceIpv4Cidr)."""
START_SECONDS = 60.0
"""The server is ready in 2.5 s alone and 4 s beside others (2 cores, 2026-11); a busy machine may take much longer."""

MEMORY_LIMIT = "900MiB"
"""GOMEMLIMIT: above it, Go collects garbage more often, and spends up to half of its time on that. The objects in use
must fit well below it: without charts they are 100 MiB, with the CRDs of all of dev's charts, KubeRay's and KServe's
among them, 470 to 580 (gctrace and pprof, 2026-11-22). With 600 MiB an update of Kueue's largest CRD took up to 34 s on
a busy machine, and with 1500 2 s. The user's GOGC and GOMEMLIMIT take precedence."""

AUDIT_POLICY: Final = Path(__file__).with_name("audit.yaml")
AUDIT_MEGABYTES = 20
"""Of each of two files, the newest and the one before."""

ENABLED_ADMISSION = ("ExtendedResourceToleration",)
"""On in EKS (aws/containers-roadmap#739): adds a toleration to pods that request an extended resource, by its key."""


@dataclass(frozen=True)
class ApiServerConfig:
    """Settings that all API servers of a sandbox share."""

    binary: Path  # path of kube-apiserver
    version: str  # version of the binary, `1.36.3`
    etcd_url: str  # where its store is
    pki: Pki  # its certificates and keys
    logs: Path  # folder of all logs
    egress: Callable[[str], Path] | None = None
    """The file that says how the API server of a slot reaches its cluster (`egress.Egress`)."""
    tokens: Callable[[str], Path] | None = None
    """The file that says how the API server of a slot asks who has a token that it does not know."""


@dataclass(frozen=True)
class ApiServer:
    """A running API server.

    `slot` names its log and its keys in etcd: a spare has no cluster name yet. `version` is the minor version that it
    serves.
    """

    slot: str
    endpoint: ClusterEndpoint
    process: Process
    version: str


def start_api_server(
    config: ApiServerConfig, slot: str, version: str, supervisor: Supervisor, port: int | None = None
) -> ApiServer:
    """Start an API server that serves a version (`versions.Emulation.served`), with its store below `/slot/`.

    Without a port it listens on a free one of loopback.
    """
    context = ssl.create_default_context(cafile=str(config.pki.authority.certificate))
    headers = {"Authorization": f"Bearer {config.pki.admin_token}"}
    http = urllib3.PoolManager(ssl_context=context, headers=headers, retries=False, timeout=2.0)

    def ready(url: str) -> bool:
        try:
            return http.request("GET", f"{url}/readyz").status == HTTPStatus.OK
        except urllib3.exceptions.HTTPError:
            return False

    def start(ports: tuple[int, ...]) -> ApiServer:
        url = f"https://127.0.0.1:{ports[0]}"
        spec = ProcessSpec(
            f"kube-apiserver {slot}",
            _argv(config, slot, version, ports[0]),
            config.logs / f"kube-apiserver-{slot}.log",
            ready=lambda: ready(url),
            deadline_seconds=START_SECONDS,
            # Its store is deleted with it, so nothing is lost; a graceful end waits for open watches.
            stop_signal=signal.SIGKILL,
            environment=garbage_collection(os.environ),
        )
        endpoint = ClusterEndpoint(url, config.pki.certificate_authority)
        return ApiServer(slot, endpoint, supervisor.start(spec), version)

    return with_free_ports(1, start) if port is None else start((port,))


def garbage_collection(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of Go's garbage collector: the user's values, else ours."""
    return {"GOGC": environment.get("GOGC", "100"), "GOMEMLIMIT": environment.get("GOMEMLIMIT", MEMORY_LIMIT)}


def _argv(config: ApiServerConfig, slot: str, version: str, port: int) -> list[str]:
    pki = config.pki
    return [
        str(config.binary),
        f"--etcd-servers={config.etcd_url}",
        f"--etcd-cafile={pki.store_authority.certificate}",
        f"--etcd-certfile={pki.store.certificate}",
        f"--etcd-keyfile={pki.store.key}",
        f"--etcd-prefix=/{slot}",
        f"--emulated-version={version}",
        f"--secure-port={port}",
        f"--request-timeout={REQUEST_SECONDS:.0f}s",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        # A loopback address is not a valid endpoint for the service "kubernetes".
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        f"--tls-cert-file={pki.serving.certificate}",
        f"--tls-private-key-file={pki.serving.key}",
        f"--client-ca-file={pki.authority.certificate}",
        f"--token-auth-file={pki.tokens}",
        *([f"--authentication-token-webhook-config-file={config.tokens(slot)}"] if config.tokens is not None else []),
        "--authentication-token-webhook-version=v1",
        "--anonymous-auth=false",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki.service_account_key}",
        f"--service-account-signing-key-file={pki.service_account_key}",
        # Storage and network drivers run privileged.
        "--allow-privileged=true",
        f"--enable-admission-plugins={','.join(ENABLED_ADMISSION)}",
        *([f"--egress-selector-config-file={config.egress(slot)}"] if config.egress is not None else []),
        f"--audit-policy-file={AUDIT_POLICY}",
        f"--audit-log-path={config.logs / f'audit-{slot}.log'}",
        f"--audit-log-maxsize={AUDIT_MEGABYTES}",
        "--audit-log-maxbackup=1",
        "--profiling=false",
        # With few clients and a local etcd, the caches cost more than they save. The CRDs of all charts take 16 to 18 s
        # of CPU instead of 19 to 21, and no more memory (2 cores, 2026-11).
        "--watch-cache=false",
    ]


# Which Kubernetes version an API server serves: the cluster's, as far as its binary can emulate it.
#
# A server of Kubernetes emulates the three minor versions before its own: it serves their APIs and features
# (`kube-apiserver --help` of 1.36.3, `--emulated-version`: kube=1.33..1.36). An emulated version is not that version:
# its faults and its patches are those of the binary.

OLDER: Final = 3
"""Minor versions before its own that a binary emulates."""


@dataclass(frozen=True)
class Emulation:
    """The version that is wanted of an API server, and the one that it serves."""

    wanted: str  # minor version of the cluster, `1.35`
    served: str  # minor version that is served, the value of `--emulated-version`
    binary: str  # version of the binary, `1.36.3`

    @property
    def text(self) -> str:
        """What a user has to know, in one sentence."""
        if self.wanted != self.served:
            relation = "newer" if _minor(self.wanted) > _minor(self.served) else "older"
            return (
                f"Kubernetes {self.served} is served instead of {self.wanted}, which is {relation} than anything that "
                f"kube-apiserver {self.binary} serves: what differs between the two is not checked"
            )
        if _minor(self.served) == _minor(self.binary):
            return f"Kubernetes {self.served} is served by kube-apiserver {self.binary}"
        return f"Kubernetes {self.served} is emulated by kube-apiserver {self.binary}"


def emulation(wanted: str, binary: str) -> Emulation:
    """What a binary serves for a cluster of a version; the default version of EKS clusters if none is named."""
    named = wanted if kubernetes.minor(wanted) is not None else kubernetes.DEFAULT
    newest = _minor(binary)
    served = min(max(_minor(named), newest - OLDER), newest)
    return Emulation(named, f"1.{served}", binary)


def _minor(version: str) -> int:
    return int(version.split(".")[1])


# Finding the binaries of a control plane.


def require(name: str) -> Path:
    """The path of a tool; never builds it. Raises SandboxError, with the fix, if this machine has none."""
    try:
        path = toolchain.find(name)
    except toolchain.ToolError as error:
        raise SandboxError(str(error)) from error
    if path is None:
        msg = f"the sandbox needs {name}, which is not on this machine: run `make tools`, which installs or builds it"
        raise SandboxError(msg)
    return path


def version(name: str, path: Path) -> str:
    """The version that a binary of a tool reports, `1.36.3`. Raises SandboxError if it reports none."""
    found = locate.ask_once(path, ("--version",))
    if found is None:
        msg = f"{path} does not run, or does not report its version: remove it, or name another {name}"
        raise SandboxError(msg)
    return found


# Starts API servers on the sandbox's etcd, and deletes their data.

ATTEMPTS: Final = 6
PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class EtcdBackedServers:
    """Implements `clusters.Servers`. `used` says whether previews left objects in a spare."""

    config: ApiServerConfig
    etcd: Etcd
    supervisor: Supervisor
    used: Callable[[ApiServer], bool] = lambda _: False

    def served(self, version: str) -> str:
        """The minor version that an API server for a cluster of a version serves."""
        return emulation(version, self.config.version).served

    def start(self, slot: str, version: str) -> ApiServer:
        """A new API server with an empty store."""
        return start_api_server(self.config, slot, version, self.supervisor)

    def adopt(self, server: ApiServer, slot: str) -> ApiServer:
        """The spare if it is unused, else a new server: deleting CRDs takes longer and does not free their memory."""
        if not self.used(server):
            return server
        self.stop(server)
        return self.start(slot, server.version)

    def restart(self, server: ApiServer, version: str) -> ApiServer:
        """The server with another version, at the same address and with the same objects."""
        self.supervisor.stop(server.process)
        return self.resume(server.slot, version, urlsplit(server.endpoint.server).port or 0)

    def resume(self, slot: str, version: str, port: int) -> ApiServer:
        """A server at an address, with the objects that are in the store below its slot."""

        def start() -> ApiServer:
            return start_api_server(self.config, slot, version, self.supervisor, port)

        for _ in range(ATTEMPTS - 1):
            try:
                return start()
            except PortTakenError:
                # A connection that was opened meanwhile may come from this port.
                time.sleep(PAUSE_SECONDS)
        return start()

    def stop(self, server: ApiServer) -> None:
        """Stop the server, then delete its keys: a running server would write some of them again."""
        self.supervisor.stop(server.process)
        self.etcd.wipe(server.slot)
