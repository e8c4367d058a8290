"""The store behind every API server of the sandbox."""

import base64
import re
import ssl
import subprocess
import threading
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import urllib3

from sandbox.cluster.pki import Pki
from sandbox.cluster.process import Process, ProcessSpec, Supervisor, with_free_ports
from sandbox.errors import SandboxError

QUOTA_BYTES = 4 << 30
"""Enough for many clusters and their history; etcd's own default is 2 GiB."""
NO_FSYNC_SINCE = (3, 5)
"""The first release that documents --unsafe-no-fsync. The data is discarded at the next start anyway."""
REQUEST_TIMEOUT = urllib3.Timeout(10)


@dataclass(frozen=True)
class Etcd:
    """A running etcd."""

    url: str
    process: Process
    _http: urllib3.PoolManager

    def wipe(self, prefix: str) -> int:
        """Delete every key below `/prefix/`, through etcd's JSON gateway; returns their number."""
        # The character after "/" is "0": the end of the range is exclusive.
        body = {"key": _base64(f"/{prefix}/"), "range_end": _base64(f"/{prefix}0")}
        answer = self._http.request("POST", f"{self.url}/v3/kv/deleterange", json=body)
        if answer.status != HTTPStatus.OK:
            msg = f"etcd refused to delete the keys below /{prefix}/: {answer.status} {answer.data!r}"
            raise SandboxError(msg)
        # The gateway omits zero values, and writes 64-bit numbers as strings.
        return int(answer.json().get("deleted", 0))

    def fill(self, seconds: float) -> None:
        """Let it refuse to write, as with a full disk or at its quota, for a while (etcd.io, "Maintenance", "Space
        quota")."""

        def alarm(action: str) -> None:
            body = {"action": action, "memberID": "1", "alarm": "NOSPACE"}
            self._http.request("POST", f"{self.url}/v3/maintenance/alarm", json=body)

        alarm("ACTIVATE")
        timer = threading.Timer(seconds, alarm, ["DEACTIVATE"])
        timer.daemon = True
        timer.start()


def start_etcd(binary: Path, directory: Path, log: Path, supervisor: Supervisor, pki: Pki) -> Etcd:
    """Start etcd on free loopback ports, with its data in the directory. Clients need the certificate of the store:
    every user of the machine reaches the ports, and the data has the Secrets of all clusters."""
    flags = ("--unsafe-no-fsync",) if _version(binary) >= NO_FSYNC_SINCE else ()
    context = ssl.create_default_context(cafile=str(pki.store_authority.certificate))
    context.load_cert_chain(pki.store.certificate, pki.store.key)
    http = urllib3.PoolManager(timeout=REQUEST_TIMEOUT, retries=False, ssl_context=context)

    def start(ports: tuple[int, ...]) -> Etcd:
        client, peer = (f"https://127.0.0.1:{port}" for port in ports)
        argv = [*_argv(binary, directory, client, peer), *_certificates(pki), *flags]
        spec = ProcessSpec("etcd", argv, log, ready=lambda: _healthy(http, client), deadline_seconds=60)
        return Etcd(client, supervisor.start(spec), http)

    return with_free_ports(2, start)


def _argv(binary: Path, directory: Path, client: str, peer: str) -> list[str]:
    return [
        str(binary),
        f"--data-dir={directory}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        f"--quota-backend-bytes={QUOTA_BYTES}",
        "--log-level=warn",
    ]


def _certificates(pki: Pki) -> list[str]:
    authority, certificate, key = pki.store_authority.certificate, pki.store.certificate, pki.store.key
    return [
        flag
        for prefix in ("", "peer-")
        for flag in (
            f"--{prefix}cert-file={certificate}",
            f"--{prefix}key-file={key}",
            f"--{prefix}trusted-ca-file={authority}",
            f"--{prefix}client-cert-auth=true",
        )
    ]


def _healthy(http: urllib3.PoolManager, url: str) -> bool:
    try:
        return http.request("GET", f"{url}/health", timeout=1.0).status == HTTPStatus.OK
    except urllib3.exceptions.HTTPError:
        return False


def _version(binary: Path) -> tuple[int, ...]:
    output = subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
    match = re.search(r"etcd Version: (\d+)\.(\d+)", output)
    if match is None:
        msg = f"{binary} is not etcd: `--version` printed {output!r}; remove it from PATH or install etcd"
        raise SandboxError(msg)
    return tuple(int(part) for part in match.groups())


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
