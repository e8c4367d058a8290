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
        Act(f"a Job with a {field} of ten years", EDIT, make.job(**bounds), "job-bounds")
        for field, bounds in LONG.items()
    ),
    *(
        Act(f"a {kind} without {field}", EDIT, make.operated(kind, **missing), "job-bounds")
        for kind in ("PyTorchJob", "TFJob", "MPIJob")
        for field, missing in UNSET.items()
    ),
    Act("a TrainJob of ten years", EDIT, make.train_job(deadline=DECADE), "job-bounds"),
    Act("a TrainJob", EDIT, make.train_job()),
    Act("a runtime of 1000 restarts", EDIT, RUNTIME, "job-bounds"),
    Act("a ScaledJob without deadline", EDIT, make.scaled_job(activeDeadlineSeconds=None), "job-bounds"),
    *(
        Act(f"a {kind} without deadline", EDIT, make.workflow(kind, activeDeadlineSeconds=None), "job-bounds")
        for kind in ("Workflow", "CronWorkflow", "WorkflowTemplate")
    ),
    Act("a step retried forever", EDIT, make.workflow(templates=[ENDLESS]), "job-bounds"),
    Act("a step retried 3 times", EDIT, make.workflow(templates=[RUN])),
    Act("a workflow of a template", EDIT, make.workflow(activeDeadlineSeconds=None, workflowTemplateRef=REFERENCE)),
    Act("5000 replicas by kubectl scale", EDIT, {**SMALL, "spec": {"replicas": 5000}}, "scale-bounds", before=SMALL,
        method="PATCH", subresource="scale"),
    *(
        Act(
            "an autoscaler scales",
            actor,
            {**SMALL, "spec": {"replicas": 90}},
            before=SMALL,
            method="PATCH",
            subresource="scale",
        )
        for actor in ("autoscaler", "KEDA", EDIT)
    ),
    Act("a ReplicaSet of 500 pods", EDIT, make.replica_set(replicas=500), "scale-bounds"),
    Act("a LeaderWorkerSet of 60 groups of 2", EDIT, make.leader_worker_set(replicas=60), "scale-bounds"),
    Act("a TFJob of 500 pods", EDIT, make.operated("TFJob", replicas=500), "scale-bounds"),
    Act("an elastic PyTorchJob of 500 pods", EDIT,
        {**ELASTIC, "spec": {**ELASTIC["spec"], "elasticPolicy": {"maxReplicas": 500}}}, "scale-bounds"),
    Act("a TrainJob of 500 nodes", EDIT, make.train_job(nodes=500), "scale-bounds"),
    Act("a ScaledJob of 500 Jobs", EDIT, make.scaled_job(maximum=500), "scale-bounds"),
    Act("a CronJob of 500 pods", EDIT, make.cron_job(parallelism=500), "scale-bounds"),
)  # fmt: skip

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
        Act(f"a pod of {name}", EDIT, make.pod(spec(priorityClassName=name)), "priority-class")
        for name in ("system-node-critical", "system-cluster-critical")
    ),
    Act("a Deployment of system-node-critical", EDIT, make.deployment(spec(priorityClassName="system-node-critical")),
        "priority-class"),
    Act("a pod of the platform's class", EDIT, make.pod(spec(priorityClassName="experiment"))),
    *(Act(f"a pod that asks for {name}", EDIT, make.pod(body), "node-selection") for name, body in CHOSEN.items()),
    Act("a Job on system nodes", EDIT, make.job(spec(nodeSelector={ROLE: "system"})), "node-selection"),
    Act("the launcher's pod of an MPIJob", "job controller", make.owned(make.pod(on("h100", container())))),
    Act("an nfs volume", EDIT, make.pod(spec(volumes=[HOSTILE])), "volume-sources"),
    Act("an nfs volume of a Job", EDIT, make.job(spec(volumes=[HOSTILE])), "volume-sources"),
    Act("a volume claim", EDIT, make.pod(spec(volumes=[CLAIMED]))),
    Act("a Service with externalIPs", EDIT, make.service(externalIPs=["8.8.8.8"]), "external-ips"),
    Act("a Service", EDIT, make.service()),
    Act("an Ingress of KServe's class", ADMIN, KSERVE_INGRESS, "ingress-scope"),
    Act("the Ingress of a model", "KServe", KSERVE_INGRESS),
    Act("an internal Ingress", ADMIN, make.ingress(scheme="internal")),
    Act("a model in a foreign group", EDIT, make.noted(MODEL, "group.name", "language"), "ingress-scope"),
    Act("an Ingress opened later", ADMIN, make.ingress(**PUBLIC), "ingress-scope", before=make.ingress(),
        method="PATCH"),
    Act("a ServiceMonitor with Prometheus' token", EDIT, make.service_monitor(bearerTokenFile=TOKEN), "monitor-files"),
    Act("a ServiceMonitor", EDIT, make.service_monitor()),
    Act("a privileged image in an ephemeral container", "node drain",
        {**make.pod(), "spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox:latest"}]}}, "image-tag",
        before=make.pod(), method="PATCH", subresource="ephemeralcontainers"),
    Act("a pod evicted from a drained node", "node drain",
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "it"}}, before=make.pod(),
        subresource="eviction"),
)  # fmt: skip
