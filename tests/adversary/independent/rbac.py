"""What the author of a pull request takes over in the cluster: roles, bindings, subjects, accounts and entries."""

from typing import Any, Final

from tests.adversary.independent.cloud import adds, edits
from tests.adversary.independent.objects import RBAC, binds, permits, user
from tests.adversary.probe import Change

AUTHORIZATION: Final = "rbac.authorization.k8s.io"
ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
POLICY: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
PERSON: Final = "arn:aws:iam::444455556666:role/x"
VIEWERS: Final = user("slipway:vision:view", "Group")
EDITORS: Final = user("slipway:vision:edit", "Group")


def account(name: str = "workload", namespace: str = "vision-training") -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def refers(role: str, kind: str = "ClusterRole") -> dict[str, str]:
    return {"apiGroup": AUTHORIZATION, "kind": kind, "name": role}


def rule(groups: str = "", *, verbs: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {"apiGroups": groups.split(","), "verbs": list(verbs), **more}


def local(act: str, namespace: str, *rules: dict[str, Any]) -> Change:
    return adds(act, f"{RBAC}Role", metadata={"name": "it", "namespace": namespace}, rules=list(rules))


def allows(act: str, policy: str, scope: dict[str, Any], who: str = PERSON) -> Change:
    return adds(act, POLICY, clusterName="slipway-prod", principalArn=who, accessScope=scope,
                policyArn=f"arn:aws:eks::aws:cluster-access-policy/{policy}")  # fmt: skip


def enters(act: str, **props: Any) -> Change:
    return adds(act, ENTRY, **{"clusterName": "slipway-prod", "principalArn": PERSON, "type": "STANDARD", **props})


BINDINGS: Final = (
    binds("lets a team read all namespaces", "view", EDITORS),
    binds("gives a team the built-in admin in its namespace", "admin", EDITORS, kind="RoleBinding"),
    binds("gives pods of a team the built-in edit everywhere", "edit", account()),
    *(binds(f"binds {role} to the pods of a team", role, account()) for role in (
        "system:node", "system:kubelet-api-admin", "system:kube-scheduler", "system:kube-controller-manager",
        "system:controller:clusterrole-aggregation-controller", "system:controller:generic-garbage-collector",
        "system:certificates.k8s.io:kube-apiserver-client-approver", "system:node-proxier", "system:auth-delegator",
        "system:persistent-volume-provisioner", "eks:addon-manager", "eks:cluster-bootstrap",
        "karpenter", "kueue-manager-role", "kube-prometheus-stack-operator", "argo-workflows-admin")),
    *(binds(f"binds view to {kind} {name}", "view", user(name, kind)) for kind, name in (
        ("Group", "system:unauthenticated"), ("Group", "system:serviceaccounts:vision-training"),
        ("User", "system:serviceaccount:vision-training:default"), ("Group", "system:nodes"), ("User", "*"),
        ("User", "eks:node-manager"), ("Group", "system:bootstrappers"), ("Group", ""))),
    binds("binds a new role to everybody", "mine", user("system:authenticated", "Group")),
    binds("hides everybody behind a harmless subject", "slipway-team-view", VIEWERS, user("system:anonymous")),
)  # fmt: skip

ROLES: Final = (
    *(permits(f"lets a role {verb} {resource}", groups=(group,), verbs=(verb,), resources=[resource])
      for verb, group, resource in (
          ("patch", "", "nodes"), ("patch", "", "nodes/status"), ("delete", "", "nodes"), ("create", "", "bindings"),
          ("create", "", "pods/eviction"), ("create", "", "pods/attach"), ("create", "", "pods/portforward"),
          ("get", "", "services/proxy"), ("create", "", "persistentvolumes"), ("update", "", "configmaps"),
          ("watch", "", "secrets"), ("deletecollection", "", "namespaces"), ("delete", "", "resourcequotas"),
          ("create", "", "pods"), ("create", "batch", "cronjobs"), ("patch", "apps", "statefulsets"),
          ("create", "discovery.k8s.io", "endpointslices"), ("update", "coordination.k8s.io", "leases"),
          ("update", "apiextensions.k8s.io", "customresourcedefinitions"),
          ("create", "apiregistration.k8s.io", "apiservices"), ("get", "", "*/proxy"), ("create", "", "*/exec"),
          ("update", "admissionregistration.k8s.io", "validatingadmissionpolicies"),
          ("create", "admissionregistration.k8s.io", "mutatingadmissionpolicies"),
          ("delete", "networking.k8s.io", "networkpolicies"), ("patch", "karpenter.k8s.aws", "ec2nodeclasses"),
          ("create", "karpenter.sh", "nodeclaims"), ("patch", "kueue.x-k8s.io", "clusterqueues"),
          ("patch", "kueue.x-k8s.io", "workloads"), ("create", "trainer.kubeflow.org", "clustertrainingruntimes"),
          ("create", "argoproj.io", "workflows"), ("update", "monitoring.coreos.com", "prometheuses"),
          ("impersonate", "authentication.k8s.io", "uids"), ("impersonate", "authentication.k8s.io", "*"),
          ("update", AUTHORIZATION, "clusterrolebindings"), ("*", AUTHORIZATION, "*"), ("get", "*", "*"))),
    permits("lets a role bind the administrator's", groups=(AUTHORIZATION,), verbs=("bind",),
            resources=["clusterroles"], resourceNames=["cluster-admin"]),
    permits("lets a role be a master", verbs=("impersonate",), resources=["groups"], resourceNames=["system:masters"]),
    permits("lets a role make tokens of one account", verbs=("create",), resources=["serviceaccounts/token"],
            resourceNames=["karpenter"]),
    permits("lets a role sign for one signer", groups=("certificates.k8s.io",), verbs=("sign",),
            resources=["signers"], resourceNames=["kubernetes.io/kube-apiserver-client"]),
    local("reads one Secret of the system", "kube-system", rule(
        verbs=("get",), resources=["secrets"], resourceNames=["aws-load-balancer-tls"])),
    local("makes pods in the namespace of the system", "kube-system", rule(verbs=("create",), resources=["pods"])),
    local("changes workloads of the monitoring", "monitoring", rule("apps", verbs=("*",), resources=["*"])),
    local("makes tokens of Kueue", "kueue-system", rule(verbs=("create",), resources=["serviceaccounts/token"])),
    local("lets a team bind roles in its namespace", "vision-training", rule(
        AUTHORIZATION, verbs=("create", "bind"), resources=["rolebindings"])),
    *(adds(f"joins its rules to {label}", f"{RBAC}ClusterRole", metadata={"name": "it", "labels": {label: "true"}},
           rules=[rule(verbs=("list",), resources=["pods", "secrets"])])
      for label in (f"{AUTHORIZATION}/aggregate-to-view", f"{AUTHORIZATION}/aggregate-to-edit",
                    "rbac.kueue.x-k8s.io/batch-user")),
)  # fmt: skip

GRANT: Final = {"metadata": {"name": "it"}, "roleRef": refers("cluster-admin"), "subjects": [account()]}
KINDS: Final = (
    *(adds(f"binds with a {kind}", f"kubernetes:{kind}", **GRANT) for kind in (
        "rbac.authorization.k8s.io/v1:ClusterRoleBindingPatch", "rbac.authorization.k8s.io/v1:RoleBindingPatch",
        "rbac.authorization.k8s.io/v1beta1:ClusterRoleBinding", "rbac.authorization.k8s.io/v1alpha1:RoleBinding")),
    *(adds(f"binds in a {kind}", f"kubernetes:{kind}", items=[{**GRANT, "kind": "ClusterRoleBinding"}]) for kind in (
        "rbac.authorization.k8s.io/v1:ClusterRoleBindingList", "rbac.authorization.k8s.io/v1:RoleBindingList",
        "core/v1:List")),
    *(adds(f"grants with a {kind}", f"{RBAC}{kind}", metadata={"name": "slipway-team-view"},
           rules=[rule(verbs=("*",), resources=["*"])]) for kind in ("ClusterRolePatch", "RolePatch", "RoleList")),
    *(adds(f"binds with a {token}", f"kubernetes:{token}", apiVersion=f"{AUTHORIZATION}/v1",
           kind="ClusterRoleBinding", **GRANT)
      for token in ("apiextensions.k8s.io:CustomResource", "core/v1:ConfigMap", "rbac.authorization.k8s.io/v1:Role")),
    adds("binds a user through another version of the group", "kubernetes:iam.eks.amazonaws.com/v1:RoleMapping",
         **GRANT),
)  # fmt: skip

ENTRIES: Final = (
    enters("enters as a node", type="EC2_LINUX"),
    enters("enters as a hybrid node", type="HYBRID_LINUX"),
    enters("enters with the name of a node", userName="system:node:ip-10-0-0-1"),
    enters("enters with the groups of bootstrapping", kubernetesGroups=["system:bootstrappers"]),
    enters("enters without any group from another account", principalArn="arn:aws:iam::999999999999:user/x"),
    *(edits(f"gives on-call {name}", "cluster-access-policy-on-call", "policyArn",
            to=f"arn:aws:eks::aws:cluster-access-policy/{name}")
      for name in ("AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSSecretReaderPolicy")),
    allows("lets a person edit a team's namespace", "AmazonEKSEditPolicy", {
        "type": "namespace", "namespaces": ["vision-training"]}),
    allows("lets a person administer the system's namespace", "AmazonEKSAdminPolicy", {
        "type": "namespace", "namespaces": ["kube-system"]}),
    allows("lets a member administer the cluster", "AmazonEKSAdminPolicy", {"type": "cluster"},
           "arn:aws:iam::444455556666:role/ml-vision"),
)  # fmt: skip

ACCOUNTS: Final = (
    *(adds(f"maps a person with a {kind}", f"kubernetes:core/v1:{kind}", metadata={
        "name": "aws-auth", "namespace": "kube-system"}, data={
            "mapRoles": f"- rolearn: {PERSON}\n  groups: [system:masters]\n"}) for kind in
      ("ConfigMap", "ConfigMapPatch")),
)  # fmt: skip

TAKEOVERS: Final = (*BINDINGS, *ROLES, *KINDS, *ENTRIES, *ACCOUNTS)
