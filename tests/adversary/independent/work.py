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


def two_jobs(count: int) -> Object:
    made = make.job_set()
    (job,) = made["spec"]["replicatedJobs"]
    return merged(made, replicatedJobs=[{**job, "name": name, "replicas": count} for name in ("a", "b")])


def operated_as(role: str, replicas: int = 5000) -> Object:
    made = make.operated("PyTorchJob")
    worker = made["spec"]["pytorchReplicaSpecs"]["Worker"]
    return merged(made, pytorchReplicaSpecs={role: {**worker, "replicas": replicas}})


SCALE: Final = (
    Request("multiplies jobs of a JobSet by their parallelism", merged(make.job_set(parallelism=50),
            replicatedJobs=[{**make.job_set(parallelism=50)["spec"]["replicatedJobs"][0], "replicas": 50}])),
    Request("adds up the jobs of a JobSet", two_jobs(90)),
    Request("multiplies groups by their size",
        make.leader_worker_set(replicas=50, leaderWorkerTemplate={"size": 50, "workerTemplate": {"spec": spec()}})),
    Request("multiplies the jobs of KEDA by their parallelism", make.scaled_job(maximum=100, parallelism=100)),
    Request("starts a Job of 100 pods every minute", merged(
            make.cron_job(parallelism=100, completions=100, activeDeadlineSeconds=86400), schedule="* * * * *",
            concurrencyPolicy="Allow")),
    Request("surges to 1000 pods", make.deployment(replicas=100,
            strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "900%", "maxUnavailable": 0}})),
    Request("scales by the first version of the autoscaler", thing("autoscaling/v1", "HorizontalPodAutoscaler", spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"},
                "maxReplicas": 5000})),
    Request("lets KEDA hold 5000 replicas while it pauses",
        annotated(make.scaled_object(maxReplicaCount=10), **{"autoscaling.keda.sh/paused-replicas": "5000"})),
    Request("gets 5000 replicas from KEDA's operator", {**thing("apps/v1", "Deployment"), "spec": {"replicas": 5000}},
        actor="KEDA", method="PATCH", subresource="scale", before=make.deployment()),
    Request("gets 5000 replicas from the autoscaler", {**thing("apps/v1", "StatefulSet"), "spec": {"replicas": 5000}},
        actor="autoscaler", method="PATCH", subresource="scale", before=make.stateful_set()),
    Request("raises the parallelism of a running Job", {**thing("batch/v1", "Job"), "spec": {"parallelism": 5000}},
        method="PATCH", before=make.job(suspend=True)),
    Request("serves with 5000 replicas",
        make.inference_service(minReplicas=1, maxReplicas=5000, model={"modelFormat": {"name": "x"}})),
    Request("serves a transformer with 5000 replicas", merged(make.inference_service(maxReplicas=1, model={}),
            transformer={"minReplicas": 5000, "containers": [container()]})),
    Request("routes a graph with 5000 replicas", thing("serving.kserve.io/v1alpha1", "InferenceGraph",
            spec={"minReplicas": 5000, "nodes": {"root": {"routerType": "Sequence", "steps": []}}})),
    Request("trains on 5000 nodes by the runtime", runtime(replicas=5000)),
    Request("trains on 5000 nodes by the policy of the runtime", merged(runtime(), mlPolicy={"numNodes": 5000})),
    Request("trains with 5000 masters", operated_as("Master")),
    Request("writes the role of the replicas in small letters", operated_as("worker")),
    Request("takes 100 hosts for each of 100 Ray workers", ray.cluster(replicas=100, numOfHosts=100)),
    Request("scales Ray in its own tree to 5000", ray.cluster(autoscaled=True, maxReplicas=5000)),
    Request("runs a step of a workflow 100000 times", merged(make.workflow(), templates=[
                {"name": "all", "steps": [[{"name": "s", "template": "one", "withSequence": {"count": "100000"}}]]}])),
)  # fmt: skip

BOUNDS: Final = (
    Request("restarts a JobSet a billion times", make.job_set(failurePolicy={"maxRestarts": NEVER})),
    Request("restarts a JobSet without counting", merged(make.job_set(),
            failurePolicy={"maxRestarts": 1, "rules": [{"name": "all", "action": "RestartJobSetAndIgnoreMaxRestarts"}]},
            replicatedJobs=[{"name": "node", "template": {"spec": {"template": {"spec": spec()}}}}])),
    Request("submits a Ray job a billion times", ray.job(backoffLimit=NEVER)),
    Request("keeps a finished Ray job for years", ray.job(ttlSecondsAfterFinished=NEVER)),
    Request("lets a PyTorchJob retry a billion times", make.operated("PyTorchJob", backoffLimit=NEVER)),
    Request("lets a TrainJob run for years", make.train_job(deadline=NEVER)),
    Request("lets a workflow retry by an expression", make.workflow(
            templates=[{"name": "x", "retryStrategy": {"limit": "{{=1000000000}}"}, "container": container()}])),
    Request("lets the steps of a workflow last by an expression", make.workflow(activeDeadlineSeconds=None,
            templates=[{"name": "x", "activeDeadlineSeconds": "{{=99999999}}", "container": container()}])),
    Request("takes a workflow from the whole cluster",
        make.workflow(activeDeadlineSeconds=None, workflowTemplateRef={"name": "x", "clusterScope": True})),
    Request("locks the mutex of another team's workflows",
        make.workflow(synchronization={"mutexes": [{"name": "release", "namespace": "language-training"}]})),
    Request("keeps 100000 finished Jobs of a CronJob",
        merged(make.cron_job(), successfulJobsHistoryLimit=100000, failedJobsHistoryLimit=100000)),
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
    Request("uses KEDA's own identity at AWS", make.scaled_object(maxReplicaCount=2, triggers=[{"type": "aws-sqs-queue",
                    "metadata": {"queueURL": "https://sqs.us-east-1.amazonaws.com/1/language", "awsRegion": "us-east-1",
                        "identityOwner": "operator"}}])),
    Request("lets KEDA assume a role", thing("keda.sh/v1alpha1", "TriggerAuthentication",
            spec={"podIdentity": {"provider": "aws", "roleArn": "arn:aws:iam::444455556666:role/karpenter"}})),
    Request("lets KEDA ask the metadata service", make.scaled_object(maxReplicaCount=2, triggers=[{
                    "type": "metrics-api", "metadata": {"url": "http://169.254.170.23/v1/credentials",
                        "targetValue": "1", "valueLocation": "x"}}])),
    Request("adds a data source to Grafana",
        tagged(thing("v1", "ConfigMap", data={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request("replaces a dashboard of the platform",
        tagged(thing("v1", "ConfigMap", data={"slipway-cost.json": "{}"}), grafana_dashboard="1")),
    Request("adds a data source to Grafana by a Secret",
        tagged(thing("v1", "Secret", stringData={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request("scrapes the pods of all teams", thing("monitoring.coreos.com/v1", "PodMonitor",
            spec={"namespaceSelector": {"any": True}, "selector": {}, "podMetricsEndpoints": [{"port": "metrics"}]})),
    Request("forges metrics of another team", merged(make.service_monitor(honorLabels=True), endpoints=[{"port": "http",
                    "honorLabels": True,
                    "metricRelabelings": [{"targetLabel": "namespace", "replacement": "language-training"}]}])),
    Request("lets Prometheus ask the metadata service", thing("monitoring.coreos.com/v1", "PodMonitor", spec={
                "selector": {}, "podMetricsEndpoints": [{"port": "m",
                        "relabelings": [{"targetLabel": "__address__", "replacement": "169.254.169.254:80"}]}]})),
    Request("overwhelms Prometheus each millisecond", make.service_monitor(interval="1ms")),
    Request("lets Prometheus read a key file",
        make.service_monitor(tlsConfig={"keyFile": "/etc/prometheus/certs/x", "certFile": "/etc/x"})),
    Request("reads secrets of the system through its submitter's account",
        merged(ray.selecting(spec(serviceAccountName="kuberay-operator")))),
)  # fmt: skip

STOPPED: Final = spec(terminationGracePeriodSeconds=10_000_000)
LASTING: Final = (
    Request("hands a Job to a controller that nobody runs",
        merged(make.job(suspend=True), managedBy="example.com/nobody")),
    Request("hands a JobSet to a controller that nobody runs", make.job_set(managedBy="example.com/nobody")),
    Request("hands a TrainJob to another cluster", merged(make.train_job(), managedBy="kueue.x-k8s.io/multikueue")),
    Request("outlives the deadline of its Job by a grace of months", make.job(STOPPED, suspend=True)),
    Request("outlives the deadline of its workers by a grace of months", make.pytorch_job(STOPPED)),
    Request("retries each index of a Job a million times",
        merged(make.job(suspend=True), completionMode="Indexed", backoffLimitPerIndex=1_000_000)),
    Request("ignores every failure of a Job", merged(make.job(suspend=True),
            podFailurePolicy={"rules": [{"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [0]}}]})),
    Request("keeps a finished Job by a finalizer of its own",
        {**make.job(suspend=True), "metadata": {**make.job()["metadata"], "finalizers": ["example.com/hold"]}}),
    Request("keeps Karpenter from removing the node of a pod",
        annotated(make.pod(), **{"karpenter.sh/do-not-disrupt": "true"})),
    Request("keeps the Cluster Autoscaler from removing the node of a pod",
        annotated(make.pod(), **{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"})),
    Request("falls back to 5000 replicas", make.scaled_object(fallback={"failureThreshold": 1, "replicas": 5000})),
    Request("runs 5000 replicas of a ReplicationController", thing("v1", "ReplicationController",
            spec={"replicas": 5000, "template": make.deployment()["spec"]["template"]})),
    Request("retries a step of a workflow without end", merged(make.workflow(),
            templates=[{"name": "main", "retryStrategy": {"retryPolicy": "Always"}, "container": container()}])),
)  # fmt: skip

WORK: Final = (*LASTING, *SCALE, *BOUNDS, *DEPUTIES)
