"""Acts about bounds, other pools, volumes and traffic: who does what, and which rule refuses it."""

from collections.abc import Mapping
from typing import Final

from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT, Act
from tests.components.admission.samples import Object, container, on, spec

DECADE: Final = 10 * 365 * 86400
REFERENCE: Final = {"name": "it"}
RUN: Final = {"retryStrategy": {"limit": "3"}, "name": "run"}
ENDLESS: Final = {"retryStrategy": {}, "name": "run"}
RESTARTING: Final = {"spec": {"failurePolicy": {"maxRestarts": 1000}, "replicatedJobs": []}}
RUNTIME: Final = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "it"},
    "spec": {"template": RESTARTING},
}
SMALL: Final = make.deployment(spec(container()), replicas=0)
ELASTIC: Final = make.operated("PyTorchJob")

LONG: Final[Mapping[str, Object]] = {
    field: {field: DECADE} for field in ("activeDeadlineSeconds", "ttlSecondsAfterFinished")
}
UNSET: Final[Mapping[str, Object]] = {field: {field: None} for field in make.POLICY}

BOUNDS: Final = (
    *(
        Act(what=f"a Job with a {field} of ten years", actor=EDIT, manifest=make.job(**bounds), rule="job-bounds")
        for field, bounds in LONG.items()
    ),
    *(
        Act(what=f"a {kind} without {field}", actor=EDIT, manifest=make.operated(kind, **missing), rule="job-bounds")
        for kind in ("PyTorchJob", "TFJob", "MPIJob")
        for field, missing in UNSET.items()
    ),
    Act(what="a TrainJob of ten years", actor=EDIT, manifest=make.train_job(deadline=DECADE), rule="job-bounds"),
    Act(what="a TrainJob", actor=EDIT, manifest=make.train_job()),
    Act(what="a runtime of 1000 restarts", actor=EDIT, manifest=RUNTIME, rule="job-bounds"),
    Act(
        what="a ScaledJob without deadline",
        actor=EDIT,
        manifest=make.scaled_job(activeDeadlineSeconds=None),
        rule="job-bounds",
    ),
    *(
        Act(
            what=f"a {kind} without deadline",
            actor=EDIT,
            manifest=make.workflow(kind, activeDeadlineSeconds=None),
            rule="job-bounds",
        )
        for kind in ("Workflow", "CronWorkflow", "WorkflowTemplate")
    ),
    Act(what="a step retried forever", actor=EDIT, manifest=make.workflow(templates=[ENDLESS]), rule="job-bounds"),
    Act(what="a step retried 3 times", actor=EDIT, manifest=make.workflow(templates=[RUN])),
    Act(
        what="a workflow of a template",
        actor=EDIT,
        manifest=make.workflow(activeDeadlineSeconds=None, workflowTemplateRef=REFERENCE),
    ),
    Act(
        what="5000 replicas by kubectl scale",
        actor=EDIT,
        before=SMALL,
        method="PATCH",
        manifest={**SMALL, "spec": {"replicas": 5000}},
        subresource="scale",
        rule="scale-bounds",
    ),
    *(
        Act(
            what="an autoscaler scales",
            actor=actor,
            before=SMALL,
            method="PATCH",
            manifest={**SMALL, "spec": {"replicas": 90}},
            subresource="scale",
        )
        for actor in ("autoscaler", "KEDA", EDIT)
    ),
    Act(what="a ReplicaSet of 500 pods", actor=EDIT, manifest=make.replica_set(replicas=500), rule="scale-bounds"),
    Act(
        what="a LeaderWorkerSet of 60 groups of 2",
        actor=EDIT,
        manifest=make.leader_worker_set(replicas=60),
        rule="scale-bounds",
    ),
    Act(what="a TFJob of 500 pods", actor=EDIT, manifest=make.operated("TFJob", replicas=500), rule="scale-bounds"),
    Act(
        what="an elastic PyTorchJob of 500 pods",
        actor=EDIT,
        manifest={**ELASTIC, "spec": {**ELASTIC["spec"], "elasticPolicy": {"maxReplicas": 500}}},
        rule="scale-bounds",
    ),
    Act(what="a TrainJob of 500 nodes", actor=EDIT, manifest=make.train_job(nodes=500), rule="scale-bounds"),
    Act(what="a ScaledJob of 500 Jobs", actor=EDIT, manifest=make.scaled_job(maximum=500), rule="scale-bounds"),
    Act(what="a CronJob of 500 pods", actor=EDIT, manifest=make.cron_job(parallelism=500), rule="scale-bounds"),
)

ROLE: Final = "platform.slipway/role"
HOSTILE: Final = {"name": "nfs", "nfs": {"server": "10.0.0.1", "path": "/"}}
CLAIMED: Final = {"name": "data", "persistentVolumeClaim": {"claimName": "checkpoints"}}
SYSTEM: Final = {"key": ROLE, "operator": "In", "values": ["system"]}
AFFINITY: Final = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [SYSTEM]}]}
    }
}
CHOSEN: Final = {
    "all tolerations": spec(tolerations=[{"operator": "Exists"}]),
    "a toleration of system nodes": spec(tolerations=[{"key": "CriticalAddonsOnly", "operator": "Exists"}]),
    "the system nodes": spec(nodeSelector={ROLE: "system"}),
    "the system nodes by affinity": spec(affinity=AFFINITY),
    "a node by name": spec(nodeName="node-1"),
    "the H100 pool without a GPU": on("h100", container()),
}
PUBLIC: Final = {"scheme": "internet-facing"}
TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
MODEL: Final = make.inference_service(maxReplicas=2)
KSERVE_INGRESS: Final = make.ingress()
KSERVE_INGRESS["spec"]["ingressClassName"] = "models"

ISOLATION: Final = (
    *(
        Act(what=f"a pod of {name}", actor=EDIT, manifest=make.pod(spec(priorityClassName=name)), rule="priority-class")
        for name in ("system-node-critical", "system-cluster-critical")
    ),
    Act(
        what="a Deployment of system-node-critical",
        actor=EDIT,
        manifest=make.deployment(spec(priorityClassName="system-node-critical")),
        rule="priority-class",
    ),
    Act(what="a pod of the platform's class", actor=EDIT, manifest=make.pod(spec(priorityClassName="experiment"))),
    *(
        Act(what=f"a pod that asks for {name}", actor=EDIT, manifest=make.pod(body), rule="node-selection")
        for name, body in CHOSEN.items()
    ),
    Act(
        what="a Job on system nodes",
        actor=EDIT,
        manifest=make.job(spec(nodeSelector={ROLE: "system"})),
        rule="node-selection",
    ),
    Act(
        what="the launcher's pod of an MPIJob",
        actor="job controller",
        manifest=make.owned(make.pod(on("h100", container()))),
    ),
    Act(what="an nfs volume", actor=EDIT, manifest=make.pod(spec(volumes=[HOSTILE])), rule="volume-sources"),
    Act(what="an nfs volume of a Job", actor=EDIT, manifest=make.job(spec(volumes=[HOSTILE])), rule="volume-sources"),
    Act(what="a volume claim", actor=EDIT, manifest=make.pod(spec(volumes=[CLAIMED]))),
    Act(
        what="a Service with externalIPs",
        actor=EDIT,
        manifest=make.service(externalIPs=["8.8.8.8"]),
        rule="external-ips",
    ),
    Act(what="a Service", actor=EDIT, manifest=make.service()),
    Act(what="an Ingress to the internet", actor=ADMIN, manifest=make.ingress(**PUBLIC), rule="ingress-scope"),
    Act(
        what="an Ingress in a foreign group",
        actor=ADMIN,
        manifest=make.ingress(**{"group.name": "models"}),
        rule="ingress-scope",
    ),
    Act(what="an Ingress of KServe's class", actor=ADMIN, manifest=KSERVE_INGRESS, rule="ingress-scope"),
    Act(what="the Ingress of a model", actor="KServe", manifest=KSERVE_INGRESS),
    Act(what="an internal Ingress", actor=ADMIN, manifest=make.ingress(scheme="internal")),
    Act(
        what="a model in a foreign group",
        actor=EDIT,
        manifest=make.noted(MODEL, "group.name", "language"),
        rule="ingress-scope",
    ),
    Act(
        what="an Ingress opened later",
        actor=ADMIN,
        before=make.ingress(),
        method="PATCH",
        manifest=make.ingress(**PUBLIC),
        rule="ingress-scope",
    ),
    Act(
        what="a ServiceMonitor with Prometheus' token",
        actor=EDIT,
        manifest=make.service_monitor(bearerTokenFile=TOKEN),
        rule="monitor-files",
    ),
    Act(what="a ServiceMonitor", actor=EDIT, manifest=make.service_monitor()),
    Act(
        what="a privileged image in an ephemeral container",
        actor="node drain",
        before=make.pod(),
        method="PATCH",
        manifest={**make.pod(), "spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox:latest"}]}},
        subresource="ephemeralcontainers",
        rule="image-tag",
    ),
    Act(
        what="a pod evicted from a drained node",
        actor="node drain",
        before=make.pod(),
        manifest={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "it"}},
        subresource="eviction",
    ),
)
