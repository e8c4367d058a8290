"""What runs on GPU nodes: agents that tolerate their taints, and the partitioning of their GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.pools import children, facts
from policies.evaluation import user_data
from policies.evaluation.documents import parsed
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADDON, KARPENTER_POOL, LAUNCH_TEMPLATE, MANAGED_POOL, NODE_CLASS, RELEASE
from policies.rule import Check, Context, StackRule, Violation, violation

_MONITORING: Final = "eks-node-monitoring-agent"
_MOUNTPOINT: Final = "aws-mountpoint-s3-csi-driver"
_CHARTS: Final[Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    # Chart -> fact of the pools that its DaemonSets run on, and the path of their tolerations in its values.
    "gpu-operator": (
        ("gpuCount", ("daemonsets", "tolerations")),
        ("gpuCount", ("node-feature-discovery", "worker", "tolerations")),
    ),
    "aws-efa-k8s-device-plugin": (("efaCount", ("tolerations",)),),
}
"""Charts whose DaemonSets tolerate no taint by default and have to run on tainted pools (charts as pinned, 2026-11).
Those of CNI, kube-proxy, Pod Identity, CSI drivers and node exporter tolerate every taint."""


def _taints(stack: Stack, fact: str = "") -> list[Mapping[str, Any]]:
    """Taints that repel pods: of all pools, or of those whose fact is above zero."""
    pools = [pool for _, pool in facts(stack) if not fact or (pool[fact].number() or 0) > 0]
    found = [taint for pool in pools for taint in pool["taints"].items() if taint.known]
    known = [taint.raw for taint in found if not any(value.unknown for value in taint.fields().values())]
    return [taint for taint in known if taint.get("effect") != "PreferNoSchedule"]


def _covers(toleration: Node, taint: Mapping[str, Any]) -> bool:
    """Whether it may tolerate the taint (kubernetes.io, "Taints and Tolerations"); an unknown value may be any."""

    def equal(key: str) -> bool:
        return not toleration[key].is_not(taint.get(key, ""))

    exists = not toleration["operator"].is_not("Exists")
    return (
        (toleration["effect"].missing or equal("effect"))
        and (equal("key") or (toleration["key"].missing and exists))
        and (exists or equal("value"))
    )


def _repelled(tolerations: Node, taints: list[Mapping[str, Any]]) -> str | None:
    """A taint that none of the tolerations covers, as text."""
    if tolerations.unknown:
        return None
    for taint in taints:
        if not any(_covers(toleration, taint) for toleration in tolerations.items()):
            return f"{taint.get('key')}={taint.get('value', '')}:{taint.get('effect')}"
    return None


def _addons(stack: Stack, _: Context) -> Iterator[Violation]:
    for addon in stack.of(ADDON):
        values, name = parsed(addon["configurationValues"]), addon["addonName"].raw
        switch = values.at("node", "tolerateAllTaints")
        if name == _MOUNTPOINT and _taints(stack) and switch.is_not(True):
            yield violation(switch, at=addon)
        watches = values.at("nodeAgent", "monitors", "nvidia", "enabled")
        tolerations = values.at("dcgmAgent", "tolerations")
        taint = _repelled(tolerations, _taints(stack, "gpuCount"))
        if name == _MONITORING and not watches.is_false(default=True) and not watches.unknown and taint:
            got = f"without {taint}, while the agent waits for DCGM on those nodes and reports them unhealthy"
            yield violation(tolerations, got, addon)


def _releases(stack: Stack, _: Context) -> Iterator[Violation]:
    for release in stack.of(RELEASE):
        chart = str(release["chart"].raw).rpartition("/")[2]
        for fact, path in _CHARTS.get(chart, ()):
            tolerations = release["values"].at(*path)
            taint = _repelled(tolerations, _taints(stack, fact))
            if taint:
                yield violation(tolerations, f"without {taint}", release)


TOLERATED = StackRule(
    name="daemonset-tolerates-pools",
    title="DaemonSets that tainted pools need tolerate their taints",
    types=(ADDON, RELEASE, MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without them nodes have no GPUs or volumes, or are repaired although they are healthy "
    "(aws/containers-roadmap#2555).",
    fix="Add tolerations of the pool's taints to the values; add-ons of the stack file have them.",
    checks={
        "addon": Check(
            asks="must tolerate the taints of the pools",
            find=_addons,
        ),
        "release": Check(
            asks="must tolerate the taints of the pools",
            find=_releases,
        ),
    },
)


def _machines(stack: Stack, component: Resource) -> Iterator[tuple[Resource, Node]]:
    for template in children(stack, component, LAUNCH_TEMPLATE):
        yield template, template["userData"]
    for node_class in children(stack, component, NODE_CLASS):
        yield node_class, node_class["spec"]["userData"]


def _late(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in facts(stack):
        if not pool["mig"].fields():
            continue
        for machine, data in _machines(stack, component):
            if not data.unknown and "slipway-mig" not in user_data.decoded(data.text() or ""):
                yield violation(data, "without the script that partitions the GPUs", machine)


def _manager(stack: Stack, _: Context) -> Iterator[Violation]:
    if not any(pool["mig"].fields() for _, pool in facts(stack)):
        return
    for release in stack.of(RELEASE):
        switch = release["values"].at("migManager", "enabled")
        partitions = not switch.unknown and not switch.is_false(default=True)
        if str(release["chart"].raw).rpartition("/")[2] == "gpu-operator" and partitions:
            yield violation(switch, at=release)


MIG_AT_BOOT = StackRule(
    name="mig-before-kubelet",
    title="GPUs are partitioned before the kubelet starts",
    types=(MANAGED_POOL, KARPENTER_POOL, LAUNCH_TEMPLATE, NODE_CLASS, RELEASE),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="The MIG manager restarts the kubelet of a booting node, which can stay NotReady (NVIDIA/gpu-operator#2415).",
    fix="Set mig of the pool; the platform's user data partitions, and its GPU Operator has no MIG manager.",
    checks={
        "nodes": Check(
            asks="must partition the GPUs of a pool with MIG",
            find=_late,
        ),
        "manager": Check(
            asks="must be false",
            find=_manager,
        ),
    },
)

RULES = (TOLERATED, MIG_AT_BOOT)
