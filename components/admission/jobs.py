"""Rules for jobs."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, LABELS, O
from components.workloads.checks.bounds import DAY, MAX_RETRIES
from components.workloads.metadata import QUEUE
from spec.pools import keys

_NO_DEADLINE: Final = "(has(j.activeDeadlineSeconds) ? [] : ['activeDeadlineSeconds'])"
_NO_RETRIES: Final = (
    f"((has(j.backoffLimit) && j.backoffLimit <= {MAX_RETRIES}) || "
    f"(has(j.maxFailedIndexes) && j.maxFailedIndexes <= {MAX_RETRIES}) ? [] : ['backoffLimit'])"
)
_NO_CLEANUP: Final = f"(has({O}.spec.ttlSecondsAfterFinished) ? [] : ['ttlSecondsAfterFinished'])"
_RESTARTS: Final = f"{O}.spec.failurePolicy"
_LACKS: Final = (
    # A CronJob cleans up by its history limits, 3 and 1 by default.
    f"{KIND} == 'CronJob' ? [{O}.spec.jobTemplate.spec].map(j, ({_NO_DEADLINE} + {_NO_RETRIES}).join(', ')) : "
    f"{KIND} == 'JobSet' ? [{_NO_CLEANUP}.join(', ')] + "
    f"{O}.spec.replicatedJobs.map(r, r.template.spec).map(j, {_NO_DEADLINE}.join(', ')) + "
    f"(has({_RESTARTS}) && has({_RESTARTS}.maxRestarts) && {_RESTARTS}.maxRestarts > {MAX_RETRIES} "
    "? ['failurePolicy.maxRestarts'] : []) : "
    f"[{O}.spec].map(j, ({_NO_CLEANUP} + {_NO_DEADLINE} + {_NO_RETRIES}).join(', '))"
)
JOB_BOUNDS: Final = Rule(
    name="job-bounds",
    kinds=(kinds.JOB, kinds.CRON_JOB, kinds.JOB_SET),
    what=f"a job has a deadline, at most {MAX_RETRIES} retries, and a TTL",
    why="a job that hangs holds its GPUs until someone notices, one that fails immediately restarts for days, and "
    "finished ones pile up in the API server",
    variables={"lacks": f"({_LACKS}).filter(t, t != '')"},
    expression="variables.lacks.size() == 0",
    message=Message(
        wrong="a job must be bounded: fix ",
        found="variables.lacks.join(', ')",
        shown="fields",
        fix=". For example activeDeadlineSeconds: 86400 (in a JobSet in each template), backoffLimit: 3 "
        f"(at most {MAX_RETRIES}), ttlSecondsAfterFinished: {DAY}",
    ),
)

_WRITES: Final = (
    "has(s.volumes) && s.volumes.exists(v, has(v.persistentVolumeClaim) && "
    "!(has(v.persistentVolumeClaim.readOnly) && v.persistentVolumeClaim.readOnly) && "
    "s.containers.exists(c, has(c.volumeMounts) && c.volumeMounts.exists(m, m.name == v.name && "
    "!(has(m.readOnly) && m.readOnly))))"
)


def spot_checkpoint(context: StackContext) -> Rule:
    """A job on Spot nodes must write to a volume claim."""
    named = f"{placement.NAMED} && ({placement.SELECTED})"
    # The queue assigns a pool to a job that selects none, and a Spot pool may be the first with free quota.
    left = f"variables.queued && !{placement.NAMED} && s.containers.exists({placement.ASKS}) && ({placement.OFFERS})"
    spot = (
        "variables.pools.filter(p, p.spot && "
        f"variables.specs.exists(s, (({named}) || ({left})) && !({_WRITES}))).map(p, string(p.name))"
    )
    return Rule(
        name="spot-checkpoint",
        kinds=kinds.JOBS,
        what="a job that may run on a spot pool writes to a volume claim",
        why="AWS reclaims the node with two minutes' notice, and all work is lost",
        variables={**context.variables, "spot": spot},
        expression="variables.spot.size() == 0",
        message=Message(
            wrong="the nodes of pool ",
            found="variables.spot.join(', ')",
            shown="pools",
            fix=" are Spot and can be reclaimed at any time: mount the volume claim checkpoints, not read-only, and "
            f"write to it; or select a pool that is not Spot: nodeSelector {{{keys.POOL}: POOL}}",
        ),
    )


QUEUE_NAME: Final = Rule(
    name="queue-name",
    kinds=(kinds.JOB, kinds.CRON_JOB, kinds.JOB_SET, *kinds.OPERATED, kinds.SCALED_JOB, kinds.TRAIN_JOB),
    what="a job names its queue",
    why="it would bypass the quotas, and some of its pods could hold GPUs while the others wait; Kueue's webhook adds "
    "the queue `default`, and this rule applies if the webhook is unavailable",
    expression=f"{literal(QUEUE)} in ({LABELS})",
    message=Message(
        wrong="jobs of a team are queued: ",
        fix=f"add the label {QUEUE}: default (for a CronJob in jobTemplate.metadata.labels)",
    ),
    updates=False,
)
