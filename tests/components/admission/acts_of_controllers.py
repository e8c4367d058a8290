"""Acts about owners and queues: who does what, and which rule refuses it."""

from typing import Final

from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, PLATFORM, Act
from tests.components.admission.samples import container, gpus, on, spec

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
    Act(what="an owner that is no controller", actor=EDIT, manifest=make.owned(make.job(), controller=False)),
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
H100: Final = on("h100")
BARE: Final = make.pod(H100)
TOLERANT: Final = spec(gpus(8), tolerations=[{"operator": "Exists"}])
HELD: Final = make.job(suspend=True)

QUEUES: Final = (
    Act(what="a bare pod with 8 GPUs and all tolerations", actor=EDIT, manifest=make.pod(TOLERANT), rule="gpu-queue"),
    Act(what="a bare GPU pod with a queue label alone", actor=EDIT, manifest=make.labelled(BARE), rule="gpu-queue"),
    Act(what="a bare GPU pod that Kueue holds", actor=EDIT, manifest=make.gated(BARE)),
    Act(
        what="a GPU in an init container",
        actor=EDIT,
        manifest=make.pod(spec(initContainers=[{**gpus(), "name": "first", "restartPolicy": "Always"}])),
        rule="gpu-queue",
    ),
    *(
        Act(what=f"a GPU pod of the {actor}", actor=actor, manifest=make.owned(BARE))
        for actor in ("job controller", "replica set controller", "stateful set controller", "training operator")
    ),
    Act(what="a worker of an MPIJob", actor="MPI operator", manifest=make.owned(BARE)),
    Act(what="a GPU step of a workflow without a gate", actor="Argo", manifest=make.owned(BARE), rule="gpu-queue"),
    Act(what="a GPU step of a workflow", actor="Argo", manifest=make.owned(make.gated(BARE))),
    Act(what="a GPU ReplicaSet", actor=EDIT, manifest=make.replica_set(H100), rule="gpu-queue"),
    Act(what="a GPU Deployment", actor=EDIT, manifest=make.deployment(H100), rule="gpu-queue"),
    Act(what="a queued GPU Deployment", actor=EDIT, manifest=make.labelled(make.deployment(H100))),
    Act(what="a GPU StatefulSet", actor=EDIT, manifest=make.stateful_set(H100), rule="gpu-queue"),
    Act(
        what="a GPU LeaderWorkerSet", actor=EDIT, manifest=make.leader_worker_set(H100, queued=False), rule="gpu-queue"
    ),
    Act(what="a queued LeaderWorkerSet", actor=EDIT, manifest=make.leader_worker_set(H100)),
    Act(
        what="the GPU Deployment of KServe without a queue",
        actor="KServe",
        manifest=make.deployment(H100),
        rule="gpu-queue",
    ),
    *(
        Act(what=f"a {kind} without a queue", actor=EDIT, manifest=make.operated(kind, queued=False), rule="queue-name")
        for kind in ("TFJob", "XGBoostJob", "JAXJob", "MPIJob", "PyTorchJob")
    ),
    *(Act(what=f"a queued {kind}", actor=EDIT, manifest=make.operated(kind)) for kind in ("TFJob", "MPIJob")),
    Act(what="a ScaledJob without a queue", actor=EDIT, manifest=make.scaled_job(queued=False), rule="queue-name"),
    Act(what="a queued ScaledJob", actor=EDIT, manifest=make.scaled_job()),
    Act(
        what="the queue removed from a Job",
        actor=EDIT,
        before=HELD,
        method="PATCH",
        manifest=make.labelled(HELD, None),
        rule="queue-name",
    ),
    Act(
        what="the queue removed from a Deployment",
        actor=EDIT,
        before=make.labelled(make.deployment(H100, replicas=0)),
        method="PATCH",
        manifest=make.labelled(make.deployment(H100, replicas=0), None),
        rule="gpu-queue",
    ),
    Act(
        what="a held Job resumed",
        actor=EDIT,
        before=HELD,
        method="PATCH",
        manifest=make.job(suspend=False),
        rule="queue-start",
    ),
    Act(
        what="a held TFJob resumed",
        actor=EDIT,
        before=make.operated("TFJob", suspend=True),
        method="PATCH",
        manifest=make.operated("TFJob", suspend=False),
        rule="queue-start",
    ),
    Act(
        what="the gate removed from a pod",
        actor=EDIT,
        before=make.gated(BARE),
        method="PATCH",
        manifest={**BARE, "spec": {"schedulingGates": None}},
        rule="queue-start",
    ),
    Act(
        what="Kueue admits a pod",
        actor="Kueue",
        before=make.gated(BARE),
        method="PATCH",
        manifest={**BARE, "spec": {"schedulingGates": None}},
    ),
)
