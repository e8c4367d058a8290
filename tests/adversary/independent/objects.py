"""What the author of a pull request declares in the cluster, and around the program's resources."""

from typing import Any, Final

from tests.adversary.independent.cloud import adds
from tests.adversary.probe import Change

RBAC: Final = "kubernetes:rbac.authorization.k8s.io/v1:"
META: Final = {"metadata": {"name": "it", "namespace": "kube-system"}}


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
    binds("makes anonymous requests an administrator", "cluster-admin", user("system:anonymous")),
    binds("makes an account of the system an administrator", "cluster-admin",
          {"kind": "ServiceAccount", "name": "default", "namespace": "kube-system"}),
    binds("lets all accounts of a namespace edit", "edit", user("system:serviceaccounts:default", "Group")),
    binds("makes a person an administrator", "cluster-admin", user("alice")),
    binds("makes a person an administrator of the system's namespace", "admin", user("alice"), kind="RoleBinding"),
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
)  # fmt: skip

PROGRAM: Final = (
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
    Change("ignores changes of a rule", name="admission-pods", options={"ignore_changes": ("spec",)}),
)  # fmt: skip

DECLARED: Final = (*RIGHTS, *OBJECTS, *PROGRAM)
