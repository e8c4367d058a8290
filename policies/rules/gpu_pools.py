"""GPU pools and their nodes: taints, sizes, MIG layouts and the pods that every node needs."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.checks.pools import children, facts, gpus_of, label, machines, node_pools, taints
from policies.evaluation import texts
from policies.evaluation.iam import parsed
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog import gpus, mig
from spec.pools.keys import GPU, MIG_CONFIG

_EFFECTS: Final = ("NO_SCHEDULE", "NO_EXECUTE", "NoSchedule", "NoExecute")


def _untainted(pool: Resource, _: Context) -> Iterator[Violation]:
    entries = taints(pool)
    kept = any(not taint["key"].is_not(GPU) and not taint["effect"].is_not(*_EFFECTS) for taint in entries.items())
    if gpus_of(pool) and not kept and not entries.unknown:
        yield violation(entries, f"without a taint {GPU} that repels pods")


TAINTED = ResourceRule(
    name="gpu-pool-tainted",
    types=(tokens.NODE_GROUP, tokens.NODE_POOL),
    finds={"taint": _untainted},
    shown={"gpu": GPU},
)


def _no_maximum(pool: Resource, _: Context) -> Iterator[Violation]:
    bound = pool["scalingConfig"]["maxSize"] if pool.type == tokens.NODE_GROUP else pool["spec"]["limits"][GPU]
    if gpus_of(pool) and bound.missing:
        yield violation(bound)


def _too_many(pool: Resource, context: Context) -> Iterator[Violation]:
    if not gpus_of(pool):
        return
    bounds = [pool["scalingConfig"]["maxSize"]] if pool.type == tokens.NODE_GROUP else [pool["spec"]["limits"]["nodes"]]
    maximum = context.settings["maximumNodes"]
    yield from (violation(bound) for bound in bounds if (number := bound.number()) is not None and number > maximum)


BOUNDED = ResourceRule(
    name="gpu-pool-max-bounded",
    types=(tokens.NODE_GROUP, tokens.NODE_POOL),
    settings={"maximumNodes": setting("maximum number of nodes of a GPU pool", 4, 8, 64, minimum=1)},
    finds={
        "set": _no_maximum,
        "maximum": _too_many,
    },
)


def _idle(group: Resource, context: Context) -> Iterator[Violation]:
    if not gpus_of(group):
        return
    scaling = group["scalingConfig"]
    yield from (violation(size) for size in (scaling["minSize"], scaling["desiredSize"]) if (size.number() or 0) > 0)


IDLE_ZERO = ResourceRule(
    name="gpu-pool-idle-zero",
    types=(tokens.NODE_GROUP,),
    finds={"size": _idle},
)


def _layouts(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in facts(stack):
        gpu, profiles = pool["gpu"].text(), {key: node.number() for key, node in pool["mig"].fields().items()}
        layout = {profile: int(count) for profile, count in profiles.items() if count is not None}
        models = list(gpus.GPUS) if pool["gpu"].unknown else [gpu]
        wrong = [_layout_problem(model, layout) for model in models]
        if layout and all(wrong):
            yield violation(pool["mig"], f"{layout}: {wrong[0]}", component)


def _layout_problem(gpu: str | None, layout: dict[str, int]) -> str | None:
    model = gpus.GPUS.get(gpu or "")
    if model is None:
        return f"{gpu} is not a GPU of the catalog"
    if sum(layout.values()) > mig.COMPUTE_SLICES:
        return f"a GPU has at most {mig.COMPUTE_SLICES} instances"
    return mig.layout_problem(model.name, layout)


def _names(stack: Stack, _: Context) -> Iterator[Violation]:
    """NVIDIA's layouts are checked by name, layouts of the stack by their profiles (`_layouts`)."""
    for pool in node_pools(stack):
        config = label(pool, MIG_CONFIG)
        name = config.text()
        models = sorted({machine.gpu_name for _, machine in machines(pool) if machine and machine.gpu_name})
        if name is None or not name.startswith("all-"):
            continue
        wrong = [gpu for gpu in models if mig.named_layout(name, gpu) is None]
        if wrong:
            yield violation(config, f"{name!r}, which {', '.join(wrong)} does not have", pool)


MIG_FITS = StackRule(
    name="mig-profile-fits",
    types=(tokens.MANAGED_POOL, tokens.KARPENTER_POOL, tokens.NODE_GROUP, tokens.NODE_POOL),
    finds={
        "profiles": _layouts,
        "layout": _names,
    },
)


_MONITORING: Final = "eks-node-monitoring-agent"
_MOUNTPOINT: Final = "aws-mountpoint-s3-csi-driver"
_CHARTS: Final[Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    # Chart -> fact of the pools that its DaemonSets run on, and the path of their tolerations in its values.
    "gpu-operator": (
        ("gpuCount", ("daemonsets", "tolerations")),
        ("gpuCount", ("node-feature-discovery", "worker", "tolerations")),
    ),
    "dra-driver-nvidia-gpu": (("draGpuCount", ("kubeletPlugin", "tolerations")),),
    "aws-efa-k8s-device-plugin": (("efaCount", ("tolerations",)),),
}
"""Charts whose DaemonSets tolerate no taint by default and have to run on tainted pools (charts as pinned, 2026-11).
Those of CNI, kube-proxy, Pod Identity, CSI drivers and node exporter tolerate every taint."""


def _taints(stack: Stack, fact: str = "", without: str = "") -> list[Mapping[str, Any]]:
    """Taints that repel pods: of all pools, or of those whose fact is above zero, and another isn't."""
    pools = [pool for _, pool in facts(stack) if not fact or (pool[fact].number() or 0) > 0]
    pools = [pool for pool in pools if not pool[without].unknown and not pool[without].number()]
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
    for addon in stack.of(tokens.ADDON):
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
    for release in stack.of(tokens.RELEASE):
        chart = str(release["chart"].raw).rpartition("/")[2]
        for fact, path in _CHARTS.get(chart, ()):
            tolerations = release["values"].at(*path)
            # What gives GPUs to requests stays away from nodes that give them to claims.
            taint = _repelled(tolerations, _taints(stack, fact, "draGpuCount" if fact == "gpuCount" else ""))
            if taint:
                yield violation(tolerations, f"without {taint}", release)


TOLERATED = StackRule(
    name="daemonset-tolerates-pools",
    types=(tokens.ADDON, tokens.RELEASE, tokens.MANAGED_POOL, tokens.KARPENTER_POOL),
    finds={
        "addon": _addons,
        "release": _releases,
    },
)


def _machines(stack: Stack, component: Resource) -> Iterator[tuple[Resource, Node]]:
    for template in children(stack, component, tokens.LAUNCH_TEMPLATE):
        yield template, template["userData"]
    for node_class in children(stack, component, tokens.NODE_CLASS):
        yield node_class, node_class["spec"]["userData"]


def _late(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in facts(stack):
        if not pool["mig"].fields():
            continue
        for machine, data in _machines(stack, component):
            if not data.unknown and "slipway-mig" not in texts.decoded(data.text() or ""):
                yield violation(data, "without the script that partitions the GPUs", machine)


def _manager(stack: Stack, _: Context) -> Iterator[Violation]:
    if not any(pool["mig"].fields() for _, pool in facts(stack)):
        return
    for release in stack.of(tokens.RELEASE):
        switch = release["values"].at("migManager", "enabled")
        partitions = not switch.unknown and not switch.is_false(default=True)
        if str(release["chart"].raw).rpartition("/")[2] == "gpu-operator" and partitions:
            yield violation(switch, at=release)


MIG_AT_BOOT = StackRule(
    name="mig-before-kubelet",
    types=(tokens.MANAGED_POOL, tokens.KARPENTER_POOL, tokens.LAUNCH_TEMPLATE, tokens.NODE_CLASS, tokens.RELEASE),
    finds={
        "nodes": _late,
        "manager": _manager,
    },
)
