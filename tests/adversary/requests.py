"""What a member of a team tries in the cluster."""

from typing import Final

from tests.adversary.objects import (
    ALL,
    GUARD,
    HERE,
    OTHER,
    RBAC,
    annotated,
    secured,
    thing,
)
from tests.adversary.probe import ADMINISTRATOR, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import GPU_TAINT, container, gpus, spec
from tests.support.cases import beside

ACCEPTED: Final = (
    Request("unmasks /proc in a user namespace",
        make.pod(spec(container(securityContext={"procMount": "Unmasked"}), hostUsers=False)),
        accepted="the level baseline allows it there: the kernel isolates the pod's user (UserNamespacesSupport)"),
    Request("ends after three years", make.pod(spec(terminationGracePeriodSeconds=10**8))),
    Request("has a scheduler of its own", make.pod(spec(schedulerName="mine"))),
    Request("opens its egress as an administrator", thing("networking.k8s.io/v1", "NetworkPolicy",
            spec={"podSelector": {}, "egress": [{}], "policyTypes": ["Egress"]}), actor=ADMINISTRATOR,
        accepted="the role admin exists for it; security groups still apply"),
    Request("reads a Secret of its own by an empty patch", thing("v1", "Secret", "own"), method="PATCH",
        before=thing("v1", "Secret", "own", stringData={"a": "b"}),
        accepted="whoever creates pods there can mount it"),
    Request("makes a Secret with a token of its own service account", {
            **annotated(thing("v1", "Secret"), **{"kubernetes.io/service-account.name": "default"}),
            "type": "kubernetes.io/service-account-token"}),
    Request("names another team's host as a Service",
        make.service(type="ExternalName", externalName="grafana.monitoring.svc.cluster.local", ports=None)),
    Request("gives each of forty small pods a node of its own", make.deployment(
            spec(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
                "labelSelector": {"matchLabels": {"app": "it"}}, "topologyKey": "kubernetes.io/hostname"}]}}),
            replicas=40),
        accepted="replicas are spread so to survive a node; `max` of the pool and the quota of pods bound it"),
)  # fmt: skip
"""What a member of a team may do, with the reason, which docs/security.md gives as well."""

PERMISSIONS: Final = (
    Request("binds the role admin", thing(RBAC, "RoleBinding",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
            subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "slipway:vision:edit"}])),
    Request("creates a role for everything", thing(RBAC, "Role", rules=[ALL])),
    Request("creates a cluster role", thing(RBAC, "ClusterRole", namespace="", rules=[ALL])),
    Request("widens the role of its team", thing(RBAC, "ClusterRole", "slipway-team-edit", "", rules=[ALL]),
        method="PATCH"),
    Request("relabels its namespace as privileged", {"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": HERE, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}},
        method="PATCH"),
    Request("creates a namespace", thing("v1", "Namespace", "mine", "")),
    Request("deletes its quota", thing("v1", "ResourceQuota", "team"), method="DELETE"),
    Request("deletes its limits", thing("v1", "LimitRange", "team"), method="DELETE"),
    Request("raises its quota", thing("v1", "ResourceQuota", "team", spec={"hard": {}}), method="PATCH"),
    Request("deletes an admission policy", thing(GUARD, "ValidatingAdmissionPolicy", "slipway-gpu-queue", ""),
        method="DELETE"),
    Request("binds an admission policy to nothing",
        thing(GUARD, "ValidatingAdmissionPolicyBinding", "slipway-gpu-queue", "", spec={"matchResources": None}),
        method="PATCH"),
    Request("registers a webhook", thing(GUARD, "MutatingWebhookConfiguration", namespace="", webhooks=[])),
    Request("reads its Secrets", thing("v1", "Secret"), method="LIST"),
    Request("reads Secrets of the system", thing("v1", "Secret", namespace="kube-system"), method="LIST"),
    Request("lists pods of another team", thing("v1", "Pod", namespace=OTHER), method="LIST"),
    Request("runs a pod in another team's namespace", {**make.pod(), "metadata": {"name": "it", "namespace": OTHER}}),
    Request("asks for a token of a service account",
        {**thing("v1", "ServiceAccount", "default"), "spec": {"audiences": ["sts.amazonaws.com"]}},
        subresource="token"),
    Request("creates a service account", thing("v1", "ServiceAccount")),
    Request("names a role of releases for its account", annotated(thing("v1", "ServiceAccount"),
            **{"eks.amazonaws.com/role-arn": "arn:aws:iam::444455556666:role/ml-release"}), actor=ADMINISTRATOR),
    Request("cordons a node", thing("v1", "Node", "n", "", spec={"unschedulable": True}), method="PATCH"),
    Request("lists nodes' secrets through the proxy", thing("v1", "Node", "n", ""), method="GET",
        subresource="proxy/pods"),
    Request("creates a node", thing("v1", "Node", "n", "")),
    Request("asks for a certificate of the system", thing("certificates.k8s.io/v1", "CertificateSigningRequest",
            namespace="",
            spec={"request": "", "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]})),
    Request("takes the lease of a controller",
        thing("coordination.k8s.io/v1", "Lease", "kube-controller-manager", "kube-system", spec={}), method="PATCH"),
    Request("creates a priority class", thing("scheduling.k8s.io/v1", "PriorityClass", namespace="", value=1000)),
    Request("creates a volume of a node's files", thing("v1", "PersistentVolume", namespace="",
            spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}})),
    Request("creates a storage class", thing("storage.k8s.io/v1", "StorageClass", namespace="", provisioner="x")),
    Request("writes the endpoints of a Service (CVE-2021-25740)",
        thing("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[])),
    Request("points its Service at another address", thing("v1", "Endpoints", subsets=[])),
    Request("binds a pod to a node by itself",
        thing("v1", "Binding", target={"apiVersion": "v1", "kind": "Node", "name": "n"})),
    Request("gives its pod another address, for the proxy", {**make.pod(), "status": {"podIP": "169.254.169.254"}},
        method="PATCH", subresource="status", before=make.pod()),
    Request("deletes its network policy", thing("networking.k8s.io/v1", "NetworkPolicy", "default-deny"),
        method="DELETE"),
    Request("opens its network", thing("networking.k8s.io/v1", "NetworkPolicy",
            spec={"podSelector": {}, "egress": [{}], "policyTypes": ["Egress"]})),
    Request("creates an Ingress without being an administrator", make.ingress(scheme="internal")),
)  # fmt: skip

PODS: Final = (
    Request("runs a privileged pod", secured(privileged=True)),
    Request("adds SYS_ADMIN", secured(capabilities={"add": ["SYS_ADMIN"]})),
    Request("switches seccomp off", secured(seccompProfile={"type": "Unconfined"})),
    Request("shares the node's network", make.pod(spec(hostNetwork=True))),
    Request("shares the node's processes", make.pod(spec(hostPID=True))),
    Request("shares the node's memory", make.pod(spec(hostIPC=True))),
    Request("listens on the node", make.pod(spec(container(ports=[{"containerPort": 1, "hostPort": 1}])))),
    Request("mounts the node's files",
        make.pod(spec(volumes=[{"name": "host", "hostPath": {"path": "/var/lib/kubelet"}}]))),
    Request("sets a sysctl of the kernel",
        make.pod(spec(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}))),
    Request("borrows the account of Karpenter", make.pod(spec(serviceAccountName="karpenter"))),
    Request("sets its own priority", make.pod(spec(priority=2_000_000_000))),
    Request("sets the overhead of its pod", make.pod(spec(overhead={"cpu": "1"}))),
    Request("takes all EFA adapters of a GPU node without a GPU",
        make.pod(spec(container(resources={"limits": {"vpc.amazonaws.com/efa": "32"}}), tolerations=[GPU_TAINT]))),
    Request("uses a runtime class", make.pod(spec(runtimeClassName="host"))),
    Request("takes a whole node's memory in one container",
        make.pod(spec(container(resources={"requests": {"memory": "100Ti"}, "limits": {"memory": "100Ti"}})))),
    Request("runs an image by tag latest in an init container",
        make.pod(spec(initContainers=[{"name": "first", "image": "busybox:latest"}]))),
    Request("mounts a foreign CSI volume inline",
        make.pod(spec(volumes=[{"name": "v", "csi": {"driver": "efs.csi.aws.com"}}]))),
    Request("asks for GPUs of another maker", make.pod(spec(gpus(8, "amd.com/gpu")))),
    Request("asks for GPUs by their class",
        make.pod(spec(gpus(8, "deviceclass.resource.kubernetes.io/gpu.nvidia.com")))),
    Request("asks for a GPU slice without a queue", make.pod(spec(gpus(1, "nvidia.com/mig-1g.5gb")))),
)  # fmt: skip

WORK: Final = (
    Request("runs a DaemonSet", make.daemon_set()),
    Request("runs a ReplicationController of 5000 pods", thing("v1", "ReplicationController", spec={"replicas": 5000,
                "selector": {"app": "it"},
                "template": {"metadata": {"labels": {"app": "it"}}, "spec": {"containers": [container()]}}})),
    Request("runs 5000 pods as a template of pods",
        thing("v1", "PodTemplate", template={"spec": {"containers": [container()]}})),
    Request("orders a load balancer", make.service(type="LoadBalancer")),
    Request("claims a petabyte", thing("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteMany"],
                "storageClassName": "shared", "resources": {"requests": {"storage": "1Pi"}}})),
    Request("lets Prometheus read files for TLS",
        make.service_monitor(tlsConfig={"caFile": "/etc/prometheus/secrets/x"})),
    Request("creates a queue of its own",
        thing("kueue.x-k8s.io/v1beta2", "LocalQueue", spec={"clusterQueue": "language"})),
    Request("admits its own workload",
        thing("kueue.x-k8s.io/v1beta2", "Workload", status={"admission": {"clusterQueue": "vision"}}), method="PATCH",
        subresource="status"),
)  # fmt: skip

WRITTEN: Final = tuple(
    Request(act, {**words, "metadata": {"name": "it", **words.get("metadata", {})}})
    for act, words in beside(__file__).items()
)
REQUESTS: Final = (*PERMISSIONS, *PODS, *WORK, *ACCEPTED, *WRITTEN)
