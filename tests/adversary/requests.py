"""What a member of a team tries in the cluster."""

from typing import Final

from tests.adversary.objects import (
    ALL,
    GUARD,
    HERE,
    OTHER,
    RBAC,
    annotated,
    prioritized,
    secured,
    thing,
    with_template_labels,
)
from tests.adversary.probe import ADMINISTRATOR, Request
from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT
from tests.components.admission.acts import ACTS
from tests.components.admission.samples import GPU_TAINT, container, gpus, spec

ACCEPTED: Final = (
    Request(
        act="unmasks /proc in a user namespace",
        manifest=make.pod(spec(container(securityContext={"procMount": "Unmasked"}), hostUsers=False)),
        accepted="the level baseline allows it there: the kernel isolates the pod's user (UserNamespacesSupport)",
    ),
    Request(
        act="ends after three years", manifest=make.pod(spec(terminationGracePeriodSeconds=10**8)),
        accepted="checkpoints take time; a drain has a deadline (terminationGracePeriod of the pool)",
    ),
    Request(
        act="has a scheduler of its own", manifest=make.pod(spec(schedulerName="mine")),
        accepted="there is none of that name: the pod stays pending and counts against its quota",
    ),
    Request(
        act="asks for GPUs of another maker", manifest=make.pod(spec(gpus(8, "amd.com/gpu"))),
        accepted="no node has them: the pod stays pending and counts against its quota",
    ),
    Request(
        act="opens its egress as an administrator", actor=ADMINISTRATOR,
        manifest=thing("networking.k8s.io/v1", "NetworkPolicy", spec={
            "podSelector": {}, "egress": [{}], "policyTypes": ["Egress"]}),
        accepted="the role admin exists for it; security groups still apply",
    ),
    Request(
        act="reads a Secret of its own by an empty patch", method="PATCH",
        before=thing("v1", "Secret", "own", stringData={"a": "b"}), manifest=thing("v1", "Secret", "own"),
        accepted="whoever creates pods there can mount it",
    ),
    Request(
        act="makes a Secret with a token of its own service account",
        manifest={**annotated(thing("v1", "Secret"), **{"kubernetes.io/service-account.name": "default"}),
                  "type": "kubernetes.io/service-account-token"},
        accepted="its pods have that token anyway; AWS takes tokens with another audience only",
    ),
    Request(
        act="names another team's host as a Service",
        manifest=make.service(type="ExternalName", externalName="grafana.monitoring.svc.cluster.local", ports=None),
        accepted="an alias in its own namespace; network policies see the real address",
    ),
    Request(
        act="forbids every disruption of its pods",
        manifest=thing("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 0, "selector": {}}),
        accepted="it protects long jobs; a drain has a deadline (terminationGracePeriod of the pool)",
    ),
    Request(
        act="claims a volume of another team",
        manifest=thing("v1", "PersistentVolumeClaim", spec={
            "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": "language-training-checkpoints",
            "resources": {"requests": {"storage": "1Gi"}}}),
        accepted="the claim stays pending: the claimRef of each volume names its claim",
    ),
)  # fmt: skip
"""What a member of a team may do, with the reason, which docs/security.md gives as well."""

LISTED: Final = tuple(
    Request(
        act=act.what, actor=act.actor, manifest=act.manifest, method=act.method, subresource=act.subresource,
        before=act.before,
    )
    for act in ACTS
    if act.rule and act.actor in (EDIT, ADMIN)
)  # fmt: skip
"""Acts that have a rule: of tests/components/admission, now with all rules at once."""

PERMISSIONS: Final = (
    Request(
        act="binds the role admin",
        manifest=thing(
            RBAC, "RoleBinding",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
            subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "slipway:vision:edit"}],
        ),
    ),
    Request(act="creates a role for everything", manifest=thing(RBAC, "Role", rules=[ALL])),
    Request(act="creates a cluster role", manifest=thing(RBAC, "ClusterRole", namespace="", rules=[ALL])),
    Request(
        act="widens the role of its team", method="PATCH",
        manifest=thing(RBAC, "ClusterRole", "slipway-team-edit", "", rules=[ALL]),
    ),
    Request(
        act="relabels its namespace as privileged", method="PATCH",
        manifest={
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": HERE, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
        },
    ),
    Request(act="creates a namespace", manifest=thing("v1", "Namespace", "mine", "")),
    Request(act="deletes its quota", method="DELETE", manifest=thing("v1", "ResourceQuota", "team")),
    Request(act="deletes its limits", method="DELETE", manifest=thing("v1", "LimitRange", "team")),
    Request(act="raises its quota", method="PATCH", manifest=thing("v1", "ResourceQuota", "team", spec={"hard": {}})),
    Request(
        act="deletes an admission policy", method="DELETE",
        manifest=thing(GUARD, "ValidatingAdmissionPolicy", "slipway-gpu-queue", ""),
    ),
    Request(
        act="binds an admission policy to nothing", method="PATCH",
        manifest=thing(
            GUARD, "ValidatingAdmissionPolicyBinding", "slipway-gpu-queue", "", spec={"matchResources": None}
        ),
    ),
    Request(
        act="registers a webhook",
        manifest=thing(GUARD, "MutatingWebhookConfiguration", namespace="", webhooks=[]),
    ),
    Request(act="reads its Secrets", method="LIST", manifest=thing("v1", "Secret")),
    Request(act="reads Secrets of the system", method="LIST", manifest=thing("v1", "Secret", namespace="kube-system")),
    Request(act="lists pods of another team", method="LIST", manifest=thing("v1", "Pod", namespace=OTHER)),
    Request(
        act="runs a pod in another team's namespace",
        manifest={**make.pod(), "metadata": {"name": "it", "namespace": OTHER}},
    ),
    Request(
        act="asks for a token of a service account", subresource="token",
        manifest={**thing("v1", "ServiceAccount", "default"), "spec": {"audiences": ["sts.amazonaws.com"]}},
    ),
    Request(act="creates a service account", manifest=thing("v1", "ServiceAccount")),
    Request(act="cordons a node", method="PATCH", manifest=thing("v1", "Node", "n", "", spec={"unschedulable": True})),
    Request(act="lists nodes' secrets through the proxy", method="GET", subresource="proxy/pods",
            manifest=thing("v1", "Node", "n", "")),
    Request(act="creates a node", manifest=thing("v1", "Node", "n", "")),
    Request(
        act="asks for a certificate of the system",
        manifest=thing(
            "certificates.k8s.io/v1", "CertificateSigningRequest", namespace="",
            spec={"request": "", "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
        ),
    ),
    Request(
        act="takes the lease of a controller", method="PATCH",
        manifest=thing("coordination.k8s.io/v1", "Lease", "kube-controller-manager", "kube-system", spec={}),
    ),
    Request(act="creates a priority class",
            manifest=thing("scheduling.k8s.io/v1", "PriorityClass", namespace="", value=1000)),
    Request(act="creates a volume of a node's files", manifest=thing(
        "v1", "PersistentVolume", namespace="",
        spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}},
    )),
    Request(act="creates a storage class",
            manifest=thing("storage.k8s.io/v1", "StorageClass", namespace="", provisioner="x")),
    Request(
        act="writes the endpoints of a Service (CVE-2021-25740)",
        manifest=thing("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[]),
    ),
    Request(act="points its Service at another address", manifest=thing("v1", "Endpoints", subsets=[])),
    Request(
        act="binds a pod to a node by itself",
        manifest=thing("v1", "Binding", target={"apiVersion": "v1", "kind": "Node", "name": "n"}),
    ),
    Request(
        act="gives its pod another address, for the proxy", method="PATCH", subresource="status", before=make.pod(),
        manifest={**make.pod(), "status": {"podIP": "169.254.169.254"}},
    ),
    Request(act="deletes its network policy", method="DELETE",
            manifest=thing("networking.k8s.io/v1", "NetworkPolicy", "default-deny")),
    Request(act="opens its network", manifest=thing(
        "networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "egress": [{}], "policyTypes": ["Egress"]}
    )),
    Request(act="creates an Ingress without being an administrator", manifest=make.ingress(scheme="internal")),
    Request(act="claims devices directly", manifest=thing(
        "resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [{"name": "g"}]}}
    )),
)  # fmt: skip

PODS: Final = (
    Request(act="runs a privileged pod", manifest=secured(privileged=True)),
    Request(act="adds SYS_ADMIN", manifest=secured(capabilities={"add": ["SYS_ADMIN"]})),
    Request(act="switches seccomp off", manifest=secured(seccompProfile={"type": "Unconfined"})),
    Request(act="shares the node's network", manifest=make.pod(spec(hostNetwork=True))),
    Request(act="shares the node's processes", manifest=make.pod(spec(hostPID=True))),
    Request(act="shares the node's memory", manifest=make.pod(spec(hostIPC=True))),
    Request(act="listens on the node", manifest=make.pod(spec(container(ports=[{"containerPort": 1, "hostPort": 1}])))),
    Request(
        act="mounts the node's files",
        manifest=make.pod(spec(volumes=[{"name": "host", "hostPath": {"path": "/var/lib/kubelet"}}])),
    ),
    Request(act="sets a sysctl of the kernel", manifest=make.pod(
        spec(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]})
    )),
    Request(act="borrows the account of Karpenter", manifest=make.pod(spec(serviceAccountName="karpenter"))),
    Request(act="sets its own priority", manifest=make.pod(spec(priority=2_000_000_000))),
    Request(act="sets the overhead of its pod", manifest=make.pod(spec(overhead={"cpu": "1"}))),
    Request(act="tolerates the taint of GPU nodes without a GPU", manifest=make.pod(spec(tolerations=[GPU_TAINT]))),
    Request(
        act="takes all EFA adapters of a GPU node without a GPU",
        manifest=make.pod(spec(
            container(resources={"limits": {"vpc.amazonaws.com/efa": "32"}}), tolerations=[GPU_TAINT]
        )),
    ),
    Request(
        act="stays on a drained node",
        manifest=make.pod(spec(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])),
    ),
    Request(
        act="survives a disruption by Karpenter",
        manifest=make.pod(spec(tolerations=[{"key": "karpenter.sh/disrupted", "operator": "Exists"}])),
    ),
    Request(
        act="looks like a static pod",
        manifest=annotated(make.pod(spec(nodeName="node-1")), **{"kubernetes.io/config.mirror": "x"}),
    ),
    Request(act="uses a runtime class", manifest=make.pod(spec(runtimeClassName="host"))),
    Request(act="takes a whole node's memory in one container", manifest=make.pod(
        spec(container(resources={"requests": {"memory": "100Ti"}, "limits": {"memory": "100Ti"}}))
    )),
    Request(
        act="runs an image by tag latest in an init container",
        manifest=make.pod(spec(initContainers=[{"name": "first", "image": "busybox:latest"}])),
    ),
    Request(
        act="mounts a foreign CSI volume inline",
        manifest=make.pod(spec(volumes=[{"name": "v", "csi": {"driver": "efs.csi.aws.com"}}])),
    ),
    Request(
        act="asks for a GPU slice without a queue",
        manifest=make.pod(spec(gpus(1, "nvidia.com/mig-1g.5gb"))),
    ),
)  # fmt: skip

WORK: Final = (
    Request(
        act="queues with a priority that its team does not have",
        manifest=prioritized(make.job(suspend=True), "production"),
    ),
    Request(act="queues with a priority that does not exist", manifest=prioritized(make.job(suspend=True), "mine")),
    Request(
        act="hides the priority in the template of a CronJob",
        manifest=with_template_labels(make.cron_job(), "jobTemplate"),
    ),
    Request(
        act="hides the priority in the template of its pods",
        manifest=with_template_labels(make.deployment(), "template"),
    ),
    Request(
        act="retries each index a million times",
        manifest=make.job(completionMode="Indexed", completions=10, backoffLimit=None, backoffLimitPerIndex=10**6),
    ),
    Request(act="keeps a finished Job forever", manifest=make.job(ttlSecondsAfterFinished=None)),
    Request(act="runs a CronJob with unbounded Jobs", manifest=make.cron_job(activeDeadlineSeconds=None)),
    Request(act="runs a DaemonSet", manifest=make.daemon_set()),
    Request(act="scales to 5000 by an autoscaler", manifest=make.autoscaler(5000)),
    Request(act="scales to 5000 by KEDA", manifest=make.scaled_object(maxReplicaCount=5000)),
    Request(act="scales by KEDA without a limit", manifest=make.scaled_object()),
    Request(act="runs a StatefulSet of 5000 pods", manifest=make.stateful_set(replicas=5000)),
    Request(
        act="runs a ReplicationController of 5000 pods",
        manifest=thing("v1", "ReplicationController", spec={"replicas": 5000, "selector": {"app": "it"}, "template": {
            "metadata": {"labels": {"app": "it"}}, "spec": {"containers": [container()]}}}),
    ),
    Request(act="runs 5000 pods as a template of pods",
            manifest=thing("v1", "PodTemplate", template={"spec": {"containers": [container()]}})),
    Request(act="orders a load balancer", manifest=make.service(type="LoadBalancer")),
    Request(act="opens a port of every node", manifest=make.service(type="NodePort")),
    Request(act="claims a petabyte", manifest=thing("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteMany"], "storageClassName": "shared",
        "resources": {"requests": {"storage": "1Pi"}}})),
    Request(
        act="lets Prometheus read files for TLS",
        manifest=make.service_monitor(tlsConfig={"caFile": "/etc/prometheus/secrets/x"}),
    ),
    Request(
        act="creates a queue of its own",
        manifest=thing("kueue.x-k8s.io/v1beta2", "LocalQueue", spec={"clusterQueue": "language"}),
    ),
    Request(
        act="admits its own workload", method="PATCH", subresource="status",
        manifest=thing("kueue.x-k8s.io/v1beta2", "Workload", status={"admission": {"clusterQueue": "vision"}}),
    ),
)  # fmt: skip

REQUESTS: Final = (*LISTED, *PERMISSIONS, *PODS, *WORK, *ACCEPTED)
