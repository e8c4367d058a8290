"""What a member of a team makes controllers do."""

from typing import Any, Final

from tests.adversary.independent.pods import tagged
from tests.adversary.objects import annotated, secured, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.samples import container, on, spec

NEVER: Final = 10**9


def runtime(**replicated: Any) -> Object:
    template = {"spec": {"template": {"spec": spec()}, **replicated.pop("job", {})}}
    jobs = [{"name": "node", "template": template, **replicated}]
    return thing("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", spec={"template": {"spec": {
        "replicatedJobs": jobs}}})  # fmt: skip


def merged(manifest: Object, **fields: Any) -> Object:
    return {**manifest, "spec": {**manifest["spec"], **fields}}


def ray_head(**fields: Any) -> Object:
    made = ray.cluster()
    return merged(made, headGroupSpec={**made["spec"]["headGroupSpec"], **fields})


SCALE: Final = (
    Request("starts a Job of 100 pods every minute", merged(
            make.cron_job(parallelism=100, completions=100, activeDeadlineSeconds=86400), schedule="* * * * *",
            concurrencyPolicy="Allow")),
    Request("lets KEDA hold 5000 replicas while it pauses",
        annotated(make.scaled_object(maxReplicaCount=10), **{"autoscaling.keda.sh/paused-replicas": "5000"})),
    Request("gets 5000 replicas from KEDA's operator", {**thing("apps/v1", "Deployment"), "spec": {"replicas": 5000}},
        actor="KEDA", method="PATCH", subresource="scale", before=make.deployment()),
    Request("gets 5000 replicas from the autoscaler", {**thing("apps/v1", "StatefulSet"), "spec": {"replicas": 5000}},
        actor="autoscaler", method="PATCH", subresource="scale", before=make.stateful_set()),
    Request("raises the parallelism of a running Job", {**thing("batch/v1", "Job"), "spec": {"parallelism": 5000}},
        method="PATCH", before=make.job(suspend=True)),
    Request("serves a transformer with 5000 replicas", merged(make.inference_service(maxReplicas=1, model={}),
            transformer={"minReplicas": 5000, "containers": [container()]})),
    Request("routes a graph with 5000 replicas", thing("serving.kserve.io/v1alpha1", "InferenceGraph",
            spec={"minReplicas": 5000, "nodes": {"root": {"routerType": "Sequence", "steps": []}}})),
    Request("trains on 5000 nodes by the runtime", runtime(replicas=5000)),
    Request("runs a step of a workflow 100000 times", merged(make.workflow(), templates=[
                {"name": "all", "steps": [[{"name": "s", "template": "one", "withSequence": {"count": "100000"}}]]}])),
)  # fmt: skip

BOUNDS: Final = (
    Request("locks the mutex of another team's workflows",
        make.workflow(synchronization={"mutexes": [{"name": "release", "namespace": "language-training"}]})),
    Request("extends the deadline of a running Job",
        {**thing("batch/v1", "Job"), "spec": {"activeDeadlineSeconds": NEVER}}, method="PATCH",
        before=make.job(suspend=True)),
)  # fmt: skip

DEPUTIES: Final = (
    Request("takes a Ray head to the outside by its Service",
        ray_head(headService={"spec": {"externalIPs": ["10.0.0.1"], "ports": [{"port": 443}]}})),
    Request("gets a Service with external addresses from KubeRay", make.service(externalIPs=["10.0.0.1"]),
        actor="KubeRay"),
    Request("orders a load balancer for a Ray head", ray_head(serviceType="LoadBalancer")),
    Request("adds externalIPs to a Service that it has",
        {**thing("v1", "Service"), "spec": {"externalIPs": ["172.20.0.1"]}}, method="PATCH", before=make.service()),
    Request("trains with the files of a node by a runtime's override",
        make.pod(spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}])), actor="job controller"),
    Request("patches the pod of a workflow to be privileged", secured(privileged=True), actor="Argo"),
    Request("gets GPUs without a queue from a StatefulSet", make.stateful_set(on("gpu-spot"))),
    Request("adds a data source to Grafana",
        tagged(thing("v1", "ConfigMap", data={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request("replaces a dashboard of the platform",
        tagged(thing("v1", "ConfigMap", data={"slipway-cost.json": "{}"}), grafana_dashboard="1")),
    Request("adds a data source to Grafana by a Secret",
        tagged(thing("v1", "Secret", stringData={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request("lets Prometheus read a key file",
        make.service_monitor(tlsConfig={"keyFile": "/etc/prometheus/certs/x", "certFile": "/etc/x"})),
    Request("reads secrets of the system through its submitter's account",
        merged(ray.selecting(spec(serviceAccountName="kuberay-operator")))),
)  # fmt: skip

LASTING: Final = (
    Request("hands a TrainJob to another cluster", merged(make.train_job(), managedBy="kueue.x-k8s.io/multikueue")),
    Request("keeps a finished Job by a finalizer of its own",
        {**make.job(suspend=True), "metadata": {**make.job()["metadata"], "finalizers": ["example.com/hold"]}}),
    Request("keeps Karpenter from removing the node of a pod",
        annotated(make.pod(), **{"karpenter.sh/do-not-disrupt": "true"})),
    Request("keeps the Cluster Autoscaler from removing the node of a pod",
        annotated(make.pod(), **{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"})),
    Request("runs 5000 replicas of a ReplicationController", thing("v1", "ReplicationController",
            spec={"replicas": 5000, "template": make.deployment()["spec"]["template"]})),
)  # fmt: skip

WORK: Final = (*LASTING, *SCALE, *BOUNDS, *DEPUTIES)
