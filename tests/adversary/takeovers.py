"""What the author of a pull request changes to take over the cluster by RBAC; and work."""

from typing import Any, Final

from policies.resources import tokens
from tests.adversary.probe import Change

OWN: Final = "scanner"
API: Final = "rbac.authorization.k8s.io"


def meta(name: str = "it", namespace: str = "", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **more}}


def allows(verbs: str, resources: str, group: str = "", space: str = "", **more: Any) -> Change:
    """A role with one rule; verbs and resources are separated by blanks."""
    rule = {"apiGroups": [group], "verbs": verbs.split(), "resources": resources.split(), **more}
    kind = tokens.NAMESPACE_ROLE if space else tokens.CLUSTER_ROLE
    named = f" named {more['resourceNames'][0]}" if more else ""
    place = f"in {space}" if space else "everywhere"
    return Change(f"lets a role {verbs} {resources}{'.' if group else ''}{group}{named} {place}", type=kind,
        props={**meta(namespace=space), "rules": [rule]})  # fmt: skip


def subject(kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    return {"kind": kind, "name": name, **({"namespace": namespace} if namespace else {})}


def binds(role: str, who: dict[str, Any], space: str = "", kind: str = "ClusterRole") -> Change:
    return Change(
        f"binds {kind} {role} to {who['kind']} {who['name']} {f'in {space}' if space else 'everywhere'}",
        type=tokens.ROLE_BINDING if space else tokens.CLUSTER_ROLE_BINDING,
        props={**meta(namespace=space), "roleRef": {"apiGroup": API, "kind": kind, "name": role}, "subjects": [who]},
    )


ROLES: Final = (
    allows("patch", "secrets"),
    allows("deletecollection", "secrets", space="monitoring"),
    allows("create", "pods", space="kueue-system"),
    allows("update", "deployments", "apps", space="karpenter"),
    allows("create", "jobs cronjobs", "batch", space="kube-system"),
    allows("create", "workflows", "argoproj.io", space="argo"),
    allows("create", "rayjobs", "ray.io"),
    allows("update", "nodes/status"),
    allows("get", "pods/exec"),
    allows("create", "pods/portforward", space="monitoring"),
    allows("sign approve", "signers", "certificates.k8s.io"),
    allows("create", "certificatesigningrequests", "certificates.k8s.io"),
    allows("impersonate", "userextras/scopes", "authentication.k8s.io"),
    allows("bind escalate", "clusterroles", API),
    allows("update", "clusterroles", API, resourceNames=["view"]),
    allows("patch", "validatingadmissionpolicybindings", "admissionregistration.k8s.io"),
    allows("patch", "customresourcedefinitions", "apiextensions.k8s.io"),
    allows("update", "csinodes", "storage.k8s.io"),
    allows("update", "leases", "coordination.k8s.io", space="kube-system"),
    allows("*", "widgets", "example.com"),
    allows("get", "*", "example.com"),
    allows("get", "*/exec"),
    allows("get", "pods", "*"),
    allows("patch", "configmaps", space="kube-system"),
    allows("update", "endpoints", space="kserve"),
)  # fmt: skip

SUBJECTS: Final = (
    binds("admin", subject("User", "alice"), "vision-training"),
    binds("view", subject("User", "system:kube-controller-manager")),
    binds("view", subject("Group", "system:authenticated")),
    binds("view", subject("Group", "slipway:vision:admin")),
    binds("view", subject("Group", "slipway:vision:edit"), "language-training"),
    binds("view", subject("ServiceAccount", "workload", "vision-training")),
    binds("view", subject("ServiceAccount", "default", "monitoring")),
    binds("edit", subject("ServiceAccount", "workload", "vision-training"), "vision-training"),
    binds("slipway-team-admin", subject("Group", "slipway:vision:edit"), "vision-training"),
    binds("cluster-admin", subject("ServiceAccount", "kueue-controller-manager", "kueue-system")),
    binds("system:node", subject("Group", "system:serviceaccounts:vision-training")),
    binds("system:controller:namespace-controller", subject("ServiceAccount", "x", OWN)),
    binds("system:kube-controller-manager", subject("Group", "readers")),
    binds("eks:cluster-bootstrap", subject("ServiceAccount", "x", OWN)),
    binds("argo-server", subject("ServiceAccount", "argo-server", "argo")),
    binds("prometheus-operator", subject("ServiceAccount", "workload", "vision-training"), "monitoring"),
)  # fmt: skip

_READS: Final = {"apiGroups": ["", "apps"], "resources": ["pods", "nodes", "deployments"],
                 "verbs": ["get", "list", "watch"]}  # fmt: skip


def works(act: str, token: str, /, **props: Any) -> Change:
    return Change(act, type=token, props=props, legitimate=True)


LEVELS: Final = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
WORK: Final = (
    works("adds a namespace", tokens.NAMESPACE, **meta(OWN, labels=LEVELS)),
    works("adds a service account", tokens.SERVICE_ACCOUNT, **meta(OWN, OWN), automountServiceAccountToken=False),
    works("adds a reading ClusterRole", tokens.CLUSTER_ROLE, **meta(OWN), rules=[
        {**_READS, "apiGroups": [""], "resources": ["pods", "nodes", "namespaces", "configmaps"]},
        {"apiGroups": ["apps"], "resources": ["deployments", "daemonsets"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "clusterqueues/status"], "verbs": ["list"]},
        {"nonResourceURLs": ["/metrics", "/healthz"], "verbs": ["get"]}]),
    works("adds a Role of a controller", tokens.NAMESPACE_ROLE, **meta(OWN, OWN), rules=[
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
         "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]),
    works("checks tokens of its clients", tokens.CLUSTER_ROLE, **meta("auth"), rules=[
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}]),
    works("shows its kinds to readers", tokens.CLUSTER_ROLE, **meta("widgets", labels={
        f"{API}/aggregate-to-view": "true"}), rules=[
            {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get", "list", "watch"]}]),
    works("lets Prometheus read as a viewer", tokens.CLUSTER_ROLE_BINDING, **meta("more"),
          roleRef={"apiGroup": API, "kind": "ClusterRole", "name": "view"},
          subjects=[subject("ServiceAccount", "prometheus", "monitoring")]),
    works("closes a namespace of its own", tokens.NETWORK_POLICY, **meta("deny", OWN), spec={
        "podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
    works("keeps a password", tokens.SECRET, **meta(namespace=OWN), type="Opaque"),
    works("keeps a configuration", tokens.CONFIG_MAP, **meta(namespace=OWN), data={"a": "b"}),
)  # fmt: skip

CHANGES: Final = (*ROLES, *SUBJECTS, *WORK)
