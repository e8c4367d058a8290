"""Acts on a cluster with all rules: who does what, and which rule refuses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, PLATFORM
from tests.components.admission.samples import Object, container, gpus, on, spec

NAMESPACE: Final = "acts"


@dataclass(frozen=True, kw_only=True)
class Act:
    """One request.

    Attributes:
        what: What the actor does.
        actor: Who asks.
        manifest: The object, or what a PATCH merges into it.
        rule: The rule that refuses it, or another part of the error; empty if it is accepted.
        method: POST creates, PATCH changes.
        before: The object that exists already.
        subresource: `scale`, for example.
    """

    what: str
    actor: str
    manifest: Object
    rule: str = ""
    method: str = "POST"
    before: Object | None = None
    subresource: str = ""


MANY: Final = make.job(spec(container()), parallelism=400)
HUNGRY: Final = make.job(on("h100"), queued=False, activeDeadlineSeconds=None, backoffLimit=None)
LOOSE: Final = make.deployment(spec(container(image="train:latest")))

OWNERS: Final = (
    Act(what="400 pods in a Job", actor=EDIT, manifest=MANY, rule="scale-bounds"),
    Act(what="400 pods in a Job with a forged owner", actor=EDIT, manifest=make.owned(MANY), rule="scale-bounds"),
    Act(what="an unbounded GPU Job with a forged owner", actor=EDIT, manifest=make.owned(HUNGRY), rule="job-bounds"),
    Act(what="a forged owner alone", actor=EDIT, manifest=make.owned(make.job()), rule="controller-reference"),
    Act(
        what="a bare pod with a forged owner", actor=EDIT, manifest=make.owned(make.pod()), rule="controller-reference"
    ),
    Act(
        what="a forged owner of an existing Job",
        actor=EDIT,
        manifest=make.owned(make.job()),
        method="PATCH",
        before=make.job(),
        rule="controller-reference",
    ),
    Act(
        what="an owner that is no controller",
        actor=EDIT,
        manifest=make.owned(make.job(), controller=False),
    ),
    Act(what="a Job of a JobSet", actor="JobSet", manifest=make.owned(make.job(spec(gpus()), queued=False))),
    Act(what="a Job of a CronJob", actor="cron job controller", manifest=make.owned(make.job(queued=False))),
    Act(
        what="a Job of a ScaledJob",
        actor="KEDA",
        manifest=make.owned(make.job(queued=False, ttlSecondsAfterFinished=None)),
    ),
    Act(what="the launcher of an MPIJob", actor="MPI operator", manifest=make.owned(HUNGRY)),
    Act(
        what="the JobSet of a TrainJob", actor="Trainer", manifest=make.owned(make.job_set(spec(gpus()), queued=False))
    ),
    Act(what="the ReplicaSet of a Deployment", actor="deployment controller", manifest=make.owned(make.replica_set())),
    Act(
        what="the StatefulSet of a LeaderWorkerSet",
        actor="LeaderWorkerSet",
        manifest=make.owned(make.stateful_set(spec(gpus()))),
    ),
    # A JobSet is not what KServe makes: its account exempts nothing here.
    Act(what="an unbounded Job by KServe", actor="KServe", manifest=make.owned(HUNGRY), rule="job-bounds"),
    Act(what="a Job by Helm of the platform", actor=PLATFORM, manifest=make.job()),
    Act(
        what="Kueue starts a Job and adds its flavor",
        actor="Kueue",
        before=make.job(suspend=True),
        method="PATCH",
        manifest=make.job(suspend=False),
    ),
    Act(
        what="the garbage collector removes a finalizer",
        actor="garbage collector",
        before={**LOOSE, "metadata": {"name": "it", "finalizers": ["example.com/kept"]}},
        method="PATCH",
        manifest={**LOOSE, "metadata": {"name": "it", "finalizers": None}},
    ),
)
ACTS: Final = OWNERS
