"""Where the scheduler could place a pod, in CEL: the pools of the stack, and what the pod requests, selects,
tolerates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from components.admission.rule import literal
from components.admission.templates import KIND, joined
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

DEVICE: Final = f"(r.startsWith('{keys.NVIDIA}') || r == '{keys.EFA}')"
"""Whether resource `r` is a device."""
_LIMITS: Final = "(has(c.resources) && has(c.resources.limits))"

_INIT: Final = "(has(s.initContainers) ? s.initContainers : [])"
_ALL: Final = f"(s.containers + {_INIT})"
"""Containers of pod `s`: one that runs before the others needs its devices on the same node."""

ASKS: Final = f"{_ALL}.exists(c, {_LIMITS} && c.resources.limits.exists(r, r.startsWith('{keys.NVIDIA}')))"
"""Whether pod `s` requests GPUs or MIG instances."""
_ASKS_WHOLE: Final = f"{_ALL}.exists(c, {_LIMITS} && '{keys.GPU}' in c.resources.limits)"
_REQUESTED: Final = f"c.resources.limits.filter(r, {DEVICE}).map(r, r + ' ' + string(c.resources.limits[r]))"
DEVICES: Final = (
    f"variables.specs.map(s, {_ALL}.filter(c, {_LIMITS})"
    f".map(c, {joined(_REQUESTED)}).filter(t, t != '').join(', ')).filter(t, t != '').join('; ')"
)
"""Requests of all pods of an object, as text."""

_COUNT: Final = "quantity(string(c.resources.limits[r])).asInteger()"
_TOGETHER: Final = f"(s.containers + {_INIT}.filter(c, has(c.restartPolicy) && c.restartPolicy == 'Always'))"
"""Containers that run at the same time: a sidecar is an init container that goes on (kubernetes.io, "Sidecar
Containers")."""
OFFERS: Final = (
    f"{_ALL}.all(c, !{_LIMITS} || c.resources.limits.all(r, !{DEVICE} || "
    f"(r in p.resources && {_COUNT} <= (p.shared ? 1 : p.resources[r]))))"
    f" && p.resources.all(r, {_TOGETHER}.filter(c, "
    f"{_LIMITS} && r in c.resources.limits).map(c, {_COUNT}).sum() <= p.resources[r])"
)
"""Whether a node of pool `p` has all devices that pod `s` requests. A container gets at most one share of a shared GPU:
a second share may be of the same GPU, and the device plugin refuses it (`failRequestsGreaterThanOne`)."""

_POOL: Final = f"'{keys.POOL}'"
_TERMS: Final = "s.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_HAS_TERMS: Final = (
    "(has(s.affinity) && has(s.affinity.nodeAffinity) && "
    "has(s.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution))"
)
_ALLOWS: Final = (
    f"e.key != {_POOL} || (e.operator == 'In' ? p.name in e.values : e.operator == 'NotIn' ? !(p.name in e.values) : "
    "e.operator != 'DoesNotExist')"
)
SELECTED: Final = (
    f"(!has(s.nodeSelector) || !({_POOL} in s.nodeSelector) || s.nodeSelector[{_POOL}] == p.name)"
    f" && (!{_HAS_TERMS} || {_TERMS}.nodeSelectorTerms.exists(t, "
    f"has(t.matchExpressions) ? t.matchExpressions.all(e, {_ALLOWS}) : has(t.matchFields)))"
)
"""Whether neither selector nor affinity of pod `s` excludes pool `p`."""
NAMED: Final = (
    f"((has(s.nodeSelector) && {_POOL} in s.nodeSelector) || ({_HAS_TERMS} && {_TERMS}.nodeSelectorTerms.exists(t, "
    f"has(t.matchExpressions) && t.matchExpressions.exists(e, e.key == {_POOL} && e.operator == 'In'))))"
)
"""Whether pod `s` selects pools by name."""

_ANY: Final = "(has(o.operator) && o.operator == 'Exists')"
TOLERATES: Final = (
    "s.tolerations.exists(o, (!has(o.effect) || o.effect == '' || o.effect == t.effect) && "
    f"((!has(o.key) || o.key == '') ? {_ANY} : "
    f"(o.key == t.key && ({_ANY} || (has(o.value) ? o.value : '') == t.value))))"
)
ADDED_LATER: Final = (
    # Kueue adds the tolerations of its flavor to a job, all but that of the GPU; the API server adds just that one to a
    # pod that requests whole GPUs (admission plugin ExtendedResourceToleration), before it evaluates the rules.
    f"(variables.queued ? t.key != '{keys.GPU}' : ({KIND} != 'Pod' && t.key == '{keys.GPU}' && {_ASKS_WHOLE}))"
)
TOLERATED: Final = f"p.taints.all(t, {ADDED_LATER} || (has(s.tolerations) && {TOLERATES}))"
"""Whether pod `s` tolerates every taint of pool `p`, or will get the missing tolerations (kubernetes.io, "Taints and
Tolerations")."""


def pools(specs: Mapping[str, PoolSpec]) -> str:
    """The pools of a stack as a CEL list: devices of a node, taints that repel pods, and whether they are Spot."""
    return literal([_pool(spec) for _, spec in sorted(specs.items())])


def _pool(spec: PoolSpec) -> dict[str, Any]:
    kept = [taint for taint in spec.taints if taint.effect != "PreferNoSchedule"]
    return {
        "name": spec.name,
        "resources": dict(spec.resources),
        "taints": [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in kept],
        "shared": spec.sharing is not None,
        "spot": spec.may_be_spot,
    }
