"""What a member of a team writes into pods."""

from typing import Any, Final

from tests.adversary.objects import annotated, secured, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import container, gpus, on, spec

METADATA: Final = "169.254.169.254"


def volume(**source: Any) -> Object:
    return make.pod(spec(volumes=[{"name": "v", **source}]))


def on_nodes(**term: Any) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def matching(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def tagged(manifest: Object, **labels: str) -> Object:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **labels}}}


ISOLATION: Final = (
    Request("mounts the node's files from a ReplicaSet",
        make.replica_set(spec(volumes=[{"name": "v", "hostPath": {"path": "/", "type": "Directory"}}]))),
    Request("lets the kubelet probe the metadata service", make.pod(
            spec(container(livenessProbe={"httpGet": {"host": METADATA, "port": 80, "path": "/latest/meta-data/"}})))),
    Request("lets the kubelet connect to another address when it starts",
        make.pod(spec(container(lifecycle={"postStart": {"httpGet": {"host": METADATA, "port": 80}}})))),
    Request("lets the kubelet scan the network by TCP",
        make.pod(spec(container(readinessProbe={"tcpSocket": {"host": "10.0.0.1", "port": 5432}})))),
    Request("runs as a host process of Windows", make.pod(spec(container(
                    securityContext={"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}),
                hostNetwork=True))),
    Request("switches AppArmor off", secured(appArmorProfile={"type": "Unconfined"})),
    Request("takes an SELinux type of its own", secured(seLinuxOptions={"type": "spc_t"})),
    Request("forges packets with NET_RAW", secured(capabilities={"add": ["NET_RAW"]})),
    Request("is privileged in an init container",
        make.pod(spec(initContainers=[container(name="first", securityContext={"privileged": True})]))),
    Request("is privileged in a debugging container",
        make.pod({"ephemeralContainers": [container(name="debug", securityContext={"privileged": True})]}),
        subresource="ephemeralcontainers", method="PATCH", before=make.pod()),
    Request("shares the node's network from a StatefulSet's pod template", make.pod(spec(hostNetwork=True)),
        actor="stateful set controller"),
    Request("runs a privileged pod through the ReplicaSet controller", secured(privileged=True),
        actor="replica set controller"),
)  # fmt: skip

VOLUMES: Final = (
    Request("mounts any EBS volume of the account",
        volume(awsElasticBlockStore={"volumeID": "vol-0123456789abcdef0"})),
    Request("mounts a Ceph image with a server of its own", volume(rbd={"monitors": ["10.0.0.1"], "image": "x"})),
    Request("mounts a FlexVolume", volume(flexVolume={"driver": "x/y"})),
    Request("clones a repository on the node (CVE-2024-10220)",
        volume(gitRepo={"repository": "https://example.com/x"})),
    Request("mounts an image without version as a volume",
        volume(image={"reference": "registry.example.com/data:latest"})),
    Request("claims a petabyte with an ephemeral volume", volume(ephemeral={"volumeClaimTemplate": {"spec": {
                        "accessModes": ["ReadWriteOnce"], "storageClassName": "nfs-of-mine",
                        "resources": {"requests": {"storage": "1Pi"}}}}})),
    Request("claims a petabyte in a StatefulSet", make.stateful_set(volumeClaimTemplates=[{"metadata": {"name": "v"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Pi"}}}}])),
    Request("asks the kubelet for a certificate of the API server", volume(projected={"sources": [{"podCertificate": {
                            "signerName": "kubernetes.io/kube-apiserver-client", "keyType": "ED25519",
                            "credentialBundlePath": "x.pem"}}]})),
    Request("asks for all huge pages of a node",
        make.pod(spec(container(resources={"limits": {"hugepages-1Gi": "500Gi", "cpu": "1", "memory": "1Gi"}})))),
    Request("fills the node's disk", make.pod(spec(container(resources={"requests": {"ephemeral-storage": "100Ti"},
                        "limits": {"ephemeral-storage": "100Ti"}})))),
    Request("takes a whole node's CPUs for the pod as a whole",
        make.pod(spec(resources={"requests": {"cpu": "10000"}, "limits": {"cpu": "10000"}}))),
)  # fmt: skip

PLACEMENT: Final = (
    Request("names a node by a field",
        make.pod(spec(affinity=on_nodes(matchFields=[matching("metadata.name", "In", "node-1")])))),
    Request("avoids all nodes but those of the system", make.pod(spec(affinity=on_nodes(matchExpressions=[
                        matching("platform.slipway/role", "NotIn", "general", "training", "inference")])))),
    Request("selects the group of system nodes of EKS",
        make.pod(spec(nodeSelector={"eks.amazonaws.com/nodegroup": "slipway-prod-system"}))),
    Request("selects nodes that no pool labels",
        make.pod(spec(affinity=on_nodes(matchExpressions=[matching("karpenter.sh/nodepool", "DoesNotExist")])))),
    Request("tolerates the pool of others",
        make.pod(spec(tolerations=[{"key": "platform.slipway/pool", "operator": "Exists"}]))),
    Request("stays on a node that the Cluster Autoscaler removes",
        make.deployment(spec(tolerations=[{"key": "ToBeDeletedByClusterAutoscaler", "operator": "Exists"}]))),
    Request("preempts others with a class that does not",
        make.pod(spec(priorityClassName="experiment", preemptionPolicy="PreemptLowerPriority"))),
)  # fmt: skip

QUEUES: Final = (
    Request("says that Kueue holds its parent",
        annotated(make.pod(on("gpu-spot")), **{"kueue.x-k8s.io/pod-suspending-parent": "batch/job"})),
    Request("says that Kueue admitted its pod",
        tagged(make.pod(on("gpu-spot")), **{make.QUEUE: "default", "kueue.x-k8s.io/managed": "true"})),
    Request("asks for GPUs in a debugging container's neighbour", make.pod(
            on("gpu-spot", container(), initContainers=[{**gpus(1), "name": "side", "restartPolicy": "Always"}]))),
    Request("asks for GPUs by requests alone", make.pod(on("gpu-spot",
                container(resources={"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}})))),
    Request("asks for GPUs shared by time", make.pod(on("gpu-spot", gpus(1, "nvidia.com/gpu.shared")))),
    Request("starts its suspended job by its queue", {**thing("batch/v1", "Job"), "spec": {"suspend": False}},
        method="PATCH", before=make.job(suspend=True)),
    Request("uses a workload that was made before",
        tagged(make.job(on("gpu-spot"), suspend=True), **{"kueue.x-k8s.io/prebuilt-workload-name": "small"})),
    Request("gives its job to a controller that nobody runs",
        make.job(on("gpu-spot"), queued=False, managedBy="example.com/mine")),
    Request("bills its pod to another team", tagged(make.pod(), **{"platform.slipway/team": "language"})),
    Request("bills its deployment to another cost center",
        tagged(make.deployment(), **{"platform.slipway/cost-center": "ml-language"})),
    Request("runs an image of a registry with a port and without a version",
        make.pod(spec(container(image="localhost:5000/train")))),
    Request("runs an image without version in a sidecar", make.deployment(
            spec(container(), initContainers=[{"name": "s", "image": "busybox", "restartPolicy": "Always"}]))),
    Request("replaces the image of a pod by one without version",
        {**thing("v1", "Pod"), "spec": {"containers": [{"name": "main", "image": "busybox"}]}}, method="PATCH",
        before=make.pod()),
    Request("removes the gate of Kueue", {**thing("v1", "Pod"), "spec": {"schedulingGates": None}}, method="PATCH",
        before=make.gated(tagged(make.pod(spec(gpus(1))), **{make.QUEUE: "default"}))),
)  # fmt: skip

PODS: Final = (*ISOLATION, *VOLUMES, *PLACEMENT, *QUEUES)
