"""What a member of a team writes into pods."""

from typing import Any, Final

from tests.adversary.objects import annotated, secured, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import GPU_TAINT, container, gpus, on, spec

ZONE: Final = "topology.kubernetes.io/zone"
METADATA: Final = "169.254.169.254"


def volume(**source: Any) -> Object:
    return make.pod(spec(volumes=[{"name": "v", **source}]))


def repelling(topology: str = ZONE, **who: Any) -> Object:
    term = {"labelSelector": {}, "topologyKey": topology, **who}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def on_nodes(**term: Any) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def matching(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def tagged(manifest: Object, **labels: str) -> Object:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **labels}}}


ISOLATION: Final = (
    Request(act="mounts the node's files from a ReplicaSet", manifest=make.replica_set(
        spec(volumes=[{"name": "v", "hostPath": {"path": "/", "type": "Directory"}}]))),
    Request(act="lets the kubelet probe the metadata service", manifest=make.pod(spec(container(
        livenessProbe={"httpGet": {"host": METADATA, "port": 80, "path": "/latest/meta-data/"}})))),
    Request(act="lets the kubelet connect to another address when it starts", manifest=make.pod(spec(container(
        lifecycle={"postStart": {"httpGet": {"host": METADATA, "port": 80}}})))),
    Request(act="lets the kubelet scan the network by TCP", manifest=make.pod(spec(container(
        readinessProbe={"tcpSocket": {"host": "10.0.0.1", "port": 5432}})))),
    Request(act="runs as a host process of Windows", manifest=make.pod(spec(container(securityContext={
        "windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}), hostNetwork=True))),
    Request(act="switches AppArmor off", manifest=secured(appArmorProfile={"type": "Unconfined"})),
    Request(act="takes an SELinux type of its own", manifest=secured(seLinuxOptions={"type": "spc_t"})),
    Request(act="forges packets with NET_RAW", manifest=secured(capabilities={"add": ["NET_RAW"]})),
    Request(act="is privileged in an init container", manifest=make.pod(spec(
        initContainers=[container(name="first", securityContext={"privileged": True})]))),
    Request(act="is privileged in a debugging container", subresource="ephemeralcontainers", method="PATCH",
            before=make.pod(), manifest=make.pod({"ephemeralContainers": [
                container(name="debug", securityContext={"privileged": True})]})),
    Request(act="shares the node's network from a StatefulSet's pod template", actor="stateful set controller",
            manifest=make.pod(spec(hostNetwork=True))),
    Request(act="runs a privileged pod through the ReplicaSet controller", actor="replica set controller",
            manifest=secured(privileged=True)),
)  # fmt: skip

VOLUMES: Final = (
    Request(act="mounts any EBS volume of the account", manifest=volume(
        awsElasticBlockStore={"volumeID": "vol-0123456789abcdef0"})),
    Request(act="mounts a Ceph image with a server of its own", manifest=volume(
        rbd={"monitors": ["10.0.0.1"], "image": "x"})),
    Request(act="mounts a FlexVolume", manifest=volume(flexVolume={"driver": "x/y"})),
    Request(act="clones a repository on the node (CVE-2024-10220)", manifest=volume(
        gitRepo={"repository": "https://example.com/x"})),
    Request(act="mounts an image without version as a volume", manifest=volume(
        image={"reference": "registry.example.com/data:latest"})),
    Request(act="claims a petabyte with an ephemeral volume", manifest=volume(ephemeral={"volumeClaimTemplate": {
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "nfs-of-mine",
                 "resources": {"requests": {"storage": "1Pi"}}}}})),
    Request(act="claims a petabyte in a StatefulSet", manifest=make.stateful_set(volumeClaimTemplates=[{
        "metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {
            "requests": {"storage": "1Pi"}}}}])),
    Request(act="asks the kubelet for a certificate of the API server", manifest=volume(projected={"sources": [
        {"podCertificate": {"signerName": "kubernetes.io/kube-apiserver-client", "keyType": "ED25519",
                            "credentialBundlePath": "x.pem"}}]})),
    Request(act="asks for all huge pages of a node", manifest=make.pod(spec(container(resources={
        "limits": {"hugepages-1Gi": "500Gi", "cpu": "1", "memory": "1Gi"}})))),
    Request(act="fills the node's disk", manifest=make.pod(spec(container(resources={
        "requests": {"ephemeral-storage": "100Ti"}, "limits": {"ephemeral-storage": "100Ti"}})))),
    Request(act="takes a whole node's CPUs for the pod as a whole", manifest=make.pod(spec(
        resources={"requests": {"cpu": "10000"}, "limits": {"cpu": "10000"}}))),
)  # fmt: skip

PLACEMENT: Final = (
    Request(act="keeps every other pod out of a zone", manifest=make.pod(spec(
        affinity=repelling(namespaceSelector={})))),
    Request(act="keeps every other pod out of the cluster", manifest=make.deployment(spec(
        affinity=repelling("kubernetes.io/os", namespaceSelector={})))),
    Request(act="keeps another team off its nodes", manifest=make.job(spec(
        affinity=repelling("kubernetes.io/hostname", namespaces=["language-training"])), suspend=True)),
    Request(act="names a node by a field", manifest=make.pod(spec(affinity=on_nodes(
        matchFields=[matching("metadata.name", "In", "node-1")])))),
    Request(act="names a node by its host name", manifest=make.pod(spec(
        nodeSelector={"kubernetes.io/hostname": "node-1"}))),
    Request(act="prefers the nodes of the system", manifest=make.pod(spec(affinity={"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": {"matchExpressions": [
            matching("platform.slipway/role", "In", "system")]}}]}}))),
    Request(act="avoids all nodes but those of the system", manifest=make.pod(spec(affinity=on_nodes(
        matchExpressions=[matching("platform.slipway/role", "NotIn", "general", "training", "inference")])))),
    Request(act="selects the group of system nodes of EKS", manifest=make.pod(spec(
        nodeSelector={"eks.amazonaws.com/nodegroup": "slipway-prod-system"}))),
    Request(act="selects nodes that no pool labels", manifest=make.pod(spec(affinity=on_nodes(
        matchExpressions=[matching("karpenter.sh/nodepool", "DoesNotExist")])))),
    Request(act="tolerates every taint of one effect", manifest=make.pod(spec(
        tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]))),
    Request(act="tolerates the pool of others", manifest=make.pod(spec(
        tolerations=[{"key": "platform.slipway/pool", "operator": "Exists"}]))),
    Request(act="tolerates the taint of system nodes", manifest=make.pod(spec(
        tolerations=[{"key": "CriticalAddonsOnly", "operator": "Exists"}]))),
    Request(act="stays on a node that the Cluster Autoscaler removes", manifest=make.deployment(spec(
        tolerations=[{"key": "ToBeDeletedByClusterAutoscaler", "operator": "Exists"}]))),
    Request(act="hides the GPU toleration in a deployment without GPUs", manifest=make.deployment(spec(
        tolerations=[GPU_TAINT]))),
    Request(act="preempts others with a class that does not", manifest=make.pod(spec(
        priorityClassName="experiment", preemptionPolicy="PreemptLowerPriority"))),
    Request(act="serves with a class its namespace does not have", manifest=make.deployment(spec(
        priorityClassName="production-inference"))),
    Request(act="trains with a system class in a LeaderWorkerSet", manifest=make.leader_worker_set(spec(
        priorityClassName="system-cluster-critical"))),
)  # fmt: skip

QUEUES: Final = (
    Request(act="says that Kueue holds its parent", manifest=annotated(
        make.pod(on("gpu-spot")), **{"kueue.x-k8s.io/pod-suspending-parent": "batch/job"})),
    Request(act="says that Kueue admitted its pod", manifest=tagged(
        make.pod(on("gpu-spot")), **{make.QUEUE: "default", "kueue.x-k8s.io/managed": "true"})),
    Request(act="asks for GPUs in a debugging container's neighbour", manifest=make.pod(on(
        "gpu-spot", container(), initContainers=[{**gpus(1), "name": "side", "restartPolicy": "Always"}]))),
    Request(act="asks for GPUs by requests alone", manifest=make.pod(on("gpu-spot", container(
        resources={"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}})))),
    Request(act="asks for GPUs shared by time", manifest=make.pod(on("gpu-spot", gpus(1, "nvidia.com/gpu.shared")))),
    Request(act="starts its suspended job by its queue", method="PATCH", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "spec": {"suspend": False}}),
    Request(act="uses a workload that was made before", manifest=tagged(
        make.job(on("gpu-spot"), suspend=True), **{"kueue.x-k8s.io/prebuilt-workload-name": "small"})),
    Request(act="gives its job to a controller that nobody runs", manifest=make.job(
        on("gpu-spot"), queued=False, managedBy="example.com/mine")),
    Request(act="bills its pod to another team", manifest=tagged(
        make.pod(), **{"platform.slipway/team": "language"})),
    Request(act="bills its deployment to another cost center", manifest=tagged(
        make.deployment(), **{"platform.slipway/cost-center": "ml-language"})),
    Request(act="runs an image of a registry with a port and without a version", manifest=make.pod(spec(
        container(image="localhost:5000/train")))),
    Request(act="runs an image without version in a sidecar", manifest=make.deployment(spec(
        container(), initContainers=[{"name": "s", "image": "busybox", "restartPolicy": "Always"}]))),
    Request(act="replaces the image of a pod by one without version", method="PATCH", before=make.pod(),
            manifest={**thing("v1", "Pod"), "spec": {"containers": [{"name": "main", "image": "busybox"}]}}),
    Request(act="removes the gate of Kueue", method="PATCH", before=make.gated(tagged(
        make.pod(spec(gpus(1))), **{make.QUEUE: "default"})),
            manifest={**thing("v1", "Pod"), "spec": {"schedulingGates": None}}),
)  # fmt: skip

PODS: Final = (*ISOLATION, *VOLUMES, *PLACEMENT, *QUEUES)
