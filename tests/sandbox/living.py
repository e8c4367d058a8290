"""A cluster that lives, for tests: with real controllers and KWOK, one node for everything and one with a taint."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sandbox.cluster.control_plane import PROGRAMS
from sandbox.kubernetes.controllers.running import Builds
from sandbox.nodes.spec import NodeSpec, NodeWriter, Taint
from spec.pools.pool_spec import PoolSpec
from tests.sandbox.plane import CLUSTER, ControlPlane, start_plane

SIZE = {"ephemeral-storage": "100Gi", "cpu": "8", "memory": "32Gi", "pods": "110"}
GPUS = {**SIZE, "nvidia.com/gpu": "8"}


@contextmanager
def living_plane(directory: Path, builds: Builds | None = None, version: str = "") -> Iterator[ControlPlane]:
    """A control plane of its own: pods of other tests would be scheduled on its nodes."""
    plane = start_plane(directory, PROGRAMS, builds)
    try:
        plane.pool.create(CLUSTER, version)
        writer = NodeWriter(plane.targets.of_cluster)
        writer.write(CLUSTER, node("cpu-0", "m7i.2xlarge", SIZE))
        writer.write(CLUSTER, node("gpu-0", "p4d.24xlarge", GPUS, Taint("pool", "NoSchedule", "a100")))
        yield plane
        assert plane.life.dead == ()
        plane.life.end_all()
    finally:
        plane.supervisor.stop_all()


def pool_node(name: str, pool: PoolSpec, **labels: str) -> NodeSpec:
    """A node of a pool: 8 GPUs where it has GPUs, in a place of the network that `labels` may say.

    Its type is none of AWS, whose place would follow from its zone.
    """
    resources = GPUS if pool.gpu is not None else SIZE
    taints = (Taint(each.key, each.manifest["effect"], each.value or "") for each in pool.taints)
    made = node(name, "test.48xlarge", resources, *taints)
    return replace(made, labels={**pool.node_selector, **labels}, zone="us-east-1b")


def node(name: str, instance_type: str, resources: dict[str, str], *taints: Taint) -> NodeSpec:
    """A node of a type of AWS."""
    return NodeSpec(
        name=name,
        owner="test",
        instance_type=instance_type,
        arch="amd64",
        kubernetes="1.35",
        capacity=resources,
        allocatable=resources,
        taints=taints,
        zone="us-east-1a",
    )
