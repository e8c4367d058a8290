"""What has to go on with every rule, role and limit: work of members, of controllers and of the platform."""

from typing import Final

from tests.adversary.independent.pods import tagged
from tests.adversary.independent.work import merged, runtime
from tests.adversary.objects import OTHER, RBAC, secured, thing
from tests.adversary.probe import ADMINISTRATOR, Object, Request
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.actors import PLATFORM
from tests.components.admission.samples import container, gpus, on, spec

PROMETHEUS: Final = {"type": "prometheus", "metadata": {
    "serverAddress": "http://prometheus.monitoring:9090", "query": "up", "threshold": "1"}}  # fmt: skip


def applies(manifest: Object, actor: str = "edit") -> Request:
    return Request(f"applies a {manifest['kind']}", manifest, actor=actor)


def platform(manifest: Object, namespace: str) -> Request:
    metadata = {**manifest["metadata"], "namespace": namespace}
    return Request(f"installs a {manifest['kind']} in {namespace}", {**manifest, "metadata": metadata}, actor=PLATFORM)


MEMBER: Final = (
    Request("runs a Job that ignores lost nodes and stops within minutes", merged(
            make.job(spec(terminationGracePeriodSeconds=600), suspend=True), podFailurePolicy={"rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]})),
    Request("runs a Job that retries each index",
        merged(make.job(suspend=True), completionMode="Indexed", backoffLimitPerIndex=2)),
    *(applies(manifest) for manifest in (
        make.pod(), make.job(suspend=True), make.cron_job(), make.deployment(replicas=3), make.stateful_set(),
        make.replica_set(), make.job_set(), make.operated("PyTorchJob"), make.operated("TFJob"),
        make.operated("XGBoostJob"), make.operated("JAXJob"), make.mpi_job(), make.train_job(), runtime(),
        make.leader_worker_set(), make.inference_service(minReplicas=1, maxReplicas=5, model={}),
        make.scaled_object(maxReplicaCount=10, triggers=[PROMETHEUS]), make.scaled_job(), make.autoscaler(20),
        make.workflow(), make.workflow("CronWorkflow"), ray.cluster(), ray.job(), ray.service(),
        make.service(), make.service_monitor(interval="30s"),
        thing("v1", "ConfigMap", data={"a": "b"}), thing("v1", "Secret", stringData={"a": "b"}),
        thing("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}),
        thing("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "resources": {
            "requests": {"storage": "10Gi"}}}),
        thing("monitoring.coreos.com/v1", "PodMonitor", spec={
            "selector": {"matchLabels": {"a": "b"}}, "podMetricsEndpoints": [{"port": "metrics", "relabelings": [
                {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}]}]}),
        thing("keda.sh/v1alpha1", "TriggerAuthentication", spec={
            "secretTargetRef": [{"parameter": "token", "name": "it", "key": "a"}]}),
    )),
    Request("trains on GPUs in a queue", make.job(on("h100", gpus(8)), suspend=True)),
    Request("spreads its own pods over nodes", make.deployment(spec(affinity={"podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{
                                "labelSelector": {"matchLabels": {"app": "it"}},
                                "topologyKey": "kubernetes.io/hostname"}]}}))),
    Request("probes its own pod",
        make.deployment(spec(container(readinessProbe={"httpGet": {"port": 8080, "path": "/health"}})))),
    Request("selects a zone", make.pod(spec(nodeSelector={"topology.kubernetes.io/zone": "us-east-1a"}))),
    Request("keeps data in memory and on the node", make.pod(spec(volumes=[
                    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}, {"name": "scratch",
                        "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
                                    "resources": {"requests": {"storage": "100Gi"}}}}}}]))),
    Request("runs as its own account", make.pod(spec(serviceAccountName="workload"))),
    Request("pins an image by digest at a registry with a port",
        make.pod(spec(container(image="registry.example.com:5000/train@sha256:" + "0" * 64)))),
    Request("uses the class of experiments", make.job(spec(priorityClassName="experiment"), suspend=True)),
    Request("scales its deployment", {**thing("apps/v1", "Deployment"), "spec": {"replicas": 3}}, method="PATCH",
        subresource="scale", before=make.deployment()),
    Request("replaces the image of its deployment",
        {**thing("apps/v1", "Deployment"), "metadata": {"name": "it", "annotations": {"a": "b"}}}, method="PATCH",
        before=make.deployment()),
    Request("deletes its own job", thing("batch/v1", "Job"), method="DELETE", before=make.job(suspend=True)),
    Request("evicts its own pod", thing("v1", "Pod"), subresource="eviction", before=make.pod()),
    Request("reads logs of its pods", thing("v1", "Pod"), method="LIST"),
    Request("opens an internal Ingress", make.ingress(scheme="internal"), actor=ADMINISTRATOR),
    Request("gives an account to its work", thing("v1", "ServiceAccount", "mine"), actor=ADMINISTRATOR),
)  # fmt: skip

CONTROLLERS: Final = (
    Request("scales a deployment by its metrics", {**thing("apps/v1", "Deployment"), "spec": {"replicas": 12}},
        actor="autoscaler", method="PATCH", subresource="scale", before=make.deployment()),
    Request("scales a deployment to zero", {**thing("apps/v1", "Deployment"), "spec": {"replicas": 0}}, actor="KEDA",
        method="PATCH", subresource="scale", before=make.deployment()),
    Request("starts a suspended job", {**thing("batch/v1", "Job"), "spec": {"suspend": False}}, actor="Kueue",
        method="PATCH", before=make.job(suspend=True)),
    Request("admits a gated pod",
        {**thing("v1", "Pod"), "spec": {"schedulingGates": None, "nodeSelector": {make.POOL: "h100"}}}, actor="Kueue",
        method="PATCH", before=make.gated(tagged(make.pod(spec(gpus(1))), **{make.QUEUE: "default"}))),
    Request("makes a pod of a queued job",
        tagged(make.owned(make.pod(spec(gpus(4)))), **{make.QUEUE: "default", "batch.kubernetes.io/job-name": "it"}),
        actor="job controller"),
    Request("makes a job of a JobSet", make.owned(make.job(spec(gpus(4)), queued=False, backoffLimit=0)),
        actor="JobSet"),
    Request("evicts a pod of a drained node", thing("v1", "Pod"), actor="node drain", subresource="eviction",
        before=make.pod()),
    Request("removes a finalizer", {**thing("batch/v1", "Job"), "metadata": {"name": "it", "finalizers": None}},
        actor="garbage collector", method="PATCH", before=make.job(suspend=True)),
)  # fmt: skip

ADMINISTRATION: Final = (
    Request("drains a node of a team", thing("v1", "Pod"), actor=PLATFORM, subresource="eviction", before=make.pod()),
    Request("adds a node", thing("v1", "Node", "new", ""), actor=PLATFORM),
    platform(make.deployment(spec(container(image="registry.k8s.io/x:1"), nodeSelector={
        "platform.slipway/role": "system"}, priorityClassName="system-cluster-critical")), "kube-system"),
    platform(make.stateful_set(), "monitoring"),
    platform(make.deployment(), "kueue-system"),
    platform(thing("apps/v1", "DaemonSet", spec={
        "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec(
            container(securityContext={"privileged": True}), hostNetwork=True, restartPolicy="Always",
            tolerations=[{"operator": "Exists"}], volumes=[{"name": "v", "hostPath": {"path": "/dev"}}])}}),
        "gpu-operator"),
    Request("runs a privileged pod for the GPU driver",
        {**secured(privileged=True), "metadata": {"name": "it", "namespace": "gpu-operator"}}, actor=PLATFORM),
    Request("installs a job of a chart for a team",
        {**make.job(suspend=True), "metadata": {"name": "it", "namespace": OTHER, "labels": {make.QUEUE: "default"}}},
        actor=PLATFORM),
    Request("binds a role for a team", thing(RBAC, "RoleBinding",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "slipway-team-view"},
            subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "x"}]), actor=PLATFORM),
    Request("raises the size of a job's batch", merged(thing("batch/v1", "Job", spec={}), parallelism=2),
        actor=PLATFORM, method="PATCH", before=make.job(suspend=True)),
)  # fmt: skip

LEGITIMATE: Final = (*MEMBER, *CONTROLLERS, *ADMINISTRATION)
