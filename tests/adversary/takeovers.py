"""What the author of a pull request changes to take over the cluster by RBAC or to hollow out its rules; and work."""

from typing import Any, Final

from policies.resources import tokens
from policies.resources.access import MISSING
from tests.adversary.probe import Change

OWN: Final = "scanner"
API: Final = "rbac.authorization.k8s.io"
EKS: Final = "arn:aws:eks::aws:cluster-access-policy/"
HERE: Final = "arn:aws:iam::444455556666:role/"


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


def adds(act: str, token: str, /, **props: Any) -> Change:
    return Change(act, type=token, props=props)


def edits(act: str, name: str, path: str, value: Any) -> Change:
    keys = tuple(int(part) if part.isdigit() else part.replace("|", ".") for part in path.split("."))
    return Change(act, name=name, edits={keys: value})


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
    adds("reads every URL", tokens.CLUSTER_ROLE, **meta(), rules=[{"nonResourceURLs": ["*"], "verbs": ["get"]}]),
    adds("adds to the role edit", tokens.CLUSTER_ROLE,
         **meta(labels={f"{API}/aggregate-to-edit": "true"}), rules=[]),
    adds("replaces the role view", tokens.CLUSTER_ROLE, **meta("view"), rules=[]),
    adds("makes a role that is a ConfigMap by its type", tokens.CONFIG_MAP, apiVersion=f"{API}/v1",
         kind="ClusterRoleBinding", **meta(), roleRef={"kind": "ClusterRole", "name": "cluster-admin"},
         subjects=[subject("User", "x")]),
    adds("changes whom front proxies may name", tokens.CONFIG_MAP,
         **meta("extension-apiserver-authentication", "kube-system"), data={"requestheader-client-ca-file": "x"}),
    adds("runs a pod as Kueue", tokens.DEPLOYMENT, **meta(namespace="kueue-system"), spec={"template": {"spec": {
        "serviceAccountName": "kueue-controller-manager", "containers": []}}}),
    edits("puts objects without a namespace into that of a team", "kubernetes", "namespace", "vision-training"),
    edits("mounts the token of a team's account", "space-vision-training-account", "automountServiceAccountToken",
          MISSING),
    adds("takes the account of KEDA into the program", tokens.SERVICE_ACCOUNT, **meta("keda-operator", "keda")),
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
    edits("adds a user to a team's binding", "space-vision-training-binding-edit", "subjects",
          [subject("Group", "slipway:vision:edit"), subject("User", "x")]),
    edits("lets members read Secrets", "team-roles-view", "rules.0.resources", ["secrets"]),
    adds("gives a role of IAM the administration of the cluster", tokens.ACCESS_POLICY,
         principalArn=f"{HERE}ml-vision", policyArn=f"{EKS}AmazonEKSClusterAdminPolicy"),
    edits("gives on-call a group", "cluster-access-entry-on-call", "kubernetesGroups", ["slipway:vision:edit"]),
    adds("lets a person in as a node", tokens.ACCESS_ENTRY, principalArn=f"{HERE}x", type="EC2_LINUX"),
)  # fmt: skip

IMAGE: Final = "admission-image-tag"
HOLLOW: Final = (
    edits("makes a rule hold for all", IMAGE, "spec.validations.0.expression", "size(object.metadata.name) >= 0"),
    edits("makes a variable of a rule empty", "admission-host-access", "spec.variables.0.expression", "[]"),
    edits("lets a rule ignore its errors", IMAGE, "spec.failurePolicy", "Ignore"),
    edits("limits a rule to deletions", IMAGE, "spec.matchConstraints.resourceRules.0.operations", ["DELETE"]),
    edits("limits a rule to one version", IMAGE, "spec.matchConstraints.resourceRules.0.apiVersions", ["v1alpha1"]),
    edits("limits a rule to objects of a name", IMAGE, "spec.matchConstraints.resourceRules.0.resourceNames", ["x"]),
    edits("limits a rule to exact groups", IMAGE, "spec.matchConstraints.matchPolicy", "Exact"),
    edits("excludes pods from a rule", IMAGE, "spec.matchConstraints.excludeResourceRules", [
        {"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}]),
    edits("limits a rule to labelled objects", IMAGE, "spec.matchConstraints.objectSelector", {
        "matchLabels": {"checked": "true"}}),
    edits("adds a condition to a rule", IMAGE, "spec.matchConditions", [
        {"name": "x", "expression": "request.userInfo.username == 'nobody'"}]),
    edits("gives a rule parameters that are missing", IMAGE, "spec.paramKind", {"apiVersion": "v1", "kind": "Secret"}),
    edits("turns a rule into a note", f"{IMAGE}-binding", "spec.validationActions", ["Audit"]),
    edits("binds a rule to another policy", f"{IMAGE}-binding", "spec.policyName", "x"),
    edits("excludes kinds from a binding", f"{IMAGE}-binding", "spec.matchResources.excludeResourceRules", [
        {"resources": ["*"]}]),
    edits("excludes a namespace from a binding", f"{IMAGE}-binding",
          "spec.matchResources.namespaceSelector.matchExpressions.1",
          {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["vision-training"]}),
    edits("renames a rule", IMAGE, "metadata.name", "image-tag2.platform.slipway"),
    edits("removes the expression of a rule", IMAGE, "spec.validations.0.expression", MISSING),
    Change("leaves out the binding of a rule for queues", name="admission-gpu-queue-binding", removed=True),
    edits("lowers the level of a team's namespace", "space-vision-training-namespace",
          "metadata.labels.pod-security|kubernetes|io/enforce", "privileged"),
    edits("takes a namespace out of its team", "space-vision-training-namespace",
          "metadata.labels.platform|slipway/team", MISSING),
    edits("gives a team's namespace all priorities", "space-vision-training-namespace",
          "metadata.annotations.platform|slipway/priorities", "production-inference"),
    edits("raises the limit of a pod", "space-vision-training-limits", "spec.limits.0.max.cpu", "10000"),
    edits("opens a team to all namespaces", "space-vision-training-network-team", "spec.ingress.0.from.0", {
        "namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}),
    edits("opens a tracking server to all teams", "mlflow-ingress-vision",
          "spec.ingress.0.from.0.namespaceSelector.matchLabels", {}),
    adds("adds a network policy for a team", tokens.NETWORK_POLICY, **meta(namespace="vision-training"), spec={
        "podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}),
    edits("gives a queue more", "queue-vision-cluster-queue",
          "spec.resourceGroups.0.flavors.0.resources.0.borrowingLimit", "100000"),
    edits("gives a flavor other nodes", "queues-flavor-cpu", "spec.nodeLabels", {"platform.slipway/role": "system"}),
    adds("lends GPUs from nowhere", tokens.COHORT, **meta("more"), spec={"parentName": "platform"}),
    adds("makes a second queue for a team", tokens.CLUSTER_QUEUE, **meta("vision2"), spec={
        "namespaceSelector": {"matchLabels": {"platform.slipway/team": "vision"}}}),
    edits("raises a priority", "priorities-experiment", "value", 1000000),
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
    works("adds a rule of its own", tokens.ADMISSION_POLICY, **meta("owner.example.com"), spec={
        "failurePolicy": "Fail", "validations": [{"expression": "has(object.metadata.labels)"}]}),
    works("binds a rule of its own", tokens.ADMISSION_BINDING, **meta("owner.example.com"), spec={
        "policyName": "owner.example.com", "validationActions": ["Warn"]}),
    works("limits a namespace of a team further", tokens.RESOURCE_QUOTA, **meta("fewer", "vision-training"), spec={
        "hard": {"count/services": "10"}}),
    works("closes a namespace of its own", tokens.NETWORK_POLICY, **meta("deny", OWN), spec={
        "podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
    works("keeps a password", tokens.SECRET, **meta(namespace=OWN), type="Opaque"),
    works("keeps a configuration", tokens.CONFIG_MAP, **meta(namespace=OWN), data={"a": "b"}),
)  # fmt: skip

CHANGES: Final = (*ROLES, *SUBJECTS, *HOLLOW, *WORK)
