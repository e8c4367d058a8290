"""GPU pools: taints, maximum size, scaling to zero and MIG layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.pools import facts, gpus_of, label, machines, node_pools, taints
from policies.levels import Levels
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import KARPENTER_POOL, MANAGED_POOL, NODE_GROUP, NODE_POOL
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation
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
    title="GPU pools have a taint that keeps other pods away",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A single pod without GPUs, such as a log collector, prevents the removal of a node of 55 USD an hour (EKS "
    "Best Practices, AI/ML compute).",
    fix=f"Add the taint {GPU} with effect NoSchedule to the pool; pools of the stack file have it.",
    checks={
        "taint": Check(
            asks=f"must contain {GPU}:NoSchedule",
            find=_untainted,
        )
    },
)


def _no_maximum(pool: Resource, _: Context) -> Iterator[Violation]:
    bound = pool["scalingConfig"]["maxSize"] if pool.type == NODE_GROUP else pool["spec"]["limits"][GPU]
    if gpus_of(pool) and bound.missing:
        yield violation(bound)


def _too_many(pool: Resource, context: Context) -> Iterator[Violation]:
    if not gpus_of(pool):
        return
    bounds = [pool["scalingConfig"]["maxSize"]] if pool.type == NODE_GROUP else [pool["spec"]["limits"]["nodes"]]
    maximum = context.settings["maximumNodes"]
    yield from (violation(bound) for bound in bounds if (number := bound.number()) is not None and number > maximum)


BOUNDED = ResourceRule(
    name="gpu-pool-max-bounded",
    title="GPU pools have a maximum size",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A loop that submits jobs launches instances up to the account's quota, at up to 142 USD an hour each.",
    fix="Set max of the pool; to exceed the environment's maximum, change the rule's setting maximumNodes.",
    settings={
        "maximumNodes": Setting(
            asks="maximum number of nodes of a GPU pool",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 4, "staging": 8, "prod": 64},
        )
    },
    checks={
        "set": Check(
            asks="must be set",
            find=_no_maximum,
        ),
        "maximum": Check(
            asks="must be at most the environment's maximum",
            find=_too_many,
        ),
    },
)


def _idle(group: Resource, context: Context) -> Iterator[Violation]:
    if not gpus_of(group):
        return
    scaling = group["scalingConfig"]
    yield from (violation(size) for size in (scaling["minSize"], scaling["desiredSize"]) if (size.number() or 0) > 0)


IDLE_ZERO = ResourceRule(
    name="gpu-pool-idle-zero",
    title="Outside production, idle GPU pools scale to zero",
    types=(NODE_GROUP,),
    severity=Severity.MEDIUM,
    levels=Levels("M/A/-"),
    why="One idle p5.48xlarge costs 40,000 USD a month.",
    fix="Set min: 0 on the pool, or use a Karpenter pool, which scales from zero.",
    checks={
        "size": Check(
            asks="must be 0",
            find=_idle,
        )
    },
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
    title="MIG layouts are valid for the pool's GPU",
    types=(MANAGED_POOL, KARPENTER_POOL, NODE_GROUP, NODE_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="The driver rejects an invalid layout only on the node, which then does not join "
    "(NVIDIA/gpu-operator#262, #351).",
    fix="Choose a layout or profiles that NVIDIA lists for the GPU, in mig of the pool.",
    checks={
        "profiles": Check(
            asks="must fit on one GPU",
            find=_layouts,
        ),
        "layout": Check(
            asks="must be a layout of the pool's GPU",
            find=_names,
        ),
    },
)

RULES = (TAINTED, BOUNDED, IDLE_ZERO, MIG_FITS)
