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
    Request(act="multiplies jobs of a JobSet by their parallelism", manifest=merged(
        make.job_set(parallelism=50), replicatedJobs=[
            {**make.job_set(parallelism=50)["spec"]["replicatedJobs"][0], "replicas": 50}])),
    Request(act="adds up the jobs of a JobSet", manifest=two_jobs(90)),
    Request(act="multiplies groups by their size", manifest=make.leader_worker_set(
        replicas=50, leaderWorkerTemplate={"size": 50, "workerTemplate": {"spec": spec()}})),
    Request(act="multiplies the jobs of KEDA by their parallelism", manifest=make.scaled_job(
        maximum=100, parallelism=100)),
    Request(act="starts a Job of 100 pods every minute", manifest=merged(
        make.cron_job(parallelism=100, completions=100, activeDeadlineSeconds=86400),
        schedule="* * * * *", concurrencyPolicy="Allow")),
    Request(act="surges to 1000 pods", manifest=make.deployment(
        replicas=100, strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "900%", "maxUnavailable": 0}})),
    Request(act="scales by the first version of the autoscaler", manifest=thing(
        "autoscaling/v1", "HorizontalPodAutoscaler", spec={
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"}, "maxReplicas": 5000})),
    Request(act="lets KEDA hold 5000 replicas while it pauses", manifest=annotated(
        make.scaled_object(maxReplicaCount=10), **{"autoscaling.keda.sh/paused-replicas": "5000"})),
    Request(act="gets 5000 replicas from KEDA's operator", actor="KEDA", method="PATCH", subresource="scale",
            before=make.deployment(), manifest={**thing("apps/v1", "Deployment"), "spec": {"replicas": 5000}}),
    Request(act="gets 5000 replicas from the autoscaler", actor="autoscaler", method="PATCH", subresource="scale",
            before=make.stateful_set(), manifest={**thing("apps/v1", "StatefulSet"), "spec": {"replicas": 5000}}),
    Request(act="raises the parallelism of a running Job", method="PATCH", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "spec": {"parallelism": 5000}}),
    Request(act="serves with 5000 replicas", manifest=make.inference_service(
        minReplicas=1, maxReplicas=5000, model={"modelFormat": {"name": "x"}})),
    Request(act="serves a transformer with 5000 replicas", manifest=merged(make.inference_service(
        maxReplicas=1, model={}), transformer={"minReplicas": 5000, "containers": [container()]})),
    Request(act="routes a graph with 5000 replicas", manifest=thing(
        "serving.kserve.io/v1alpha1", "InferenceGraph", spec={
            "minReplicas": 5000, "nodes": {"root": {"routerType": "Sequence", "steps": []}}})),
    Request(act="trains on 5000 nodes by the runtime", manifest=runtime(replicas=5000)),
    Request(act="trains on 5000 nodes by the policy of the runtime", manifest=merged(
        runtime(), mlPolicy={"numNodes": 5000})),
    Request(act="trains with 5000 masters", manifest=operated_as("Master")),
    Request(act="writes the role of the replicas in small letters", manifest=operated_as("worker")),
    Request(act="takes 100 hosts for each of 100 Ray workers", manifest=ray.cluster(replicas=100, numOfHosts=100)),
    Request(act="scales Ray in its own tree to 5000", manifest=ray.cluster(autoscaled=True, maxReplicas=5000)),
    Request(act="runs a step of a workflow 100000 times", manifest=merged(make.workflow(), templates=[
        {"name": "all", "steps": [[{"name": "s", "template": "one", "withSequence": {"count": "100000"}}]]}])),
)  # fmt: skip

BOUNDS: Final = (
    Request(act="restarts a JobSet a billion times", manifest=make.job_set(failurePolicy={"maxRestarts": NEVER})),
    Request(act="restarts a JobSet without counting", manifest=merged(make.job_set(), failurePolicy={
        "maxRestarts": 1, "rules": [{"name": "all", "action": "RestartJobSetAndIgnoreMaxRestarts"}]},
        replicatedJobs=[{"name": "node", "template": {"spec": {"template": {"spec": spec()}}}}])),
    Request(act="submits a Ray job a billion times", manifest=ray.job(backoffLimit=NEVER)),
    Request(act="keeps a finished Ray job for years", manifest=ray.job(ttlSecondsAfterFinished=NEVER)),
    Request(act="lets a PyTorchJob retry a billion times", manifest=make.operated("PyTorchJob", backoffLimit=NEVER)),
    Request(act="lets a TrainJob run for years", manifest=make.train_job(deadline=NEVER)),
    Request(act="lets a workflow retry by an expression", manifest=make.workflow(templates=[
        {"name": "x", "retryStrategy": {"limit": "{{=1000000000}}"}, "container": container()}])),
    Request(act="lets the steps of a workflow last by an expression", manifest=make.workflow(
        activeDeadlineSeconds=None, templates=[{"name": "x", "activeDeadlineSeconds": "{{=99999999}}",
                                                "container": container()}])),
    Request(act="takes a workflow from the whole cluster", manifest=make.workflow(
        activeDeadlineSeconds=None, workflowTemplateRef={"name": "x", "clusterScope": True})),
    Request(act="locks the mutex of another team's workflows", manifest=make.workflow(
        synchronization={"mutexes": [{"name": "release", "namespace": "language-training"}]})),
    Request(act="keeps 100000 finished Jobs of a CronJob", manifest=merged(
        make.cron_job(), successfulJobsHistoryLimit=100000, failedJobsHistoryLimit=100000)),
    Request(act="extends the deadline of a running Job", method="PATCH", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "spec": {"activeDeadlineSeconds": NEVER}}),
)  # fmt: skip

DEPUTIES: Final = (
    Request(act="takes a Ray head to the outside by its Service", manifest=ray_head(
        headService={"spec": {"externalIPs": ["10.0.0.1"], "ports": [{"port": 443}]}})),
    Request(act="gets a Service with external addresses from KubeRay", actor="KubeRay",
            manifest=make.service(externalIPs=["10.0.0.1"])),
    Request(act="orders a load balancer for a Ray head", manifest=ray_head(serviceType="LoadBalancer")),
    Request(act="adds externalIPs to a Service that it has", method="PATCH", before=make.service(),
            manifest={**thing("v1", "Service"), "spec": {"externalIPs": ["172.20.0.1"]}}),
    Request(act="trains with the files of a node by a runtime's override", actor="job controller",
            manifest=make.pod(spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}]))),
    Request(act="patches the pod of a workflow to be privileged", actor="Argo", manifest=secured(privileged=True)),
    Request(act="gets GPUs without a queue from a StatefulSet", manifest=make.stateful_set(on("gpu-spot"))),
    Request(act="uses KEDA's own identity at AWS", manifest=make.scaled_object(maxReplicaCount=2, triggers=[{
        "type": "aws-sqs-queue", "metadata": {"queueURL": "https://sqs.us-east-1.amazonaws.com/1/language",
                                              "awsRegion": "us-east-1", "identityOwner": "operator"}}])),
    Request(act="lets KEDA assume a role", manifest=thing("keda.sh/v1alpha1", "TriggerAuthentication", spec={
        "podIdentity": {"provider": "aws", "roleArn": "arn:aws:iam::444455556666:role/karpenter"}})),
    Request(act="lets KEDA ask the metadata service", manifest=make.scaled_object(maxReplicaCount=2, triggers=[{
        "type": "metrics-api", "metadata": {"url": "http://169.254.170.23/v1/credentials", "targetValue": "1",
                                            "valueLocation": "x"}}])),
    Request(act="adds a data source to Grafana", manifest=tagged(
        thing("v1", "ConfigMap", data={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request(act="replaces a dashboard of the platform", manifest=tagged(
        thing("v1", "ConfigMap", data={"slipway-cost.json": "{}"}), grafana_dashboard="1")),
    Request(act="adds a data source to Grafana by a Secret", manifest=tagged(
        thing("v1", "Secret", stringData={"x.yaml": "apiVersion: 1"}), grafana_datasource="1")),
    Request(act="scrapes the pods of all teams", manifest=thing("monitoring.coreos.com/v1", "PodMonitor", spec={
        "namespaceSelector": {"any": True}, "selector": {}, "podMetricsEndpoints": [{"port": "metrics"}]})),
    Request(act="forges metrics of another team", manifest=merged(make.service_monitor(honorLabels=True), endpoints=[{
        "port": "http", "honorLabels": True, "metricRelabelings": [
            {"targetLabel": "namespace", "replacement": "language-training"}]}])),
    Request(act="lets Prometheus ask the metadata service", manifest=thing(
        "monitoring.coreos.com/v1", "PodMonitor", spec={"selector": {}, "podMetricsEndpoints": [
            {"port": "m", "relabelings": [{"targetLabel": "__address__", "replacement": "169.254.169.254:80"}]}]})),
    Request(act="overwhelms Prometheus each millisecond", manifest=make.service_monitor(interval="1ms")),
    Request(act="lets Prometheus read a key file", manifest=make.service_monitor(
        tlsConfig={"keyFile": "/etc/prometheus/certs/x", "certFile": "/etc/x"})),
    Request(act="reads secrets of the system through its submitter's account", manifest=merged(
        ray.selecting(spec(serviceAccountName="kuberay-operator")))),
)  # fmt: skip

STOPPED: Final = spec(terminationGracePeriodSeconds=10_000_000)
LASTING: Final = (
    Request(act="hands a Job to a controller that nobody runs", manifest=merged(
        make.job(suspend=True), managedBy="example.com/nobody")),
    Request(act="hands a JobSet to a controller that nobody runs", manifest=make.job_set(
        managedBy="example.com/nobody")),
    Request(act="hands a TrainJob to another cluster", manifest=merged(
        make.train_job(), managedBy="kueue.x-k8s.io/multikueue")),
    Request(act="outlives the deadline of its Job by a grace of months", manifest=make.job(STOPPED, suspend=True)),
    Request(act="outlives the deadline of its workers by a grace of months", manifest=make.pytorch_job(STOPPED)),
    Request(act="retries each index of a Job a million times", manifest=merged(
        make.job(suspend=True), completionMode="Indexed", backoffLimitPerIndex=1_000_000)),
    Request(act="ignores every failure of a Job", manifest=merged(make.job(suspend=True), podFailurePolicy={
        "rules": [{"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [0]}}]})),
    Request(act="keeps a finished Job by a finalizer of its own", manifest={
        **make.job(suspend=True), "metadata": {**make.job()["metadata"], "finalizers": ["example.com/hold"]}}),
    Request(act="keeps Karpenter from removing the node of a pod", manifest=annotated(
        make.pod(), **{"karpenter.sh/do-not-disrupt": "true"})),
    Request(act="keeps the Cluster Autoscaler from removing the node of a pod", manifest=annotated(
        make.pod(), **{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"})),
    Request(act="falls back to 5000 replicas", manifest=make.scaled_object(
        fallback={"failureThreshold": 1, "replicas": 5000})),
    Request(act="runs 5000 replicas of a ReplicationController", manifest=thing(
        "v1", "ReplicationController", spec={"replicas": 5000, "template": make.deployment()["spec"]["template"]})),
    Request(act="retries a step of a workflow without end", manifest=merged(make.workflow(), templates=[{
        "name": "main", "retryStrategy": {"retryPolicy": "Always"}, "container": container()}])),
)  # fmt: skip

WORK: Final = (*LASTING, *SCALE, *BOUNDS, *DEPUTIES)
