"""A living cluster with Karpenter's core, the node pools of a stack, and no nodes but one of the system's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.base.kubernetes import ManifestKind
from components.pools import nodeclass
from components.pools.karpenter import KIND, OVERLAY_KIND, node_overlay, node_pool, wants_overlay
from sandbox import toolchain
from sandbox.cluster.control_plane import PROGRAMS
from sandbox.cluster.pki import kubeconfig
from sandbox.cluster.process import Process, ProcessSpec, with_free_ports
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from sandbox.nodes import ec2
from sandbox.nodes.groups import Subnet
from sandbox.nodes.instances import CATALOGS, Instances
from spec.pools.pool_spec import PoolSpec
from tests.sandbox.plane import CLUSTER, ControlPlane, answers, start_plane
from tests.support.definitions import define
from tests.support.patience import SECONDS

REPAIRED = "repaired"  # the node group whose unhealthy nodes EKS replaces
SUBNETS = tuple(Subnet(f"subnet-{zone}", f"us-east-1{zone}", f"use1-az{i}") for i, zone in enumerate("abc", 1))


@dataclass(frozen=True)
class Elastic:
    """What a test needs of it."""

    client: KubeClient
    home: Path

    def pool(self, spec: PoolSpec, **changes: Any) -> None:
        """Apply the manifests of a pool; `changes` are merged into the NodePool's spec."""
        arguments = nodeclass.NodeClassArgs(
            spec=spec, cluster=CLUSTER, instance_profile="nodes", placement_group=None, tags={}
        )
        self._apply(nodeclass.KIND, spec.name, nodeclass.node_class(arguments))
        if wants_overlay(spec):
            self._apply(OVERLAY_KIND, spec.name, node_overlay(spec))
        self._apply(KIND, spec.name, merged(node_pool(spec), changes))

    def nodes(self, pool: str) -> list[Object]:
        """The nodes of a pool, oldest first."""
        kind = self.client.discovery.find("v1", "Node")
        return list(self.client.list(kind, selector=f"karpenter.sh/nodepool={pool}"))

    def _apply(self, kind: ManifestKind, name: str, spec: Mapping[str, Any]) -> None:
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
        self.client.apply(manifest, "test", force=True)


@contextmanager
def elastic_plane(directory: Path, shared: Path, gates: str) -> Iterator[Elastic]:
    """Start it with feature gates of Karpenter."""
    if toolchain.find("karpenter") is None:
        pytest.skip("no karpenter here: run `python -m sandbox.toolchain ensure karpenter`, or `make test`")
    plane = start_plane(directory, PROGRAMS)
    try:
        plane.pool.create(CLUSTER)
        files = sorted((shared / "charts/karpenter-crd/crds").glob("*.yaml"))
        define(plane.client, [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files])
        with_free_ports(2, lambda ports: karpenter(plane, directory, gates, ports))
        subnets = list(SUBNETS)
        instances = Instances(plane.client, "1.36", directory, lambda _: subnets, repairs=lambda name: name == REPAIRED)
        instances.start()
        account = Ref("v1", "ServiceAccount", "default", "default")
        until(lambda: plane.client.get(account), SECONDS, "no service account")
        yield Elastic(plane.client, directory)
        instances.stop()
        plane.life.end_all()
    finally:
        plane.supervisor.stop_all()


def karpenter(plane: ControlPlane, directory: Path, gates: str, ports: tuple[int, ...]) -> Process:
    """Karpenter with the admin's rights."""
    endpoint = plane.pool.get(CLUSTER)
    assert endpoint is not None
    (directory / "kubeconfig").write_text(yaml.safe_dump(kubeconfig({CLUSTER: endpoint}, plane.pki.admin_token)))
    environment = {"KUBECONFIG": str(directory / "kubeconfig"), "METRICS_PORT": str(ports[0]),
        "HEALTH_PROBE_PORT": str(ports[1]), "DISABLE_LEADER_ELECTION": "true", "FEATURE_GATES": gates,
        "LOG_LEVEL": "debug", "SLIPWAY_EC2_CATALOGS": str(directory / CATALOGS),
        "SLIPWAY_EC2_CONTROL": str(directory / ec2.FILE)}  # fmt: skip
    binary = toolchain.find("karpenter")
    assert binary is not None
    health = f"http://127.0.0.1:{ports[1]}/readyz"

    log = directory / "logs" / "karpenter.log"
    return plane.supervisor.start(
        ProcessSpec("karpenter", [str(binary)], log, ready=lambda: answers(health), environment=environment)
    )


def merged(below: Any, above: Any) -> Any:
    """A structure with the values of another."""
    if not isinstance(below, dict) or not isinstance(above, Mapping):
        return above
    nested = {
        key: merged(below.get(key), value) if isinstance(value, Mapping) else value for key, value in above.items()
    }
    return {**below, **nested}
