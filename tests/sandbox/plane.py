"""A control plane for tests: etcd, API servers on demand, and the kubernetes provider in front of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from sandbox.assembly import Life
from sandbox.cluster import apiserver
from sandbox.cluster.apiserver import ApiServer, ApiServerConfig, EtcdBackedServers
from sandbox.cluster.clusters import ClusterPool
from sandbox.cluster.control_plane import PROGRAMS, ControllersConfig
from sandbox.cluster.egress import Egress
from sandbox.cluster.etcd import Etcd, start_etcd
from sandbox.cluster.pki import Pki, create_pki, kubeconfig
from sandbox.cluster.process import Supervisor
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.running import Builds, Place, Report
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.targets import Targets

CLUSTER = "test"


@dataclass(frozen=True)
class ControlPlane:
    """One etcd with its API servers; the cluster `test` runs from the start."""

    supervisor: Supervisor
    etcd: Etcd
    pki: Pki
    pool: ClusterPool
    targets: Targets
    life: Life

    @property
    def client(self) -> KubeClient:
        """The admin's client of the cluster `test`."""
        client = self.targets.of_cluster(CLUSTER)
        assert client is not None
        return client

    def kubeconfig(self) -> str:
        """The kubeconfig that a program builds from the outputs of its EKS cluster; its token is not valid here."""
        endpoint = self.pool.get(CLUSTER)
        assert endpoint is not None
        return json.dumps(kubeconfig({CLUSTER: endpoint}, "of-no-use"))

    def config(self, **settings: Any) -> dict[str, Any]:
        """The arguments of a kubernetes provider for the cluster."""
        return {"kubeconfig": self.kubeconfig(), **settings}


def answers(url: str) -> bool:
    """Whether a process beside the plane says that it is ready."""
    try:
        return urllib3.request("GET", url, retries=False).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def start_plane(directory: Path, programs: Sequence[str] = PROGRAMS[:1], builds: Builds | None = None) -> ControlPlane:
    """Start it; the caller must stop its supervisor. With `builds`, controllers of add-ons run beside its clusters.

    The controller manager takes 0.5 s of CPU in its first 25 s, then 0.7 % of a core (2026-11). With a scheduler and
    KWOK, pods of other tests would run on the nodes of one.
    """
    supervisor = Supervisor()
    pki = create_pki(directory / "pki")
    log = directory / "logs" / "etcd.log"
    etcd = start_etcd(apiserver.require("etcd"), directory / "etcd", log, supervisor, pki)
    binary = apiserver.require("kube-apiserver")
    version = apiserver.version("kube-apiserver", binary)

    def resolve(slot: str, host: str, port: int) -> int | str:
        return life.resolve(slot, host, port)

    egress = Egress(directory / "egress", resolve)
    config = ApiServerConfig(binary, version, etcd.url, pki, directory / "logs", egress=egress.configuration)
    controllers = ControllersConfig(
        {name: apiserver.require(name) for name in programs}, pki, directory / "clusters", directory / "logs"
    )

    def used(server: ApiServer) -> bool:
        return targets.used(server)

    def client(server: ApiServer) -> KubeClient:
        return targets.client(server)

    place = None
    if builds is not None:
        place = Place(supervisor, builds, Report(directory), directory / "controllers", directory / "logs")
    life = Life(controllers, supervisor, client, place=place)
    pool = ClusterPool(EtcdBackedServers(config, etcd, supervisor, used), beside=life)
    targets = Targets(pool, pki)
    return ControlPlane(supervisor, etcd, pki, pool, targets, life)


def existing(client: KubeClient, ref: Ref) -> Object:
    """An object that is there."""
    found = client.get(ref)
    assert found is not None, f"{ref} is not there"
    return found


def crd(group: str, kind: str, spec: dict[str, Any], *, namespaced: bool = True) -> Object:
    """A CRD whose objects have only these properties below `spec`."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
