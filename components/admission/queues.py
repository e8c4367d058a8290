"""Rules that make Kueue mandatory for jobs, for GPUs, and for the start of what it queues; and which of its labels and
annotations are a user's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import FIELDS, Fill, Kind, Rule, joined, listed, literal
from components.admission.templates import (
    KIND,
    MAKES_PODS,
    METADATA_PATHS,
    USER,
    O,
    below,
)
from spec.jobs import GATE, KUEUE, PRIORITY, QUEUE

_LABELLED: Final = f"variables.labels.exists(k, k == {literal(QUEUE)} && variables.labels[k] != '')"
LOCAL_QUEUE: Final = "default"  # the queue of each namespace of a team (`components.queues`)


def _queued(context: StackContext, *of: Kind, when: str = "true") -> Fill:
    """The label with the queue. A queue that the namespace doesn't have would hold its workload for ever."""
    return Fill(
        paths={kind.kind: ["metadata.labels+"] for kind in of},
        field=QUEUE,
        value=literal(LOCAL_QUEUE),
        when=when,
        wrong=f"!(s['{QUEUE}'] in {literal([LOCAL_QUEUE, *context.aliases])})",
    )


def _of_cron_job(context: StackContext) -> tuple[Fill, Fill]:
    kind = kinds.CRON_JOB.kind
    labels = Fill(paths={kind: ["spec.jobTemplate.metadata+"]}, field="labels", value=literal({QUEUE: LOCAL_QUEUE}))
    return labels, replace(_queued(context), paths={kind: ["spec.jobTemplate.metadata.labels"]})


def queue_name(context: StackContext) -> Rule:
    """Jobs are queued."""
    named = (*kinds.JOBS, kinds.TRAIN_JOB)
    return Rule(
        name="queue-name",
        kinds=named,
        expression=_LABELLED,
        names={"queue": QUEUE},
        metadata=("labels",),
        fills=(_queued(context, *(kind for kind in named if kind != kinds.CRON_JOB)), *_of_cron_job(context)),
    )


GATED: Final = f"has({O}.spec.schedulingGates) && {O}.spec.schedulingGates.exists(g, g.name == '{GATE}')"
"""Whether Kueue holds a pod."""


_HELD: Final = (kinds.POD, *(kind for kind in kinds.SERVERS if kind not in (kinds.DAEMON_SET, kinds.REPLICA_SET)))


def gpu_queue(context: StackContext) -> Rule:
    """GPUs of pods that run without a job are queued as well."""
    asked = f"variables.specs.exists(s, {placement.ASKS})"
    return Rule(
        name="gpu-queue",
        kinds=(kinds.POD, *kinds.SERVERS),
        # A DaemonSet has no queue.
        expression=f"!({asked}) || ({KIND} == 'Pod' ? ({GATED}) || {MAKES_PODS} : "
        f"{KIND} != 'DaemonSet' && {_LABELLED})",
        names={"queue": QUEUE},
        metadata=("labels",),
        fills=(_queued(context, *_HELD, when=f"variables.specs.exists(s, {placement.ASKS})"),),
    )


def queue_start() -> Rule:
    """What Kueue holds, Kueue starts."""
    released = (
        "has(dyn(oldObject).spec.schedulingGates) && dyn(oldObject).spec.schedulingGates.exists(g, "
        f"g.name.startsWith('{KUEUE}') && !(has({O}.spec.schedulingGates) && "
        f"{O}.spec.schedulingGates.exists(n, n.name == g.name)))"
    )
    operated = literal([kind.kind for kind in kinds.OPERATED])
    by_kueue = f"{USER} in {listed('changesPods')}"

    suspend = "has({0}.suspend) && {0}.suspend"
    held = (
        f"{KIND} in {operated} ? has(o.spec.runPolicy) && {suspend.format('o.spec.runPolicy')} : "
        f"{KIND} == '{kinds.RAY_SERVICE.kind}' ? {suspend.format('o.spec.rayClusterConfig')} : "
        f"{suspend.format('o.spec')}"
    )
    started = f"[{O}, dyn(oldObject)].map(o, {held}) == [false, true]"
    return Rule(
        name="queue-start",
        kinds=(kinds.POD, kinds.JOB, kinds.JOB_SET, *kinds.OPERATED, kinds.TRAIN_JOB, *kinds.RAY),
        expression=f"request.operation == 'CREATE' || ({KIND} == 'Pod' ? {by_kueue} || !({released}) : !({started}))",
        pod_updates=True,
    )


_LWS: Final = "leaderworkerset.sigs.k8s.io/"
"""Kueue takes each pod with the label `name` of a LeaderWorkerSet for one of its group, whoever made it (kueue v0.19.2,
pkg/controller/jobs/leaderworkerset, getPods)."""
ALLOWED: Final = (
    QUEUE,
    PRIORITY,
    *(f"{KUEUE}{name}" for name in FIELDS["kueue"]),
    f"{_LWS}exclusive-topology",
    f"{_LWS}subgroup-exclusive-topology",
)
"""Keys that the documentation of Kueue and of LeaderWorkerSet gives to users, for features that are on by default
(kueue v0.19.2, pkg/features; lws v0.9.0, leaderworkerset_types.go). All others with these prefixes are a controller's;
those of plain pod groups are not here, because a pod says by itself as which pod it counts (ADR 0112)."""
_PARENT: Final = f"{KUEUE}pod-suspending-parent"
_MANAGED: Final = f"{KUEUE}managed=true"
_OFFSET: Final = f"{KUEUE}pod-index-offset=1"
WEBHOOK: Final = {
    kinds.DEPLOYMENT.kind: [f"{_PARENT}=deployment", _MANAGED],
    kinds.STATEFUL_SET.kind: [f"{_PARENT}=statefulset"],
    kinds.LEADER_WORKER_SET.kind: [
        f"{_PARENT}=leaderworkerset.x-k8s.io/leaderworkerset",
        f"{KUEUE}pod-group-serving=true",
        _OFFSET,
    ],
    kinds.MPI_JOB.kind: [_OFFSET],
}
"""What Kueue's webhooks add to the request of a user, before a rule sees it (kueue v0.19.2, pkg/controller/jobs,
*_webhook.go, Default)."""


_OLD: Final = (
    "(has(oldObject.spec) && has(dyn(oldObject).spec.template) ? "
    "[[dyn(oldObject), dyn(oldObject).spec.template]] : [[dyn(oldObject)]])"
)


def _pairs(holders: str) -> str:
    """Each label and annotation of a controller as `key=value`, in lists."""
    lists = " + ".join(
        f"(has(h.metadata) && has(h.metadata.{field}) ? h.metadata.{field}.filter(k, k.contains('{KUEUE}') || "
        f"k.startsWith('{_LWS}')).map(k, k + '=' + string(h.metadata.{field}[k])) : [])"
        for field in ("labels", "annotations")
    )
    return f"{holders}.map(l, l.map(h, {lists}))"


def queue_metadata(context: StackContext) -> Rule:
    """Labels and annotations by which Kueue decides what to count."""
    kueue = sorted({name.rpartition(":")[0] + ":" for name in context.changers.get(kinds.POD.kind, [])})
    # A pod that Kueue's webhook holds has these from it, and the hash counts for nothing outside a group.
    held = f"({KIND} == 'Pod' && ({GATED}) && (p == '{_MANAGED}' || p.startsWith('{KUEUE}role-hash=')))"
    allowed = f"p.split('=')[0] in variables.keys || {KIND} + ' ' + p in variables.webhook"
    known = "variables.before.exists(l, l.exists(m, p in m))"
    update = "request.operation == 'UPDATE'"
    return Rule(
        name="queue-metadata",
        kinds=(*kinds.WITH_PODS, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME, kinds.INFERENCE_SERVICE),
        parameters={
            "queueing": ",".join(kueue),
            "queueKeys": ",".join(ALLOWED),
            "queueWebhook": ",".join(f"{kind} {pair}" for kind, pairs in WEBHOOK.items() for pair in pairs),
        },
        variables={
            "keys": listed("queueKeys"),
            "webhook": listed("queueWebhook"),
            # Kueue writes some into the template of a job that it starts, which stays changeable.
            "before": f"{update} ? {_pairs(_OLD)} : []",
            # What an update leaves as it is in the spec was evaluated before, or is older than the rule.
            "now": f"({update} && {KIND} != 'Pod' && {O}.spec == dyn(oldObject).spec ? [[{O}]] : variables.holders)"
            + _pairs(""),
            "refused": f"variables.now.map(l, l.map(m, m.filter(p, !({update} && {known}) && "
            f"({KIND} == 'Pod' && {update} || !({allowed} || {held})))))"
            f" + ({KIND} == 'Pod' && {update} ? variables.before.map(l, l.map(m, m.filter(p, "
            "!variables.now.exists(n, n.exists(o, p in o))))) : [])",
        },
        expression=f"{listed('queueing')}.exists(k, k != '' && {USER}.startsWith(k)) || "
        f"({KIND} == 'Pod' && request.operation == 'CREATE' && {MAKES_PODS}) || "
        "variables.refused.all(l, l.all(m, m.size() == 0))",
        found=f"variables.refused.map(l, {joined('l.map(m, ' + joined('m') + ')')})",
        names={"queue": QUEUE, "priority": PRIORITY},
        metadata=("labels", "annotations"),
        fills=(
            Fill(
                paths=below(METADATA_PATHS, "labels", "annotations"),
                removes=f"s.filter(k, (k.contains('{KUEUE}') || k.startsWith('{_LWS}')) && !(k in "
                f"{literal(list(ALLOWED))}))",
            ),
        ),
        pod_updates=True,
    )
