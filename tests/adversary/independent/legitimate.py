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
    return Request(act=f"applies a {manifest['kind']}", actor=actor, manifest=manifest)


def platform(manifest: Object, namespace: str) -> Request:
    metadata = {**manifest["metadata"], "namespace": namespace}
    return Request(
        act=f"installs a {manifest['kind']} in {namespace}", actor=PLATFORM, manifest={**manifest, "metadata": metadata}
    )


MEMBER: Final = (
    Request(act="runs a Job that ignores lost nodes and stops within minutes", manifest=merged(
        make.job(spec(terminationGracePeriodSeconds=600), suspend=True), podFailurePolicy={
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]})),
    Request(act="runs a Job that retries each index", manifest=merged(
        make.job(suspend=True), completionMode="Indexed", backoffLimitPerIndex=2)),
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
    Request(act="trains on GPUs in a queue", manifest=make.job(on("h100", gpus(8)), suspend=True)),
    Request(act="spreads its own pods over nodes", manifest=make.deployment(spec(affinity={"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": {"matchLabels": {"app": "it"}}, "topologyKey": "kubernetes.io/hostname"}]}}))),
    Request(act="probes its own pod", manifest=make.deployment(spec(container(
        readinessProbe={"httpGet": {"port": 8080, "path": "/health"}})))),
    Request(act="selects a zone", manifest=make.pod(spec(nodeSelector={
        "topology.kubernetes.io/zone": "us-east-1a"}))),
    Request(act="keeps data in memory and on the node", manifest=make.pod(spec(volumes=[
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}}}}}]))),
    Request(act="runs as its own account", manifest=make.pod(spec(serviceAccountName="workload"))),
    Request(act="pins an image by digest at a registry with a port", manifest=make.pod(spec(container(
        image="registry.example.com:5000/train@sha256:" + "0" * 64)))),
    Request(act="uses the class of experiments", manifest=make.job(
        spec(priorityClassName="experiment"), suspend=True)),
    Request(act="scales its deployment", method="PATCH", subresource="scale", before=make.deployment(),
            manifest={**thing("apps/v1", "Deployment"), "spec": {"replicas": 3}}),
    Request(act="replaces the image of its deployment", method="PATCH", before=make.deployment(),
            manifest={**thing("apps/v1", "Deployment"), "metadata": {"name": "it", "annotations": {"a": "b"}}}),
    Request(act="deletes its own job", method="DELETE", before=make.job(suspend=True),
            manifest=thing("batch/v1", "Job")),
    Request(act="evicts its own pod", subresource="eviction", before=make.pod(), manifest=thing("v1", "Pod")),
    Request(act="reads logs of its pods", method="LIST", manifest=thing("v1", "Pod")),
    Request(act="opens an internal Ingress", actor=ADMINISTRATOR, manifest=make.ingress(scheme="internal")),
    Request(act="gives an account to its work", actor=ADMINISTRATOR, manifest=thing("v1", "ServiceAccount", "mine")),
)  # fmt: skip

CONTROLLERS: Final = (
    Request(act="scales a deployment by its metrics", actor="autoscaler", method="PATCH", subresource="scale",
            before=make.deployment(), manifest={**thing("apps/v1", "Deployment"), "spec": {"replicas": 12}}),
    Request(act="scales a deployment to zero", actor="KEDA", method="PATCH", subresource="scale",
            before=make.deployment(), manifest={**thing("apps/v1", "Deployment"), "spec": {"replicas": 0}}),
    Request(act="starts a suspended job", actor="Kueue", method="PATCH", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "spec": {"suspend": False}}),
    Request(act="admits a gated pod", actor="Kueue", method="PATCH", before=make.gated(tagged(
        make.pod(spec(gpus(1))), **{make.QUEUE: "default"})),
            manifest={**thing("v1", "Pod"), "spec": {"schedulingGates": None, "nodeSelector": {
                make.POOL: "h100"}}}),
    Request(act="makes a pod of a queued job", actor="job controller", manifest=tagged(make.owned(
        make.pod(spec(gpus(4)))), **{make.QUEUE: "default", "batch.kubernetes.io/job-name": "it"})),
    Request(act="makes a job of a JobSet", actor="JobSet", manifest=make.owned(
        make.job(spec(gpus(4)), queued=False, backoffLimit=0))),
    Request(act="evicts a pod of a drained node", actor="node drain", subresource="eviction", before=make.pod(),
            manifest=thing("v1", "Pod")),
    Request(act="removes a finalizer", actor="garbage collector", method="PATCH", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "metadata": {"name": "it", "finalizers": None}}),
)  # fmt: skip

ADMINISTRATION: Final = (
    Request(act="drains a node of a team", actor=PLATFORM, subresource="eviction", before=make.pod(),
            manifest=thing("v1", "Pod")),
    Request(act="adds a node", actor=PLATFORM, manifest=thing("v1", "Node", "new", "")),
    platform(make.deployment(spec(container(image="registry.k8s.io/x:1"), nodeSelector={
        "platform.slipway/role": "system"}, priorityClassName="system-cluster-critical")), "kube-system"),
    platform(make.stateful_set(), "monitoring"),
    platform(make.deployment(), "kueue-system"),
    platform(thing("apps/v1", "DaemonSet", spec={
        "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec(
            container(securityContext={"privileged": True}), hostNetwork=True, restartPolicy="Always",
            tolerations=[{"operator": "Exists"}], volumes=[{"name": "v", "hostPath": {"path": "/dev"}}])}}),
        "gpu-operator"),
    Request(act="runs a privileged pod for the GPU driver", actor=PLATFORM, manifest={
        **secured(privileged=True), "metadata": {"name": "it", "namespace": "gpu-operator"}}),
    Request(act="installs a job of a chart for a team", actor=PLATFORM, manifest={
        **make.job(suspend=True), "metadata": {"name": "it", "namespace": OTHER, "labels": {make.QUEUE: "default"}}}),
    Request(act="binds a role for a team", actor=PLATFORM, manifest=thing(RBAC, "RoleBinding", roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "slipway-team-view"}, subjects=[
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "x"}])),
    Request(act="raises the size of a job's batch", actor=PLATFORM, method="PATCH", before=make.job(suspend=True),
            manifest=merged(thing("batch/v1", "Job", spec={}), parallelism=2)),
)  # fmt: skip

LEGITIMATE: Final = (*MEMBER, *CONTROLLERS, *ADMINISTRATION)
