"""What runs beside the API server of a cluster: controller manager, scheduler, and KWOK in the place of kubelets."""

import os
import shutil
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from sandbox.cluster.apiserver import ApiServer
from sandbox.cluster.pki import Pki, kubeconfig
from sandbox.cluster.process import Process, ProcessSpec, Supervisor, with_free_ports
from sandbox.files import write_atomically
from spec.catalog.kubernetes import scheduler_configuration

SCHEDULER: Final = "kube-scheduler"
PROGRAMS: Final = ("kube-controller-manager", SCHEDULER, "kwok")
"""What is started for each cluster, in this order."""
STAGES: Final = Path(__file__).with_name("stages.yaml")
START_SECONDS: Final = 60.0
NODE_GRACE: Final = "87600h"
"""Nobody renews the leases of simulated nodes, so a node is not lost because it is silent (kube-controller-manager,
`--node-monitor-grace-period`, 40 s by default)."""
POD_CIDR: Final = "100.64.0.0/10"
"""Addresses of simulated pods (RFC 6598, as EKS users take for pods)."""
QPS: Final = 500
"""Requests a second of a controller, and twice as many in a burst: the default of 20 makes a namespace with forty
objects wait (2026-11)."""


@dataclass(frozen=True)
class ControllersConfig:
    """What the controllers of all clusters have in common."""

    binaries: dict[str, Path]  # path of each program to start, of those in `PROGRAMS`
    pki: Pki  # certificates and the key of service accounts
    directory: Path  # where each cluster's kubeconfig is written, in a folder of its own
    logs: Path  # folder of all logs


class Controllers:
    """The processes beside one API server."""

    def __init__(self, config: ControllersConfig, server: ApiServer, supervisor: Supervisor) -> None:
        self._config = config
        self._server = server
        self._supervisor = supervisor
        self._directory = config.directory / server.slot
        self._processes: dict[str, Process] = {}
        self._scheduling: Mapping[str, Any] = {}
        context = ssl.create_default_context(cafile=str(config.pki.authority.certificate))
        self._http = urllib3.PoolManager(ssl_context=context, retries=False, timeout=2.0)

    def start(self) -> None:
        """Start them and wait until each is healthy. Raises ProcessError, and then leaves nothing running."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        document = kubeconfig({"sandbox": self._server.endpoint}, self._config.pki.admin_token)
        write_atomically(self._kubeconfig, yaml.safe_dump(document, sort_keys=False))
        starts = dict(zip(PROGRAMS, (self._controller_manager, self._scheduler, self._kwok), strict=True))
        try:
            for name in (name for name in PROGRAMS if name in self._config.binaries):
                self._processes[name] = with_free_ports(1, starts[name])
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End them and remove the cluster's folder."""
        for process in reversed(self._processes.values()):
            self._supervisor.stop(process)
        self._processes.clear()
        shutil.rmtree(self._directory, ignore_errors=True)

    def schedule(self, config: Mapping[str, Any]) -> None:
        """Restart the scheduler with EKS's `kubeSchedulerConfig`, if it has another. Raises ProcessError."""
        if config == self._scheduling or SCHEDULER not in self._processes:
            return
        self._supervisor.stop(self._processes.pop(SCHEDULER))
        self._scheduling = config
        self._processes[SCHEDULER] = with_free_ports(1, self._scheduler)

    @property
    def dead(self) -> tuple[str, ...]:
        """Names of those that ended by themselves."""
        return tuple(process.spec.name for process in self._processes.values() if process.exit_code is not None)

    @property
    def _kubeconfig(self) -> Path:
        return self._directory / "kubeconfig"

    def _controller_manager(self, ports: tuple[int, ...]) -> Process:
        pki = self._config.pki
        arguments = [
            *self._of_kubernetes(ports[0]),
            # Each controller acts as its own service account, as on EKS, so that RBAC and admission meet who they
            # would meet there.
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={pki.service_account_key}",
            f"--root-ca-file={pki.authority.certificate}",
            f"--kube-api-qps={QPS}",
            f"--kube-api-burst={2 * QPS}",
            f"--node-monitor-grace-period={NODE_GRACE}",
            # Five minutes by default: so long nobody could create an object of a new CRD that a quota counts.
            "--resource-quota-sync-period=10s",
        ]
        return self._run("kube-controller-manager", arguments, f"https://127.0.0.1:{ports[0]}/healthz")

    def _scheduler(self, ports: tuple[int, ...]) -> Process:
        # With a file, flags of the connection and of the election of a leader have no effect.
        connection = {"kubeconfig": str(self._kubeconfig), "qps": QPS, "burst": 2 * QPS}
        document = {
            **scheduler_configuration(self._scheduling),
            "clientConnection": connection,
            "leaderElection": {"leaderElect": False},
        }
        file = self._directory / "scheduler.yaml"
        write_atomically(file, yaml.safe_dump(document, sort_keys=False))
        arguments = [*self._of_kubernetes(ports[0]), f"--config={file}"]
        return self._run(SCHEDULER, arguments, f"https://127.0.0.1:{ports[0]}/healthz")

    def _kwok(self, ports: tuple[int, ...]) -> Process:
        arguments = [
            f"--kubeconfig={self._kubeconfig}",
            f"--config={STAGES}",
            "--manage-all-nodes=true",
            "--node-ip=127.0.0.1",
            f"--cidr={POD_CIDR}",
            f"--server-address=127.0.0.1:{ports[0]}",
        ]
        return self._run("kwok", arguments, f"http://127.0.0.1:{ports[0]}/healthz")

    def _of_kubernetes(self, port: int) -> list[str]:
        return [
            f"--kubeconfig={self._kubeconfig}",
            f"--authentication-kubeconfig={self._kubeconfig}",
            f"--authorization-kubeconfig={self._kubeconfig}",
            # Otherwise a controller asks for APIs that the API server does not serve.
            f"--emulated-version={self._server.version}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={self._config.pki.serving.certificate}",
            f"--tls-private-key-file={self._config.pki.serving.key}",
            "--profiling=false",
        ]

    def _run(self, name: str, arguments: list[str], health: str) -> Process:
        return self._supervisor.start(
            ProcessSpec(
                f"{name} {self._server.slot}",
                [str(self._config.binaries[name]), *arguments],
                self._config.logs / f"{name}-{self._server.slot}.log",
                ready=lambda: _healthy(self._http, health),
                deadline_seconds=START_SECONDS,
                environment={"GOGC": os.environ.get("GOGC", "100")},
            )
        )


def _healthy(http: urllib3.PoolManager, url: str) -> bool:
    try:
        return http.request("GET", url).status == HTTPStatus.OK
    except urllib3.exceptions.HTTPError:
        return False
