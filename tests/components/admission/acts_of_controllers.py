"""Acts about owners and queues: who does what, and which rule refuses it."""

from typing import Final

from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, PLATFORM, Act
from tests.components.admission.samples import container, gpus, on, spec

MANY: Final = make.job(spec(container()), parallelism=400)
HUNGRY: Final = make.job(on("h100"), queued=False, activeDeadlineSeconds=None, backoffLimit=None)
LOOSE: Final = make.deployment(spec(container(image="train:latest")))

OWNERS: Final = (
    Act("400 pods in a Job", EDIT, MANY, "scale-bounds"),
    Act("400 pods in a Job with a forged owner", EDIT, make.owned(MANY), "scale-bounds"),
    Act("an unbounded GPU Job with a forged owner", EDIT, make.owned(HUNGRY), "job-bounds"),
    Act("a forged owner alone", EDIT, make.owned(make.job()), "controller-reference"),
    Act("a bare pod with a forged owner", EDIT, make.owned(make.pod()), "controller-reference"),
    Act("a forged owner of an existing Job", EDIT, make.owned(make.job()), "controller-reference", method="PATCH",
        before=make.job()),
    Act("an owner that is no controller", EDIT, make.owned(make.job(), controller=False)),
    Act("a Job of a JobSet", "JobSet", make.owned(make.job(spec(gpus()), queued=False))),
    Act("a Job of a CronJob", "cron job controller", make.owned(make.job(queued=False))),
    Act("a Job of a ScaledJob", "KEDA", make.owned(make.job(queued=False, ttlSecondsAfterFinished=None))),
    # What Katib makes is what a member wrote: the rules judge it as the member's own.
    Act("a trial of an Experiment", "Katib", make.owned(make.job())),
    Act("a trial without bounds", "Katib", make.owned(HUNGRY), "job-bounds"),
    Act("a trial without a queue", "Katib", make.owned(make.job(queued=False)), "queue-name"),
    Act("a trial that never goes", "Katib", {**make.job(), "metadata": {"name": "it", "finalizers": ["example.com/a"]}},
        "object-reach"),
    Act("the algorithm of an Experiment", "Katib", make.owned(make.deployment())),
    Act("an Experiment of a member", EDIT, make.experiment()),
    Act("an Experiment without a maximum later", EDIT, {**make.experiment(), "spec": {"maxTrialCount": None}},
        "experiment-bounds", before=make.experiment(), method="PATCH"),
    Act("Katib keeps an Experiment until its metrics are gone", "Katib",
        {**make.experiment(), "metadata": {"name": "it", "finalizers": ["update-prometheus-metrics"]}},
        before=make.experiment(), method="PATCH"),
    Act("the launcher of an MPIJob", "MPI operator", make.owned(HUNGRY)),
    Act("the JobSet of a TrainJob", "Trainer", make.owned(make.job_set(spec(gpus()), queued=False))),
    Act("the ReplicaSet of a Deployment", "deployment controller", make.owned(make.replica_set())),
    Act("the StatefulSet of a LeaderWorkerSet", "LeaderWorkerSet", make.owned(make.stateful_set(spec(gpus())))),
    # A JobSet is not what KServe makes: its account exempts nothing here.
    Act("an unbounded Job by KServe", "KServe", make.owned(HUNGRY), "job-bounds"),
    Act("a Job by Helm of the platform", PLATFORM, make.job()),
    Act("Kueue starts a Job and adds its flavor", "Kueue", make.job(suspend=False), before=make.job(suspend=True),
        method="PATCH"),
    Act("the garbage collector removes a finalizer", "garbage collector",
        {**LOOSE, "metadata": {"name": "it", "finalizers": None}},
        before={**LOOSE, "metadata": {"name": "it", "finalizers": ["example.com/kept"]}}, method="PATCH"),
)  # fmt: skip
H100: Final = on("h100")
BARE: Final = make.pod(H100)
TOLERANT: Final = spec(gpus(8), tolerations=[{"operator": "Exists"}])
HELD: Final = make.job(suspend=True)

QUEUES: Final = (
    Act("a bare pod with 8 GPUs and all tolerations", EDIT, make.pod(TOLERANT), "gpu-queue"),
    Act("a bare GPU pod with a queue label alone", EDIT, make.labelled(BARE), "gpu-queue"),
    Act("a bare GPU pod that Kueue holds", EDIT, make.gated(BARE)),
    Act("a GPU in an init container", EDIT,
        make.pod(spec(initContainers=[{**gpus(), "name": "first", "restartPolicy": "Always"}])), "gpu-queue"),
    *(
        Act(f"a GPU pod of the {actor}", actor, make.owned(BARE))
        for actor in ("job controller", "replica set controller", "stateful set controller", "training operator")
    ),
    Act("a worker of an MPIJob", "MPI operator", make.owned(BARE)),
    Act("a GPU step of a workflow without a gate", "Argo", make.owned(BARE), "gpu-queue"),
    Act("a GPU step of a workflow", "Argo", make.owned(make.gated(BARE))),
    Act("a GPU ReplicaSet", EDIT, make.replica_set(H100), "gpu-queue"),
    Act("a GPU Deployment", EDIT, make.deployment(H100), "gpu-queue"),
    Act("a queued GPU Deployment", EDIT, make.labelled(make.deployment(H100))),
    Act("a GPU StatefulSet", EDIT, make.stateful_set(H100), "gpu-queue"),
    Act("a GPU LeaderWorkerSet", EDIT, make.leader_worker_set(H100, queued=False), "gpu-queue"),
    Act("a queued LeaderWorkerSet", EDIT, make.leader_worker_set(H100)),
    Act("the GPU Deployment of KServe without a queue", "KServe", make.deployment(H100), "gpu-queue"),
    Act("the GPU StatefulSet of a Server without a queue", "Seldon", make.owned(make.stateful_set(H100)), "gpu-queue"),
    Act("the GPU StatefulSet of a queued Server", "Seldon", make.labelled(make.owned(make.stateful_set(H100)))),
    *(
        Act(f"a {kind} without a queue", EDIT, make.operated(kind, queued=False), "queue-name")
        for kind in ("TFJob", "XGBoostJob", "JAXJob", "MPIJob", "PyTorchJob")
    ),
    *(Act(f"a queued {kind}", EDIT, make.operated(kind)) for kind in ("TFJob", "MPIJob")),
    Act("a ScaledJob without a queue", EDIT, make.scaled_job(queued=False), "queue-name"),
    Act("a queued ScaledJob", EDIT, make.scaled_job()),
    Act("the queue removed from a Job", EDIT, make.labelled(HELD, None), "queue-name", before=HELD, method="PATCH"),
    Act("the queue removed from a Deployment", EDIT, make.labelled(make.deployment(H100, replicas=0), None),
        "gpu-queue", before=make.labelled(make.deployment(H100, replicas=0)), method="PATCH"),
    Act("a held Job resumed", EDIT, make.job(suspend=False), "queue-start", before=HELD, method="PATCH"),
    Act("a held TFJob resumed", EDIT, make.operated("TFJob", suspend=False), "queue-start",
        before=make.operated("TFJob", suspend=True), method="PATCH"),
    Act("the gate removed from a pod", EDIT, {**BARE, "spec": {"schedulingGates": None}}, "queue-start",
        before=make.gated(BARE), method="PATCH"),
    Act("Kueue admits a pod", "Kueue", {**BARE, "spec": {"schedulingGates": None}}, before=make.gated(BARE),
        method="PATCH"),
    Act("Kueue admits a pod older than imageTag", "Kueue", {**BARE, "spec": {"schedulingGates": None}},
        before=make.gated(make.pod(spec(container(image="a")))), method="PATCH"),
)  # fmt: skip
