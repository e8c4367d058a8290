"""Where the scheduler could place a pod, in CEL: the pools of the stack, and what the pod requests, selects,
tolerates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from components.admission.rule import joined
from components.admission.templates import KIND
from spec.jobs import QUEUE
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

DEVICE: Final = "r.contains('/')"
"""Whether resource `r` is a device: of a plugin, or of a DeviceClass (kubernetes.io, "Dynamic Resource Allocation",
`deviceclass.resource.kubernetes.io/`). Only those of the pools are in a quota; Kubernetes' own have no slash."""
_LIMITS: Final = "(has(c.resources) && has(c.resources.limits))"

_INIT: Final = "(has(s.initContainers) ? s.initContainers : [])"
_OWN: Final = f"(s.containers + {_INIT})"
NUMBER: Final = "'[-][1-9][0-9]?$'"
"""End of the name of a template of claims for several devices."""
_CLAIMED: Final = (
    # `dyn`, or the type checker would take the amounts of all other containers for text as well.
    "(has(s.resourceClaims) ? s.resourceClaims.map(c, dyn({'resources': {'limits': has(c.resourceClaimTemplateName) ? "
    f"{{'{keys.GPU}': [c.resourceClaimTemplateName].map(n, n.matches({NUMBER}) ? "
    "[n.split('-')].map(w, w[w.size() - 1])[0] : '1')[0]} : "
    "{'resourceClaimName/' + c.resourceClaimName: '1'}}})) : [])"
)
"""Claims of devices of pod `s`, each as a container that requests as many GPUs as the name of its template tells
(`components.admission.claims`). A claim without a template, which no queue counts, is one of a device that no pool
has."""
_ALL: Final = f"({_OWN} + {_CLAIMED})"
"""Containers of pod `s`: one that runs before the others needs its devices on the same node."""

CLAIMS: Final = "(has(s.resourceClaims) && s.resourceClaims.size() > 0)"
"""Whether pod `s` claims devices."""
ASKS: Final = (
    f"({CLAIMS} || {_OWN}.exists(c, {_LIMITS} && c.resources.limits.exists(r, {DEVICE} && r != '{keys.EFA}')))"
)
"""Whether pod `s` requests GPUs, MIG instances, or devices of another kind."""
_ASKS_WHOLE: Final = f"{_OWN}.exists(c, {_LIMITS} && '{keys.GPU}' in c.resources.limits)"
_REQUESTED: Final = f"c.resources.limits.filter(r, {DEVICE}).map(r, r + ' ' + string(c.resources.limits[r]))"

_COUNT: Final = "quantity(string(c.resources.limits[%s])).asInteger()"
_TOGETHER: Final = f"(s.containers + m + {_INIT}.filter(c, has(c.restartPolicy) && c.restartPolicy == 'Always'))"
"""Containers and claims `m` that hold devices at the same time: a sidecar is an init container that goes on
(kubernetes.io, "Sidecar Containers")."""
OFFERS: Final = (
    f"[{_CLAIMED}].exists(m, (p.claims || m.size() == 0) && ({_OWN} + m).all(c, !{_LIMITS} || "
    f"c.resources.limits.all(r, !{DEVICE} || p.devices.exists(d, d.name == r && {_COUNT % 'r'} <= "
    f"(p.shared ? 1 : d.count)))) && p.devices.all(d, {_TOGETHER}.filter(c, {_LIMITS} && d.name in "
    f"c.resources.limits).map(c, {_COUNT % 'd.name'}).sum() <= d.count))"
)
"""Whether a node of pool `p` has all devices that pod `s` requests. A container gets at most one share of a shared GPU:
a second share may be of the same GPU, and the device plugin refuses it (`failRequestsGreaterThanOne`)."""

RATE: Final = (
    f"(s.containers + {_CLAIMED}).filter(c, {_LIMITS}).map(c, p.devices.filter(d, d.name in c.resources.limits)"
    f".map(d, {_COUNT % 'd.name'} * d.price).sum()).sum()"
)
"""Price of pod `s` on pool `p`, in thousandths of a USD an hour."""

_POOL: Final = f"'{keys.POOL}'"
_REQUIRED: Final = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = (
    f"[s].filter(s, has(s.affinity) && has(s.affinity.nodeAffinity) && has(s.affinity.{_REQUIRED}))"
    f".map(s, s.affinity.{_REQUIRED}.nodeSelectorTerms)"
)
"""Required terms of the affinity of pod `s`, in a list, if there are any."""
_ALLOWS: Final = (
    f"e.key != {_POOL} || (e.operator == 'In' ? p.name in e.values : e.operator == 'NotIn' ? !(p.name in e.values) : "
    "e.operator != 'DoesNotExist')"
)
SELECTED: Final = (
    f"(!has(s.nodeSelector) || !({_POOL} in s.nodeSelector) || s.nodeSelector[{_POOL}] == p.name)"
    f" && {_TERMS}.all(l, l.exists(t, "
    f"has(t.matchExpressions) ? t.matchExpressions.all(e, {_ALLOWS}) : has(t.matchFields)))"
)
"""Whether neither selector nor affinity of pod `s` excludes pool `p`."""
NAMED: Final = (
    f"((has(s.nodeSelector) && {_POOL} in s.nodeSelector) || {_TERMS}.exists(l, l.exists(t, "
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
    # Kueue adds the tolerations of its flavor to a job, all but OF_PODS; the API server adds just that of the GPU to a
    # pod that requests whole GPUs (admission plugin ExtendedResourceToleration), before it evaluates the rules.
    f"(variables.queued ? !(t.key in {list(keys.OF_PODS)}) : "
    f"({KIND} != 'Pod' && t.key == '{keys.GPU}' && {_ASKS_WHOLE}))"
)
TOLERATED: Final = f"p.taints.all(t, {ADDED_LATER} || (has(s.tolerations) && {TOLERATES}))"
"""Whether pod `s` tolerates every taint of pool `p`, or will get the missing tolerations (kubernetes.io, "Taints and
Tolerations")."""


_MAY_BE_ON: Final = (
    f"!(has(s.nodeSelector) && {_POOL} in s.nodeSelector) || l.startsWith(string(s.nodeSelector[{_POOL}]) + ' ')"
)
"""Whether the selector of pod `s` lets it be on the pool of line `l`: a pool is read from its line only then."""
_FLAGS: Final = {name: f"f[1].contains('{name}')" for name in ("shared", "spot", "claims")}
VARIABLES: Final[Mapping[str, str]] = {
    # Pools of the stack: devices of a node with their prices, taints that repel pods, and whether its GPUs are shared,
    # on Spot, or allocated by claims.
    # All of these variables leave out a pool that no pod may be on, by its selector.
    "pools": "params.data.pools.split('\\n')"
    f".filter(l, variables.specs.size() == 0 || variables.specs.exists(s, {_MAY_BE_ON}))"
    ".map(l, l.split(' ')).map(f, {'name': dyn(f[0]), "
    + "".join(f"'{name}': dyn({text}), " for name, text in _FLAGS.items())
    + "'devices': dyn(f[2].split(',').map(d, d.split('=')).filter(d, d.size() == 3)"
    ".map(d, {'name': dyn(d[0]), 'count': dyn(int(d[1])), 'price': dyn(int(d[2]))})), "
    "'taints': dyn(f[3].split(',').map(t, t.split('=')).filter(t, t.size() == 3)"
    ".map(t, {'key': t[0], 'value': t[1], 'effect': t[2]}))})",
    # Whether Kueue queues the object.
    "queued": f"params.data.queues == 'true' && '{QUEUE}' in variables.labels",
    "devices": f"variables.specs.map(s, {_ALL}.filter(c, {_LIMITS})"
    f".map(c, {joined(_REQUESTED)}).filter(t, t != '').join(', ')).filter(t, t != '').join('; ')",
}
"""What the rules on places see; `devices` are the requests of all pods of an object, as text."""


def pools(specs: Mapping[str, PoolSpec], prices: Mapping[str, Mapping[str, int]]) -> str:
    """The parameter with the pools, a line for each: name, what is special, `device=count=price`, `key=value=effect`.

    Neither names nor keys and values of taints have any of these signs (kubernetes.io, "Labels and Selectors").
    """
    return "\n".join(_line(spec, prices.get(name, {})) for name, spec in sorted(specs.items()))


def _line(spec: PoolSpec, prices: Mapping[str, int]) -> str:
    have = (("shared", spec.sharing is not None), ("spot", spec.may_be_spot), ("claims", spec.dra))
    flags = [name for name, there in have if there]
    devices = [f"{name}={count}={prices.get(name, 0)}" for name, count in spec.resources.items()]
    taints = [f"{one.key}={one.value}={one.effect}" for one in spec.taints if one.effect != "PreferNoSchedule"]
    return " ".join((spec.name, *(",".join(each) or "-" for each in (flags, devices, taints))))
