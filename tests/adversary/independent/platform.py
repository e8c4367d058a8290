"""What a member of a team tries beside its workloads: roles, other namespaces, objects of the platform."""

from typing import Any, Final

from tests.adversary.independent.pods import tagged
from tests.adversary.objects import GUARD, OTHER, RBAC, annotated, thing
from tests.adversary.probe import ADMINISTRATOR, Object, Request
from tests.components.admission import samples as make
from tests.support.cases import beside

DATA: Final = beside(__file__)
EDIT: Final = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "slipway-team-edit"}
ME: Final = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "someone"}]
CLUSTER: Final = ""


def hosted(manifest: Object, **fields: Any) -> Object:
    return {**manifest, "spec": {**manifest["spec"], **fields}}


def noted(**annotations: str) -> Object:
    return make.ingress(**{"scheme": "internal", **{key.replace("_", "-"): it for key, it in annotations.items()}})


RIGHTS: Final = (
    Request("binds its role in another team's namespace",
        thing(RBAC, "RoleBinding", namespace=OTHER, roleRef=EDIT, subjects=ME)),
    Request("joins its role as an administrator",
        thing(RBAC, "RoleBinding", roleRef={**EDIT, "name": "cluster-admin"}, subjects=ME), actor=ADMINISTRATOR),
    Request("adds itself to a binding", thing(RBAC, "RoleBinding", "slipway-team-admin", subjects=ME), method="PATCH",
        actor=ADMINISTRATOR),
    Request("makes an API service", thing("apiregistration.k8s.io/v1", "APIService", "v1.mine", CLUSTER,
            spec={"group": "mine", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1})),
    Request("makes a kind of its own", {**make.definition("JobSet"), "metadata": {"name": "a.b"}}),
    Request("makes a policy that mutates",
        thing(GUARD, "ValidatingAdmissionPolicy", namespace=CLUSTER, spec={"validations": [{"expression": "true"}]})),
    Request("takes the place of a flow schema", thing("flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
            namespace=CLUSTER, spec={"priorityLevelConfiguration": {"name": "exempt"}})),
    Request("makes a runtime class", thing("node.k8s.io/v1", "RuntimeClass", namespace=CLUSTER, handler="runc")),
    Request("evicts a pod of another team", thing("v1", "Pod", "theirs", OTHER), subresource="eviction", before=None),
    Request("reads a Secret of its namespace", thing("v1", "Secret", "other"), method="GET"),
    Request("reads config of the system", thing("v1", "ConfigMap", "aws-auth", "kube-system"), method="GET"),
    Request("gets a token for the audience of pod identities",
        {**thing("v1", "ServiceAccount", "workload"), "spec": {"audiences": ["pods.eks.amazonaws.com"]}},
        subresource="token"),
    Request("gives the account of its work another role", {**annotated(thing("v1", "ServiceAccount", "workload"),
                **{"eks.amazonaws.com/role-arn": "arn:aws:iam::444455556666:role/karpenter"})}, method="PATCH"),
    Request("takes a slice of devices away", thing("resource.k8s.io/v1", "ResourceSlice", namespace=CLUSTER, spec={})),
    Request("makes a template of device claims", thing("resource.k8s.io/v1", "ResourceClaimTemplate",
            spec={"spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "all"}}]}}})),
    Request("makes a Service's endpoints in slices of another",
        thing("discovery.k8s.io/v1", "EndpointSlice", namespace="kube-system"), method="LIST"),
    Request("reads who may do what", thing(RBAC, "ClusterRoleBinding", namespace=CLUSTER), method="LIST"),
    Request("takes the lease of its nodes",
        thing("coordination.k8s.io/v1", "Lease", "node-1", "kube-node-lease", spec={}), method="PATCH"),
    Request("forges an event of the system",
        thing("v1", "Event", "x", "kube-system", involvedObject={"namespace": "kube-system"})),
)  # fmt: skip

STATUS: Final = (
    Request("says that its Job is done", {**thing("batch/v1", "Job"), "status": {"succeeded": 1}}, method="PATCH",
        subresource="status", before=make.job(suspend=True)),
    Request("gives its Service an address of a load balancer (CVE-2020-8554)",
        {**thing("v1", "Service"), "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}}, method="PATCH",
        subresource="status", before=make.service()),
    Request("says that its quota is unused", thing("v1", "ResourceQuota", "team", status={"used": {"pods": "0"}}),
        method="PATCH", subresource="status"),
    Request("resizes its pod in place",
        {**thing("v1", "Pod"), "spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "10000"}}}]}},
        method="PATCH", subresource="resize", before=make.pod()),
    Request("finishes its namespace",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision-training", "finalizers": []}},
        method="PATCH"),
    Request("takes its namespace to another team", {"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "vision-training", "labels": {"platform.slipway/team": "language"}}}, method="PATCH"),
    Request("gives its namespace all priorities", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": "vision-training", "annotations": {"platform.slipway/priorities": "production-inference"}}},
        method="PATCH", actor=ADMINISTRATOR),
    Request("deletes a namespace", thing("v1", "Namespace", "vision-training", CLUSTER), method="DELETE"),
    Request("deletes the account of its work", thing("v1", "ServiceAccount", "workload"), method="DELETE"),
    Request("deletes the platform's network policy as an administrator",
        thing("networking.k8s.io/v1", "NetworkPolicy", "default-deny"), method="DELETE", actor=ADMINISTRATOR),
    Request("invents an owner for its ConfigMap that deletes it later", {**make.owned(make.job(suspend=True))}),
    Request("adds an owner to a pod that runs", {**thing("v1", "Pod"), "metadata": {"name": "it", "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "1", "controller": True}]}},
        method="PATCH", before=make.pod()),
)  # fmt: skip

FROM_OUTSIDE: Final = (
    Request("takes the host name of another team in its Ingress",
        hosted(noted(), rules=[{"host": "chat-language-serving.example.com"}]), actor=ADMINISTRATOR),
    Request("joins a group by an Ingress class of its own",
        thing("networking.k8s.io/v1", "IngressClass", "mine", CLUSTER, spec={"controller": "ingress.k8s.aws/alb"}),
        actor=ADMINISTRATOR),
    Request("opens a Service to the internet by a class",
        make.service(type="LoadBalancer", loadBalancerClass="service.k8s.aws/nlb")),
    Request("takes a name in DNS", annotated(make.service(type="LoadBalancer"),
            **{"external-dns.alpha.kubernetes.io/hostname": "grafana.example.com"})),
    Request("routes by a route of the Gateway API", thing("gateway.networking.k8s.io/v1", "HTTPRoute",
            spec={"parentRefs": [{"name": "g", "namespace": "kserve"}]})),
    Request("binds its pods to a target group",
        thing("elbv2.k8s.aws/v1beta1", "TargetGroupBinding", spec={"targetGroupARN": "arn:x"})),
    Request("sends alerts of others elsewhere",
        thing("monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", spec={"route": {"receiver": "mine"}})),
    Request("records rules of its own", thing("monitoring.coreos.com/v1", "PrometheusRule", spec={"groups": []})),
    Request("makes nodes of its own", thing("karpenter.sh/v1", "NodePool", namespace=CLUSTER, spec={})),
    Request("gives its queue more", thing("kueue.x-k8s.io/v1beta2", "ClusterQueue", "vision", CLUSTER, spec={}),
        method="PATCH"),
    Request("makes credentials of KEDA for all",
        thing("keda.sh/v1alpha1", "ClusterTriggerAuthentication", namespace=CLUSTER, spec={})),
    Request("labels a Service to look like the platform's",
        tagged(make.service(externalIPs=["10.1.2.3"]), **{"kubernetes.io/cluster-service": "true"})),
)  # fmt: skip

PLATFORM: Final = (*RIGHTS, *STATUS, *FROM_OUTSIDE)
EXTRA: Final = DATA["more custom resources"]
"""More custom resources: their groups, versions and plurals."""
