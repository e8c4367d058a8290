"""Examples of the documentation of controllers, as a member of a team applies them: nothing may refuse them.

From the pages of Kueue ("Run a Kubernetes Job", "Run Plain Pods", "Elastic Workloads"), JobSet, Kubeflow Trainer,
KubeRay, LeaderWorkerSet, KEDA (each trigger's page), the AWS Load Balancer Controller ("Ingress annotations"), KServe
and Argo.
"""

import json
from typing import Any, Final

from tests.adversary.independent.deputies import authentication, measured, triggered
from tests.adversary.independent.exposure import ALB, turns, with_action
from tests.adversary.independent.platform import hosted
from tests.adversary.independent.pods import tagged
from tests.adversary.independent.queueing import K, later, patched, patches, templated, trains, waiting
from tests.adversary.independent.work import merged
from tests.adversary.objects import annotated, thing
from tests.adversary.probe import ADMINISTRATOR, Object, Request
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.samples import QUEUE, container, gpus, on, spec

SMALL: Final = container(
    image="registry.k8s.io/e2e-test-images/agnhost:2.53", args=["entrypoint-tester", "hello", "world"],
    resources={"requests": {"cpu": "1", "memory": "200Mi"}})  # fmt: skip
SERVER: Final = "http://prometheus.monitoring:9090"


def member(what: str, manifest: Object, **labels: str) -> Request:
    return Request(f"example: {what}", tagged(manifest, **labels))


def visited(what: str, **notes: str) -> Request:
    manifest = hosted(make.ingress(**{"scheme": "internal", "target-type": "ip", **notes}), ingressClassName="alb")
    return Request(f"example: {what}", manifest, actor=ADMINISTRATOR)


def acting(what: str, action: Any, **notes: str) -> Request:
    made = with_action(action)
    own = {f"{ALB}{key}": value for key, value in notes.items()}
    annotations = {**made["metadata"]["annotations"], **own}
    return Request(f"example: {what}", annotated(made, **annotations), actor=ADMINISTRATOR)


def model(**predictor: Any) -> Object:
    of = {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://models/sklearn/1.0/model"}
    return make.inference_service(**{"model": of, "maxReplicas": 2, **predictor})


QUEUED: Final = (
    member("sample-job", make.job(spec(SMALL), suspend=True, parallelism=3, completions=3)),
    member("sample-job with a priority", make.job(spec(SMALL), suspend=True), **{f"{K}priority-class": "experiment"}),
    member("sample-job with a longest time", make.job(spec(SMALL), suspend=True), **{
        f"{K}max-exec-time-seconds": "3600"}),
    member("sample-job-partial-admission", annotated(
        make.job(spec(SMALL), suspend=True, parallelism=20, completions=20), **{f"{K}job-min-parallelism": "5"})),
    member("sample-elastic-job", annotated(
        make.job(spec(SMALL), suspend=True, parallelism=3), **{f"{K}elastic-job": "true"})),
    member("tas-sample-job", templated(make.job(on("h100", gpus(8)), suspend=True), annotations={
        f"{K}podset-required-topology": "topology.kubernetes.io/zone"})),
    member("tas-sample-job with slices", templated(make.job(on("h100"), suspend=True), annotations={
        f"{K}podset-preferred-topology": "kubernetes.io/hostname", f"{K}podset-slice-size": "2",
        f"{K}podset-slice-required-topology": "kubernetes.io/hostname"})),
    member("kueue-pod", make.pod(spec(SMALL)), **{QUEUE: "default"}),
    member("pod that waits for GPUs", waiting()),
    member("sample-deployment", make.deployment(spec(SMALL), replicas=3), **{QUEUE: "default"}),
    member("deployment with a GPU in a queue", make.deployment(on("h100")), **{QUEUE: "default"}),
    member("sample-statefulset", make.stateful_set(spec(SMALL), replicas=3), **{QUEUE: "default"}),
    member("sample-cronjob", make.cron_job(spec(SMALL))),
    patches("example: lowers the priority of its job", make.job(suspend=True), labels={
        f"{K}priority-class": "experiment"}),
    Request("example: suspends its job", {**later(make.job()), "spec": {"suspend": True}}, method="PATCH",
        before=make.job(suspend=False)),
)  # fmt: skip

TRAINED: Final = (
    member("jobset coordinator and success policy", make.job_set(
        on("h100"), coordinator={"replicatedJob": "node", "jobIndex": 0, "podIndex": 0},
        successPolicy={"operator": "All", "targetReplicatedJobs": ["node"]}, failurePolicy={"maxRestarts": 3},
        network={"enableDNSHostnames": True, "publishNotReadyAddresses": True})),
    member("jobset in order", merged(make.job_set(), startupPolicy={"startupPolicyOrder": "InOrder"})),
    member("leaderworkerset with a leader and exclusive placement", annotated(make.leader_worker_set(
        replicas=2, rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": {
            "maxUnavailable": 1, "maxSurge": 1}}, leaderWorkerTemplate={
                "size": 4, "restartPolicy": "RecreateGroupOnPodRestart", "leaderTemplate": {"spec": spec(SMALL)},
                "workerTemplate": {"spec": on("h100")}}), **{
                    "leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"})),
    member("trainjob of pytorch", trains(runtimeRef={"name": "torch-distributed"}, trainer={
        "numNodes": 2, "numProcPerNode": 8, "image": "registry.example.com/team/train:1.2.3",
        "command": ["torchrun", "train.py"], "env": [{"name": "A", "value": "b"}],
        "resourcesPerNode": {"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}})),
    member("trainjob with initializers", trains(initializer={
        "dataset": {"storageUri": "hf://tatsu-lab/alpaca"},
        "model": {"storageUri": "hf://meta-llama/Llama-3.2-1B-Instruct", "secretRef": {"name": "it"}}})),
    member("trainjob with a patch", patched({"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {
        "template": {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "it"}}],
                              "nodeSelector": {make.POOL: "cpu"}, "containers": [{
                                  "name": "node", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}}}}]}})),
    member("rayjob-sample", merged(ray.job(ttlSecondsAfterFinished=600), submissionMode="K8sJobMode",
                                   runtimeEnvYAML="pip:\n  - requests==2.32.3\n")),
    member("raycluster with an autoscaler", annotated(
        ray.cluster(autoscaled=True, minReplicas=1, maxReplicas=4), **{f"{K}elastic-job": "true"})),
    member("rayservice-sample", merged(ray.service(), serveConfigV2="applications: []\n")),
)  # fmt: skip

SCALED: Final = (
    member("keda prometheus", triggered("prometheus", serverAddress=SERVER, query="sum(rate(http_requests_total[2m]))",
            threshold="100.50", activationThreshold="5.5", ignoreNullValues="false")),
    member("keda cpu", make.scaled_object(maxReplicaCount=10, triggers=[
        {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}}])),
    member("keda memory of one container", make.scaled_object(maxReplicaCount=10, triggers=[
        {"type": "memory", "metricType": "AverageValue", "metadata": {"value": "1Gi", "containerName": "main"}}])),
    member("keda cron", triggered(
        "cron", timezone="Asia/Kolkata", start="30 * * * *", end="45 * * * *", desiredReplicas="2")),
    member("keda kubernetes workload", triggered(
        "kubernetes-workload", podSelector="app=backend, deploy notin (critical, monolith)", value="0.5")),
    member("keda behaviour and fallback", merged(triggered(
        "prometheus", serverAddress=SERVER, query="up", threshold="1"), pollingInterval=30, cooldownPeriod=300,
        idleReplicaCount=0, minReplicaCount=1, fallback={"failureThreshold": 3, "replicas": 2},
        advanced={"restoreToOriginalReplicaCount": True, "horizontalPodAutoscalerConfig": {"behavior": {
            "scaleDown": {"stabilizationWindowSeconds": 300}}}})),
    member("keda jobs by prometheus", merged(make.scaled_job(), pollingInterval=30, successfulJobsHistoryLimit=5,
            failedJobsHistoryLimit=5, scalingStrategy={"strategy": "accurate"}, rollout={"strategy": "gradual"},
            triggers=[{"type": "prometheus", "metadata": {"serverAddress": SERVER, "query": "up", "threshold": "1"}}])),
    member("keda authentication by a secret", authentication(secretTargetRef=[
        {"parameter": "username", "name": "it", "key": "user"}, {"parameter": "password", "name": "it", "key": "b"}])),
    member("keda paused", annotated(triggered("cron", timezone="UTC", start="0 8 * * *", end="0 18 * * *",
                                              desiredReplicas="2"), **{"autoscaling.keda.sh/paused": "true"})),
)  # fmt: skip

SERVED: Final = (
    visited("ingress with health checks and timeouts", **{
        "healthcheck-path": "/ping", "healthcheck-interval-seconds": "10", "healthcheck-timeout-seconds": "8",
        "healthcheck-protocol": "HTTP", "healthcheck-port": "traffic-port", "healthy-threshold-count": "2",
        "unhealthy-threshold-count": "2", "success-codes": "200-300",
        "load-balancer-attributes": "idle_timeout.timeout_seconds=600",
        "target-group-attributes": "deregistration_delay.timeout_seconds=30,stickiness.enabled=true"}),
    visited("ingress with ports and a redirect", **{
        "listen-ports": '[{"HTTP": 80}, {"HTTPS": 443}]', "ssl-redirect": "443"}),
    visited("ingress of gRPC", **{"backend-protocol-version": "GRPC", "backend-protocol": "HTTP"}),
    acting("ingress with a fixed response", {"type": "fixed-response", "fixedResponseConfig": {
        "contentType": "text/plain", "statusCode": "503", "messageBody": "503 error text"}}),
    acting("ingress with weights", {"type": "forward", "forwardConfig": {"targetGroups": [
        {"serviceName": "service-1", "servicePort": "http", "weight": 20},
        {"serviceName": "service-2", "servicePort": 80, "weight": 80}],
        "targetGroupStickinessConfig": {"enabled": True, "durationSeconds": 200}}}),
    acting("ingress with a condition", {"type": "fixed-response", "fixedResponseConfig": {
        "contentType": "text/plain", "statusCode": "200", "messageBody": "ok"}}, **{"conditions.it": json.dumps([
            {"field": "http-header", "httpHeaderConfig": {"httpHeaderName": "HeaderName", "values": ["a"]}}])}),
    turns("example: changes the health check of its Ingress", make.ingress(scheme="internal"), metadata={
        "annotations": {f"{ALB}healthcheck-path": "/healthz"}}),
    member("service with a health check", annotated(make.service(), **{f"{ALB}healthcheck-path": "/ping"})),
    member("inference service with a canary", model(canaryTrafficPercent=10, minReplicas=1, maxReplicas=3)),
    member("inference service of a large model", make.inference_service(maxReplicas=2, minReplicas=1, model={
        "modelFormat": {"name": "huggingface"}, "args": ["--model_name=llama3"],
        "storageUri": "hf://meta-llama/meta-llama-3-8b-instruct",
        "resources": {"limits": {"cpu": "6", "memory": "24Gi", "nvidia.com/gpu": "1"}}},
        nodeSelector={make.POOL: "h100"}, tolerations=on("h100")["tolerations"]), **{QUEUE: "default"}),
    member("inference service scaled by its CPU", annotated(model(
        minReplicas=1, maxReplicas=5, scaleTarget=80, scaleMetric="cpu"), **{
            "serving.kserve.io/autoscalerClass": "hpa"})),
    member("inference service scaled by Prometheus", measured("external", {
        "backend": "prometheus", "serverAddress": SERVER, "query": "vllm:num_requests_running"})),
    member("inference service in the cluster only, with scraping", annotated(model(), **{
        "serving.kserve.io/enable-prometheus-scraping": "true", "prometheus.kserve.io/port": "8080"}), **{
            "networking.kserve.io/visibility": "cluster-local"}),
    member("inference service with a health check of its load balancer", annotated(model(), **{
        f"{ALB}healthcheck-path": "/v2/health/ready", f"{ALB}success-codes": "200"})),
    member("inference service with a transformer, a logger and a batcher", merged(model(
        logger={"mode": "all", "url": "http://message-dumper.vision-training"},
        batcher={"maxBatchSize": 32, "maxLatency": 500}), transformer={
            "minReplicas": 1, "maxReplicas": 2, "containers": [container(name="kserve-container")]})),
    member("inference graph that splits", thing("serving.kserve.io/v1alpha1", "InferenceGraph", spec={
        "minReplicas": 1, "maxReplicas": 2, "nodes": {"root": {"routerType": "Splitter", "steps": [
            {"serviceName": "a", "weight": 20}, {"serviceName": "b", "weight": 80}]}}})),
    member("serving runtime", {**thing("serving.kserve.io/v1alpha1", "ServingRuntime", spec={
        "supportedModelFormats": [{"name": "sklearn", "version": "1", "autoSelect": True}],
        "protocolVersions": ["v1"], "containers": [container(name="kserve-container", resources={
            "requests": {"cpu": "1", "memory": "2Gi"}})]}), "metadata": {"name": "it"}}),
)  # fmt: skip

WORKFLOWS: Final = (
    member("hello-world", make.workflow(entrypoint="x", templates=[{"name": "x", "container": SMALL}])),
    member("artifact passing and retries", make.workflow(entrypoint="x", templates=[{
        "name": "x", "retryStrategy": {"limit": "3", "retryPolicy": "OnFailure"}, "container": container(),
        "outputs": {"artifacts": [{"name": "a", "path": "/data/a", "s3": {"key": "a.tgz"}}]}}])),
    member("a step on a GPU", make.workflow(entrypoint="x", templates=[{
        "name": "x", "metadata": {"labels": {QUEUE: "default"}}, "container": gpus(1), "nodeSelector": {
            make.POOL: "h100"}, "tolerations": on("h100")["tolerations"]}])),
    member("scrapes its own service", make.service_monitor(
        interval="30s", path="/metrics", scheme="http", metricRelabelings=[
            {"sourceLabels": ["__name__"], "regex": "go_.*", "action": "drop"}])),
)  # fmt: skip

EXAMPLES: Final = (*QUEUED, *TRAINED, *SCALED, *SERVED, *WORKFLOWS)
