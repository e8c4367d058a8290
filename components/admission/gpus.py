"""Rules for pods that request GPUs or may run on Spot nodes."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Fill, Rule
from components.admission.templates import SPEC_PATHS, TEMPLATE_NOTES
from components.workloads.notebook import LABEL
from spec.jobs import DO_NOT_DISRUPT
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

MAX_REPORTED: Final = 40
"""Pools that a message lists: a message over 5 KiB isn't shown (k8s.io/apiserver, maxMessageLength)."""


_MISSING: Final = f"!({placement.ADDED_LATER}) && !(has(s.tolerations) && {placement.TOLERATES})"
_OFFERING: Final = f"variables.pools.filter(p, ({placement.OFFERS}) && ({placement.SELECTED}))"
"""Pools whose nodes have what pod `s` requests, and that it doesn't exclude."""
_TOLERATION: Final = (
    f"t.key == '{keys.GPU}' ? {{'key': t.key, 'operator': dyn('Exists'), 'effect': t.effect}} : "
    "{'key': t.key, 'operator': dyn('Equal'), 'value': t.value, 'effect': t.effect}"
)
_TOLERATIONS: Final = Fill(
    paths=SPEC_PATHS,
    field="tolerations",
    appends=True,
    # Of the first of several: Kueue assigns one, and all of them have the taint of a GPU. Nothing where none is meant.
    value=f"[{_OFFERING}].map(ps, ps.size() > 0 && !ps.exists(p, {placement.TOLERATED}) && "
    f"(ps.size() == 1 || variables.queued || {placement.NAMED}) "
    f"? ps[0].taints.filter(t, {_MISSING}).map(t, {_TOLERATION}) : [])[0]",
    when=placement.ASKS,
)


_CLAIMABLE: Final = (
    f"variables.pools.all(p, p.claims || !({placement.SELECTED}) || p.devices.all(d, d.name != '{keys.GPU}'))"
)
"""Whether pod `s` selects, of the pools with whole GPUs, only those that allocate them by claims."""


def gpu_pool(context: StackContext) -> Rule:
    """A pod with GPUs must fit a pool of the stack."""
    offers = [_offer(spec) for _, spec in sorted(context.pools.items()) if spec.gpu is not None]
    listed = "; ".join(offers[:MAX_REPORTED]) + (
        f"; and {len(offers) - MAX_REPORTED} more" if len(offers) > MAX_REPORTED else ""
    )
    fits = f"({placement.OFFERS}) && ({placement.SELECTED}) && ({placement.TOLERATED})"
    kinds_of_pools = {spec.dra for spec in context.pools.values() if keys.GPU in spec.resources}
    # Kueue counts a claim as GPUs of any pool, and may assign one whose nodes have no driver for it.
    apart = f" && (!{placement.CLAIMS} || {_CLAIMABLE})" if len(kinds_of_pools) > 1 and context.queues else ""
    return Rule(
        name="gpu-pool",
        kinds=kinds.WITH_PODS,
        expression=f"variables.specs.all(s, !{placement.ASKS} || variables.pools.exists(p, {fits}){apart})",
        found="[variables.devices]",
        names={"offered": listed or "no GPU", "pool": keys.POOL, "gpu": keys.GPU},
        fills=(_TOLERATIONS,),
    )


def _offer(spec: PoolSpec) -> str:
    """Devices of a node of a pool, and its taints except those that all GPU pools have."""
    devices = ", ".join(f"{resource} {count}" for resource, count in spec.resources.items())
    own = [taint for taint in spec.taints if taint.key not in (keys.GPU, keys.POOL)]
    part = ", one per container" if spec.sharing else ", by claims as well" if keys.GPU in spec.claimed else ""
    return f"{spec.name} ({devices}{part}{''.join(f', taint {taint}' for taint in own)})"


_UNEQUAL: Final = (
    f"has(c.resources) && has(c.resources.requests) && c.resources.requests.exists(r, r.startsWith('{keys.NVIDIA}') && "
    "!(has(c.resources.limits) && r in c.resources.limits && "
    "string(c.resources.limits[r]) == string(c.resources.requests[r])))"
)
GPU_LIMITS: Final = Rule(
    name="gpu-limits",
    kinds=kinds.UNCHECKED,
    variables={"unequal": f"variables.containers.map(l, l.filter(c, {_UNEQUAL}).map(c, c.name).join(', '))"},
    expression="variables.unequal.all(t, t == '')",
    found="variables.unequal",
)


_WRITES: Final = (
    "has(s.volumes) && s.volumes.exists(v, has(v.persistentVolumeClaim) && "
    "!(has(v.persistentVolumeClaim.readOnly) && v.persistentVolumeClaim.readOnly) && "
    "s.containers.exists(c, has(c.volumeMounts) && c.volumeMounts.exists(m, m.name == v.name && "
    "!(has(m.readOnly) && m.readOnly))))"
)
_NAMED: Final = f"{placement.NAMED} && ({placement.SELECTED})"
_LEFT: Final = f"variables.queued && !{placement.NAMED} && {placement.ASKS} && ({placement.OFFERS})"
"""The queue assigns a pool to a job that selects none, and a Spot pool may be the first with free quota."""
_REACHES: Final = f"(({_NAMED}) || ({_LEFT}))"  # whether pod `s` may run on pool `p`
_REACHED: Final = (
    "variables.templates.map(t, [t.spec].map(s, {'t': dyn(t), 'on': "
    f"dyn(variables.pools.filter(p, p.spot && {_REACHES}).map(p, p.name))}})[0])"
)


def _spot(name: str, condition: str) -> dict[str, str]:
    """Variables: each template with the Spot pools on which its pods may run, and the names of those on which they may
    run that meet a condition, of the template `t`."""
    of_template = f"p.name in x.on && [x.t].exists(t, {condition})"
    found = f"variables.pools.filter(p, variables.reached.exists(x, {of_template})).map(p, string(p.name))"
    return {"reached": _REACHED, name: found}


_HAS_NOTES: Final = "has(t.metadata) && has(t.metadata.annotations)"
# "true", or how long: "4h" (karpenter v1.14.1, pkg/utils/pod/scheduling.go, IsDoNotDisruptActive).
_KEPT: Final = (
    f"{_HAS_NOTES} && '{DO_NOT_DISRUPT}' in t.metadata.annotations && "
    f"string(t.metadata.annotations['{DO_NOT_DISRUPT}']).matches('^(true|[0-9].*)$') && "
    f"!(has(t.metadata.labels) && '{LABEL}' in t.metadata.labels)"
)


def steady(fits: str = "true", smaller: str = "true") -> Fill:
    """The selection of a pool that isn't Spot, for jobs that reach one that is: of those `p` that pod `s` may have by
    `fits`, the first `a` that is `smaller` than each other `b`, both by name."""
    pools = f"variables.pools.filter(p, !p.spot && ({placement.OFFERS}) && ({placement.SELECTED}) && ({fits}))"
    spot = f"variables.pools.exists(p, p.spot && {_LEFT}) && !({_WRITES}) && {pools}.size() > 0"
    return Fill(
        paths={kind: paths for kind, paths in SPEC_PATHS.items() if kind in {each.kind for each in kinds.JOBS}},
        field="nodeSelector",
        value=f"{{'{keys.POOL}': [{pools}.map(p, p.name)].map(n, n.filter(a, n.all(b, {smaller})))[0][0]}}",
        when=spot,
        wrong=spot,
        # Which pool is a matter of cost.
        of_server=False,
    )


def spot_checkpoint() -> Rule:
    """A job on Spot nodes must write to a volume claim."""
    return Rule(
        name="spot-checkpoint",
        # Ray repeats the tasks of a lost worker; what it trains it writes to S3. Its head is another rule's.
        kinds=tuple(kind for kind in kinds.JOBS if kind != kinds.RAY_JOB),
        variables=_spot("unsaved", f"![t.spec].exists(s, {_WRITES})"),
        expression="variables.unsaved.size() == 0",
        found="variables.unsaved",
        names={"pool": keys.POOL},
        fills=(steady(),),
    )


_ON_SPOT: Final = f"variables.pools.exists(p, p.spot && [t.spec].exists(s, {_REACHES}))"
"""Whether pods of template `t` may run on Spot."""
_EVICTED: Final = Fill(
    paths=TEMPLATE_NOTES,
    field=DO_NOT_DISRUPT,
    value="null",
    when="false",
    # Elsewhere it keeps the nodes of a job.
    wrong=f"{_KEPT} && {_ON_SPOT}",
    of_server=False,
)


def spot_eviction() -> Rule:
    """A pod on Spot nodes must hear of an interruption; a notebook has no checkpoint to write."""
    return Rule(
        name="spot-eviction",
        kinds=(*kinds.JOBS, *kinds.SERVERS),
        variables=_spot("unwarned", _KEPT),
        expression="variables.unwarned.size() == 0",
        found="variables.unwarned",
        names={"do_not_disrupt": DO_NOT_DISRUPT, "pool": keys.POOL},
        fills=(_EVICTED,),
    )
