"""A kube-apiserver: the control plane of one EKS cluster."""

from __future__ import annotations

import os
import signal
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import urllib3

from slipway.sandbox.cluster.freeport import with_free_ports
from slipway.sandbox.cluster.pki import Pki
from slipway.sandbox.cluster.process import Process, ProcessSpec
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.ports import ClusterEndpoint

SERVICE_CIDR = "172.20.0.0/16"
"""EKS's default if the VPC does not overlap with it (CreateCluster, kubernetesNetworkConfig.serviceIpv4Cidr)."""
START_SECONDS = 60.0
"""The server is ready in 2.5 s alone and 4 s beside others (2 cores, 2026-11); a busy machine may take much longer."""

MEMORY_LIMIT = "900MiB"
"""GOMEMLIMIT: above it, Go collects garbage more often, and spends up to half of its time on that. The objects in use
must fit well below it: without charts they are 100 MiB, with the CRDs of all of dev's charts, KubeRay's and KServe's
among them, 470 to 580 (gctrace and pprof, 2026-11-22). With 600 MiB an update of Kueue's largest CRD took up to 34 s on
a busy machine, and with 1500 2 s. The user's GOGC and GOMEMLIMIT take precedence."""

ENABLED_ADMISSION = ("ExtendedResourceToleration",)
"""On in EKS (aws/containers-roadmap#739): adds a toleration to pods that request an extended resource, by its key."""

WEBHOOK_ADMISSION = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")


@dataclass(frozen=True)
class ApiServerConfig:
    """Settings that all API servers of a sandbox share.

    Attributes:
        binary: Path of kube-apiserver.
        version: Version of the binary, `1.36.3`.
        etcd_url: Where its store is.
        pki: Its certificates and keys.
        logs: Folder of all logs.
        webhooks: Whether webhooks are called. The sandbox's own provider leaves out those whose server does not run;
            the official one installs them, and every call would fail.
        egress: The file that says how the API server of a slot reaches its cluster (`egress.Egress`).
    """

    binary: Path
    version: str
    etcd_url: str
    pki: Pki
    logs: Path
    webhooks: bool = True
    egress: Callable[[str], Path] | None = None


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
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        # A loopback address is not a valid endpoint for the service "kubernetes".
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        f"--tls-cert-file={pki.serving.certificate}",
        f"--tls-private-key-file={pki.serving.key}",
        f"--client-ca-file={pki.authority.certificate}",
        f"--token-auth-file={pki.tokens}",
        "--anonymous-auth=false",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki.service_account_key}",
        f"--service-account-signing-key-file={pki.service_account_key}",
        # Storage and network drivers run privileged.
        "--allow-privileged=true",
        f"--enable-admission-plugins={','.join(ENABLED_ADMISSION)}",
        *([f"--egress-selector-config-file={config.egress(slot)}"] if config.egress is not None else []),
        *([] if config.webhooks else [f"--disable-admission-plugins={','.join(WEBHOOK_ADMISSION)}"]),
        "--profiling=false",
        # With few clients and a local etcd, the caches cost more than they save. The CRDs of all charts take 16 to 18 s
        # of CPU instead of 19 to 21, and no more memory (2 cores, 2026-11).
        "--watch-cache=false",
    ]
