"""What the rules for Spot refuse of a manifest: jobs without a claim, and pods that would not hear the notice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from components.admission import kinds
from components.base.eviction import DO_NOT_DISRUPT
from components.workloads.checks.need import choice, need
from components.workloads.checks.pods import spot_problems
from components.workloads.notebook import LABEL
from components.workloads.target import Target
from slipway.why.podsets import PodSet
from spec.settings.admission import Action, Admission
from spec.settings.problems import Problem

Object = Mapping[str, Any]
_SAVED: Final = frozenset(one.kind for one in kinds.JOBS if one != kinds.RAY_JOB)
_EVICTED: Final = frozenset(one.kind for one in (*kinds.JOBS, *kinds.SERVERS))
"""Kinds of the rules `spotCheckpoint` and `spotEviction` (`components.admission.spot`)."""
_KEPT: Final = re.compile(r"true|[0-9].*")
"""Values of the annotation with which Karpenter keeps a pod (karpenter v1.14.1, IsDoNotDisruptActive)."""


def problems(
    kind: str,
    group: PodSet,
    target: Target,
    rules: Admission,
    pools: Mapping[str, Sequence[Problem]],
    *,
    queued: bool,
) -> Iterator[Problem]:
    """What they refuse of the pods of a template.

    Args:
        kind: Kind of the manifest.
        group: The pods.
        target: What the stack offers.
        rules: Which rules are on.
        pools: Pools that the pods select, with what keeps them from each.
        queued: Whether Kueue queues the object: it may then assign any of the pools.
    """
    reached = target.pools
    if not choice(group.spec, target).named:
        left = queued and any(name.startswith("nvidia.com/") for name in need(group.spec))
        reached = {name: target.pools[name] for name, wrong in pools.items() if left and not wrong}
    there = replace(target, pools=reached)
    if rules.spot_checkpoint is Action.DENY and kind in _SAVED:
        yield from (one for one in spot_problems(group.name, group.spec, there) if one.path.endswith(".volumes"))
    if rules.spot_eviction is Action.DENY and kind in _EVICTED:
        yield from _kept(group, there)


def _kept(group: PodSet, target: Target) -> Iterator[Problem]:
    value = str((group.metadata.get("annotations") or {}).get(DO_NOT_DISRUPT) or "")
    spot = [name for name, pool in choice(group.spec, target).pools.items() if pool.may_be_spot]
    if spot and _KEPT.fullmatch(value) and LABEL not in (group.metadata.get("labels") or {}):
        rule = (
            f"the nodes of pool {', '.join(spot)} are Spot, and Karpenter does not evict pods with this annotation at "
            "the notice of an interruption (rule spotEviction)"
        )
        fix = "Remove the annotation, or select a pool that is not Spot."
        yield Problem(f"{group.name}.metadata.annotations[{DO_NOT_DISRUPT}]", rule, value, fix)
