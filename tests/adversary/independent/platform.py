"""What a member of a team tries beside its workloads: roles, other namespaces, objects of the platform."""

from typing import Any, Final

from tests.adversary.independent.pods import tagged
from tests.adversary.objects import GUARD, OTHER, RBAC, annotated, thing
from tests.adversary.probe import ADMINISTRATOR, Object, Request
from tests.components.admission import samples as make

EDIT: Final = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "slipway-team-edit"}
ME: Final = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "someone"}]
CLUSTER: Final = ""


def hosted(manifest: Object, **fields: Any) -> Object:
    return {**manifest, "spec": {**manifest["spec"], **fields}}


def noted(**annotations: str) -> Object:
    return make.ingress(**{"scheme": "internal", **{key.replace("_", "-"): it for key, it in annotations.items()}})


RIGHTS: Final = (
    Request(act="binds its role in another team's namespace", manifest=thing(
        RBAC, "RoleBinding", namespace=OTHER, roleRef=EDIT, subjects=ME)),
    Request(act="joins its role as an administrator", actor=ADMINISTRATOR, manifest=thing(
        RBAC, "RoleBinding", roleRef={**EDIT, "name": "cluster-admin"}, subjects=ME)),
    Request(act="adds itself to a binding", method="PATCH", actor=ADMINISTRATOR, manifest=thing(
        RBAC, "RoleBinding", "slipway-team-admin", subjects=ME)),
    Request(act="makes an API service", manifest=thing(
        "apiregistration.k8s.io/v1", "APIService", "v1.mine", CLUSTER, spec={
            "group": "mine", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1})),
    Request(act="makes a kind of its own", manifest={**make.definition("JobSet"), "metadata": {"name": "a.b"}}),
    Request(act="makes a policy that mutates", manifest=thing(
        GUARD, "ValidatingAdmissionPolicy", namespace=CLUSTER, spec={"validations": [{"expression": "true"}]})),
    Request(act="takes the place of a flow schema", manifest=thing(
        "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", namespace=CLUSTER, spec={
            "priorityLevelConfiguration": {"name": "exempt"}})),
    Request(act="makes a runtime class", manifest=thing(
        "node.k8s.io/v1", "RuntimeClass", namespace=CLUSTER, handler="runc")),
    Request(act="evicts a pod of another team", subresource="eviction", before=None, manifest=thing(
        "v1", "Pod", "theirs", OTHER)),
    Request(act="reads a Secret of its namespace", method="GET", manifest=thing("v1", "Secret", "other")),
    Request(act="reads config of the system", method="GET", manifest=thing(
        "v1", "ConfigMap", "aws-auth", "kube-system")),
    Request(act="gets a token for the audience of pod identities", subresource="token", manifest={
        **thing("v1", "ServiceAccount", "workload"), "spec": {"audiences": ["pods.eks.amazonaws.com"]}}),
    Request(act="gives the account of its work another role", method="PATCH", manifest={
        **annotated(thing("v1", "ServiceAccount", "workload"), **{
            "eks.amazonaws.com/role-arn": "arn:aws:iam::444455556666:role/karpenter"})}),
    Request(act="takes a slice of devices away", manifest=thing(
        "resource.k8s.io/v1", "ResourceSlice", namespace=CLUSTER, spec={})),
    Request(act="makes a template of device claims", manifest=thing(
        "resource.k8s.io/v1", "ResourceClaimTemplate", spec={"spec": {"devices": {"requests": [{"name": "g"}]}}})),
    Request(act="makes a Service's endpoints in slices of another", method="LIST", manifest=thing(
        "discovery.k8s.io/v1", "EndpointSlice", namespace="kube-system")),
    Request(act="reads who may do what", method="LIST", manifest=thing(RBAC, "ClusterRoleBinding", namespace=CLUSTER)),
    Request(act="takes the lease of its nodes", method="PATCH", manifest=thing(
        "coordination.k8s.io/v1", "Lease", "node-1", "kube-node-lease", spec={})),
    Request(act="forges an event of the system", manifest=thing(
        "v1", "Event", "x", "kube-system", involvedObject={"namespace": "kube-system"})),
)  # fmt: skip

STATUS: Final = (
    Request(act="says that its Job is done", method="PATCH", subresource="status", before=make.job(suspend=True),
            manifest={**thing("batch/v1", "Job"), "status": {"succeeded": 1}}),
    Request(act="gives its Service an address of a load balancer (CVE-2020-8554)", method="PATCH",
            subresource="status", before=make.service(), manifest={
                **thing("v1", "Service"), "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}}),
    Request(act="says that its quota is unused", method="PATCH", subresource="status", manifest=thing(
        "v1", "ResourceQuota", "team", status={"used": {"pods": "0"}})),
    Request(act="resizes its pod in place", method="PATCH", subresource="resize", before=make.pod(),
            manifest={**thing("v1", "Pod"), "spec": {"containers": [
                {"name": "main", "resources": {"limits": {"cpu": "10000"}}}]}}),
    Request(act="finishes its namespace", method="PATCH", manifest={
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision-training", "finalizers": []}}),
    Request(act="takes its namespace to another team", method="PATCH", manifest={
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "vision-training", "labels": {"platform.slipway/team": "language"}}}),
    Request(act="gives its namespace all priorities", method="PATCH", actor=ADMINISTRATOR, manifest={
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision-training", "annotations": {
            "platform.slipway/priorities": "production-inference"}}}),
    Request(act="deletes a namespace", method="DELETE", manifest=thing("v1", "Namespace", "vision-training", CLUSTER)),
    Request(act="deletes the account of its work", method="DELETE", manifest=thing(
        "v1", "ServiceAccount", "workload")),
    Request(act="deletes the platform's network policy as an administrator", method="DELETE", actor=ADMINISTRATOR,
            manifest=thing("networking.k8s.io/v1", "NetworkPolicy", "default-deny")),
    Request(act="invents an owner for its ConfigMap that deletes it later", manifest={
        **make.owned(make.job(suspend=True))}),
    Request(act="adds an owner to a pod that runs", method="PATCH", before=make.pod(), manifest={
        **thing("v1", "Pod"), "metadata": {"name": "it", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "1", "controller": True}]}}),
)  # fmt: skip

FROM_OUTSIDE: Final = (
    Request(act="takes the host name of another team in its Ingress", actor=ADMINISTRATOR, manifest=hosted(
        noted(), rules=[{"host": "chat-language-serving.example.com"}])),
    Request(act="takes the security groups of the nodes for its load balancer", actor=ADMINISTRATOR,
            manifest=noted(security_groups="sg-0123456789abcdef0")),
    Request(act="puts its load balancer into public subnets", actor=ADMINISTRATOR,
            manifest=noted(subnets="subnet-public-a,subnet-public-b")),
    Request(act="writes the logs of its load balancer to another bucket", actor=ADMINISTRATOR,
            manifest=noted(load_balancer_attributes="access_logs.s3.enabled=true,access_logs.s3.bucket=theirs")),
    Request(act="bills its load balancer to another team", actor=ADMINISTRATOR,
            manifest=noted(tags="cost-center=ml-language")),
    Request(act="uses the old annotation for an Ingress class", actor=ADMINISTRATOR, manifest=annotated(
        make.ingress(), **{"kubernetes.io/ingress.class": "alb",
                           "alb.ingress.kubernetes.io/scheme": "internet-facing"})),
    Request(act="forgets the scheme of its load balancer", actor=ADMINISTRATOR, manifest=annotated(
        make.ingress(), **{"alb.ingress.kubernetes.io/scheme": "Internet-Facing"})),
    Request(act="joins a group by an Ingress class of its own", actor=ADMINISTRATOR, manifest=thing(
        "networking.k8s.io/v1", "IngressClass", "mine", CLUSTER, spec={"controller": "ingress.k8s.aws/alb"})),
    Request(act="opens a Service to the internet by a class", manifest=make.service(
        type="LoadBalancer", loadBalancerClass="service.k8s.aws/nlb")),
    Request(act="takes a name in DNS", manifest=annotated(
        make.service(type="LoadBalancer"), **{"external-dns.alpha.kubernetes.io/hostname": "grafana.example.com"})),
    Request(act="routes by a route of the Gateway API", manifest=thing(
        "gateway.networking.k8s.io/v1", "HTTPRoute", spec={"parentRefs": [{"name": "g", "namespace": "kserve"}]})),
    Request(act="binds its pods to a target group", manifest=thing(
        "elbv2.k8s.aws/v1beta1", "TargetGroupBinding", spec={"targetGroupARN": "arn:x"})),
    Request(act="sends alerts of others elsewhere", manifest=thing(
        "monitoring.coreos.com/v1alpha1", "AlertmanagerConfig", spec={"route": {"receiver": "mine"}})),
    Request(act="records rules of its own", manifest=thing(
        "monitoring.coreos.com/v1", "PrometheusRule", spec={"groups": []})),
    Request(act="makes nodes of its own", manifest=thing("karpenter.sh/v1", "NodePool", namespace=CLUSTER, spec={})),
    Request(act="gives its queue more", method="PATCH", manifest=thing(
        "kueue.x-k8s.io/v1beta2", "ClusterQueue", "vision", CLUSTER, spec={})),
    Request(act="makes credentials of KEDA for all", manifest=thing(
        "keda.sh/v1alpha1", "ClusterTriggerAuthentication", namespace=CLUSTER, spec={})),
    Request(act="labels a Service to look like the platform's", manifest=tagged(
        make.service(externalIPs=["10.1.2.3"]), **{"kubernetes.io/cluster-service": "true"})),
)  # fmt: skip

PLATFORM: Final = (*RIGHTS, *STATUS, *FROM_OUTSIDE)
EXTRA: Final = {
    "HTTPRoute": ("gateway.networking.k8s.io", "v1", "httproutes"),
    "TargetGroupBinding": ("elbv2.k8s.aws", "v1beta1", "targetgroupbindings"),
    "AlertmanagerConfig": ("monitoring.coreos.com", "v1alpha1", "alertmanagerconfigs"),
    "PrometheusRule": ("monitoring.coreos.com", "v1", "prometheusrules"),
    "NodePool": ("karpenter.sh", "v1", "nodepools"),
    "ClusterQueue": ("kueue.x-k8s.io", "v1beta2", "clusterqueues"),
    "ServingRuntime": ("serving.kserve.io", "v1alpha1", "servingruntimes"),
    "WorkflowEventBinding": ("argoproj.io", "v1alpha1", "workfloweventbindings"),
    "ClusterTriggerAuthentication": ("keda.sh", "v1alpha1", "clustertriggerauthentications"),
}
"""More custom resources: their groups, versions and plurals."""
