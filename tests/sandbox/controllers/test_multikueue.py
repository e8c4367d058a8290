"""MultiKueue over two clusters, each with Kueue of its chart and the configuration and queues of its stack.

The manager reaches its worker through a port that a test closes, as a network does.
"""

import base64
import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import yaml

from components.addons.kueue import configuration
from components.addons.multikueue import ACCOUNT, access, team_binding
from components.queues import LOCAL_QUEUE, cluster_queue, local_queue, shared_manifests
from sandbox.cluster.pki import kubeconfig
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes.spec import NodeWriter
from spec.jobs import KUEUE_API
from spec.pools import resolve_all
from spec.settings.addons.batch import Kueue
from spec.settings.platform import Platform
from spec.teams.labels import of_team
from tests.components.pools.samples import platform
from tests.sandbox.controllers import installed
from tests.sandbox.controllers.installed import applied, cluster, holds, placed_in, release, wait, without_jobs
from tests.sandbox.living import pool_node
from tests.sandbox.plane import CLUSTER
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
LOOPBACK: Final = "127.0.0.1"
SPACE: Final = "kueue-system"
WORKER: Final = "west"
TEAM: Final = "team"
SECRET: Final = "kubeconfig-west"


def stack(role: str, **queues: Any) -> Platform:
    """The same team and pools in both stack files."""
    share = {"nominalQuota": 4}
    team = {"project": "sharing", "costCenter": "ml", "cpus": {"cpu": share}}
    addons = {"kueue": {"multiKueue": role}}
    return platform({"cpu": {"preset": "cpu"}}, addons=addons, queues=queues, teams={TEAM: team})


MANAGER: Final = stack("manager", workers={WORKER: {"secret": SECRET}})
REMOTE: Final = stack("worker")
POOLS: Final = resolve_all(REMOTE)


class Network(socketserver.ThreadingTCPServer):
    """A port that leads to another one, until it is cut: then it closes each connection at once."""

    def __init__(self, port: int) -> None:
        super().__init__((LOOPBACK, 0), _Connection)
        self.to = port
        self.cut = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self) -> None:
        """Close all connections."""
        self.cut.set()
        self.shutdown()
        self.server_close()


class _Connection(socketserver.BaseRequestHandler):
    server: Network
    request: socket.socket

    def handle(self) -> None:
        if self.server.cut.is_set():
            return
        with socket.create_connection((LOOPBACK, self.server.to)) as far, suppress(OSError):
            other = {self.request: far, far: self.request}
            while not self.server.cut.is_set():
                for source in select.select(list(other), [], [], 0.1)[0]:
                    if not (data := source.recv(65536)):
                        return
                    other[source].sendall(data)


@dataclass(frozen=True)
class Clusters:
    """Both clusters, and what is between them."""

    manager: KubeClient
    worker: KubeClient
    network: Network


def credentials(worker: KubeClient) -> str:
    """A token of the account that the worker's stack creates, as docs/guides/queues.md says."""
    secret = {**Ref("v1", "Secret", ACCOUNT, SPACE).as_object(), "type": "kubernetes.io/service-account-token"}
    secret["metadata"]["annotations"] = {"kubernetes.io/service-account.name": ACCOUNT}
    applied(worker, *access(("batch/job",)).values(), team_binding(TEAM), secret)
    token = wait(worker, Ref.of(secret), lambda each: (each.get("data") or {}).get("token"), "no token")
    return base64.b64decode(token).decode()


def install(client: KubeClient, charts: Path, settings: Platform) -> None:
    """Kueue and the queues of a stack."""
    (addon,) = (each for _, each in settings.addons.wanted() if isinstance(each, Kueue))
    config = configuration(addon, cluster="manager", integrations=("batch/job",))
    if "multiKueue" in config:
        # What takes minutes in a stack: nothing else differs.
        config["multiKueue"] |= {"gcInterval": "2s", "workerLostTimeout": "5s"}
    values = {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(config)}}
    release(client, charts, "kueue", SPACE, **values)
    applied(client, *shared_manifests(POOLS, settings.queues).values())
    team = settings.teams[TEAM]
    space = Ref("v1", "Namespace", TEAM).as_object()
    space["metadata"]["labels"] = dict(of_team(TEAM, team))
    applied(client, space, cluster_queue(TEAM, team, POOLS, settings.queues), local_queue(TEAM, TEAM))


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Clusters]:
    with cluster(tmp_path_factory.mktemp("multikueue"), "kueue") as plane:
        endpoint = plane.pool.create(WORKER)
        worker = plane.targets.of_cluster(WORKER)
        assert worker is not None
        writer = NodeWriter(plane.targets.of_cluster)
        for name in (CLUSTER, WORKER):
            writer.write(name, pool_node("pool-0", POOLS["cpu"]))
        install(worker, shared / "charts-full", REMOTE)
        network = Network(urlsplit(endpoint.server).port or 0)
        try:
            here = replace(endpoint, server=f"https://{LOOPBACK}:{network.server_address[1]}")
            document = yaml.safe_dump(kubeconfig({WORKER: here}, credentials(worker)))
            secret = Ref("v1", "Secret", SECRET, SPACE).as_object()
            applied(plane.client, Ref("v1", "Namespace", SPACE).as_object())
            applied(plane.client, {**secret, "stringData": {"kubeconfig": document}})
            install(plane.client, shared / "charts-full", MANAGER)
            yield Clusters(plane.client, worker, network)
        finally:
            network.end()


@pytest.fixture
def pair(clusters: Clusters) -> Iterator[Clusters]:
    """A test leaves the worker in reach, and no job."""
    wait(clusters.manager, Ref(KUEUE_API, "MultiKueueCluster", WORKER), holds("Active"), "is not in reach")
    yield clusters
    clusters.network.cut.clear()
    for client in (clusters.manager, clusters.worker):
        without_jobs(client, TEAM)


def job(name: str, duration: str) -> Object:
    requests = {"cpu": "1", "memory": "1Gi"}
    return installed.job(name, TEAM, requests, duration, queue=LOCAL_QUEUE, **placed_in(POOLS["cpu"]))


def workload(client: KubeClient, name: str) -> Object:
    found = client.list(client.discovery.find(KUEUE_API, "Workload"), TEAM)
    return next((each for each in found if each["metadata"]["name"].startswith(f"job-{name}-")), {})


def remote(pair: Clusters, name: str) -> Object:
    """The copy of a job on the worker, once it runs there."""
    ref = Ref("batch/v1", "Job", name, TEAM)
    return wait(pair.worker, ref, lambda each: each if (each.get("status") or {}).get("ready") else None, "no pod")


def test_a_job_runs_on_the_worker_and_ends_on_the_manager(pair: Clusters) -> None:
    applied(pair.manager, job("ends", "2s"))
    ref = Ref("batch/v1", "Job", "ends", TEAM)
    wait(pair.manager, ref, holds("Complete"), "not complete")
    assert not list(pair.manager.list(pair.manager.discovery.find("v1", "Pod"), TEAM))
    until(lambda: pair.worker.get(ref) is None, SECONDS, "its copy is left on the worker")


def test_a_job_starts_anew_when_its_worker_is_back(pair: Clusters) -> None:
    applied(pair.manager, job("held", "100000s"))
    copy = remote(pair, "held")
    assert copy["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"] == "manager"
    admitted = workload(pair.manager, "held")
    (check,) = admitted["status"]["admissionChecks"]
    assert check["state"] == "Ready"
    assert f'"{WORKER}"' in check["message"]

    pair.network.cut.set()
    reach = Ref(KUEUE_API, "MultiKueueCluster", WORKER)
    lost = wait(pair.manager, reach, lambda each: _false(each, "Active"), "is still in reach")
    assert lost["reason"] == "ClientConnectionFailed"
    until_admitted(pair.manager, "held", "False")
    pair.network.cut.clear()
    wait(pair.manager, reach, holds("Active"), "is not back")
    until_admitted(pair.manager, "held", "True")
    assert remote(pair, "held")


def until_admitted(client: KubeClient, name: str, status: str) -> None:
    def admitted() -> object:
        return condition(workload(client, name), "Admitted").get("status")

    until(lambda: admitted() == status, SECONDS, lambda: f"{admitted()}: {workload(client, name).get('status')}")


@pytest.mark.parametrize(
    ("namespace", "verb", "allowed"), [(TEAM, "create", True), (SPACE, "create", False), (SPACE, "list", True)]
)
def test_a_manager_writes_in_namespaces_of_teams_only(
    clusters: Clusters, namespace: str, verb: str, allowed: bool
) -> None:
    """Who creates pods in a namespace of the platform has its accounts."""
    asked = {"namespace": namespace, "verb": verb, "group": "batch", "resource": "jobs"}
    review = Ref("authorization.k8s.io/v1", "SubjectAccessReview", "").as_object()
    review["spec"] = {"user": f"system:serviceaccount:{SPACE}:{ACCOUNT}", "resourceAttributes": asked}
    assert clusters.worker.create(review, "test")["status"]["allowed"] is allowed


def _false(obj: Object, kind: str) -> dict[str, Any] | None:
    found = condition(obj, kind)
    return dict(found) if found.get("status") == "False" else None
