"""Rules that make Kueue mandatory: for jobs, for GPUs, and for the start of what it queues."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, LABELS, SPECS, USER, O
from components.workloads.metadata import QUEUE

_LABELLED: Final = f"(({LABELS}).exists(k, k == {literal(QUEUE)} && ({LABELS})[k] != ''))"
QUEUE_NAME: Final = Rule(
    name="queue-name",
    kinds=(*kinds.JOBS, kinds.TRAIN_JOB),
    what="a job names its queue",
    why="it would bypass the quotas, and some of its pods could hold GPUs while the others wait; Kueue's webhook adds "
    "the queue `default`, and this rule applies if the webhook is unavailable or does not know the kind",
    expression=_LABELLED,
    message=Message(
        wrong="jobs of a team are queued: ",
        fix=f"add the label {QUEUE}: default (for a CronJob in jobTemplate.metadata.labels)",
    ),
    metadata=("labels",),
)

GATE: Final = "kueue.x-k8s.io/"
"""Prefix of the scheduling gates with which Kueue holds a pod until it admits it: `admission`, `topology`
(kueue.sigs.k8s.io, "Run Plain Pods"; v0.19)."""


def gpu_queue(context: StackContext) -> Rule:
    """GPUs of pods that run without a job are queued as well."""
    trusted = f"{USER} in {literal(context.makers[kinds.POD.kind])}"
    gated = f"has({O}.spec.schedulingGates) && {O}.spec.schedulingGates.exists(g, g.name == '{GATE}admission')"
    asked = (
        f"variables.specs.exists(s, s.containers.exists({placement.ASKS}) || "
        f"(has(s.initContainers) && s.initContainers.exists({placement.ASKS})))"
    )
    return Rule(
        name="gpu-queue",
        kinds=(kinds.POD, *kinds.SERVERS),
        what="a pod that requests GPUs is queued: a job's, a server's that names its queue, or one that Kueue holds "
        "with its scheduling gate when it is created",
        why="it would use GPUs outside every quota",
        variables={"specs": SPECS},
        # A DaemonSet has no queue.
        expression=f"!({asked}) || ({KIND} == 'Pod' ? ({gated}) || {trusted} : {KIND} != 'DaemonSet' && {_LABELLED})",
        message=Message(
            wrong="GPUs of a team are queued: ",
            fix=f"add the label {QUEUE}: default (of a ReplicaSet in template.metadata.labels); a pod without owner "
            "gets its scheduling gate from Kueue",
        ),
        metadata=("labels",),
    )


def queue_start(context: StackContext) -> Rule:
    """What Kueue holds, Kueue starts."""
    released = (
        "has(dyn(oldObject).spec.schedulingGates) && dyn(oldObject).spec.schedulingGates.exists(g, "
        f"g.name.startsWith('{GATE}') && !(has({O}.spec.schedulingGates) && "
        f"{O}.spec.schedulingGates.exists(n, n.name == g.name)))"
    )
    operated = literal([kind.kind for kind in kinds.OPERATED])
    by_kueue = f"{USER} in {literal(context.changers.get(kinds.POD.kind, []))}"

    def held(each: str) -> str:
        policy, service = f"{each}.spec.runPolicy", f"{each}.spec.rayClusterConfig"
        return (
            f"({KIND} in {operated} ? has({policy}) && has({policy}.suspend) && {policy}.suspend : "
            f"{KIND} == '{kinds.RAY_SERVICE.kind}' ? has({service}.suspend) && {service}.suspend : "
            f"has({each}.spec.suspend) && {each}.spec.suspend)"
        )

    started = f"{held('dyn(oldObject)')} && !{held(O)}"
    return Rule(
        name="queue-start",
        kinds=(kinds.POD, kinds.JOB, kinds.JOB_SET, *kinds.OPERATED, kinds.TRAIN_JOB, *kinds.RAY),
        what="only Kueue starts what it queues: it resumes a suspended job, and removes its gates from a pod",
        why="the workload would run before it has quota, until Kueue stops it again",
        expression=f"request.operation == 'CREATE' || ({KIND} == 'Pod' ? {by_kueue} || !({released}) : !({started}))",
        message=Message(
            wrong="Kueue starts it when its queue has quota: ",
            fix="leave `suspend` and the gates kueue.x-k8s.io/* as they are; kubectl get workloads shows what it "
            "waits for",
        ),
        pod_updates=True,
    )
