"""What a node says when one of its GPUs breaks, and when it is replaced."""

from typing import Any

import pytest

from sandbox.nodes import health
from sandbox.nodes.machine import Machine
from spec.pools.keys import DEVICE_PLUGIN_CONFIG, GPU, MIG_CONFIG


def node(kind: str, labels: dict[str, str], **status: Any) -> dict[str, Any]:
    machine = Machine(kind)
    labels = {**labels, "node.kubernetes.io/instance-type": kind}
    return {"metadata": {"labels": labels}, "status": {"allocatable": machine.allocatable(labels), **status}}


@pytest.mark.parametrize(
    ("kind", "labels", "left"),
    [
        ("p5.48xlarge", {}, {GPU: "7"}),
        ("p5.4xlarge", {}, {GPU: "0"}),
        ("p4d.24xlarge", {MIG_CONFIG: "all-1g.5gb"}, {GPU: "0", "nvidia.com/mig-1g.5gb": "49"}),
        ("g6.2xlarge", {DEVICE_PLUGIN_CONFIG: "time-slicing-4"}, {GPU: "0"}),
        ("m7i.xlarge", {}, {}),
        ("no.such", {}, {}),
    ],
)
def test_a_broken_gpu_takes_its_instances_and_shares_with_it(
    kind: str, labels: dict[str, str], left: dict[str, str]
) -> None:
    assert health.without_a_gpu(node(kind, labels)) == left


@pytest.mark.parametrize(
    ("status", "at"), [("False", 1767225600.0 + health.TOLERATED), ("True", None), ("Unknown", None)]
)
def test_a_node_is_repaired_after_the_toleration(status: str, at: float | None) -> None:
    changed = {"type": health.CONDITION, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    assert health.to_repair(node("p5.48xlarge", {}, conditions=[changed])) == at
    assert health.to_repair(node("p5.48xlarge", {}, conditions=[{**changed, "type": "Ready"}])) is None
