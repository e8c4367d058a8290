"""What the author of a pull request takes over in the cluster: roles, bindings, subjects, accounts and entries."""

from typing import Any, Final

from tests.adversary.independent.cloud import adds, edits
from tests.adversary.independent.objects import META, RBAC, TEAM, binds, permits, user
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
    adds("gives a team's editors its administrators' role", f"{RBAC}RoleBinding", **TEAM,
         roleRef=refers("slipway-team-admin"), subjects=[EDITORS]),
    adds("lets another team into a namespace", f"{RBAC}RoleBinding", **TEAM, roleRef=refers("slipway-team-view"),
         subjects=[user("slipway:language:view", "Group")]),
    adds("binds a role of the system's namespace to a team", f"{RBAC}RoleBinding", **META,
         roleRef=refers("extension-apiserver-authentication-reader", "Role"), subjects=[account()]),
    adds("makes a team's role hold in all namespaces", f"{RBAC}ClusterRoleBinding", metadata={"name": "it"},
         roleRef=refers("slipway-team-edit"), subjects=[EDITORS]),
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
    adds("lets a role profile the API server", f"{RBAC}ClusterRole", metadata={"name": "it"},
         rules=[{"nonResourceURLs": ["/debug/*", "/logs*"], "verbs": ["get"]}]),
    adds("lets a role get every path by prefixes", f"{RBAC}ClusterRole", metadata={"name": "it"},
         rules=[{"nonResourceURLs": ["/api*"], "verbs": ["*"]}]),
    adds("hides a dangerous rule behind harmless ones", f"{RBAC}ClusterRole", metadata={"name": "it"}, rules=[
        rule(verbs=("get",), resources=["pods"]), rule("apps,", verbs=("get",), resources=["deployments", "secrets"])]),
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
    adds("collects the rules of administrators", f"{RBAC}ClusterRole", metadata={"name": "it"}, rules=[],
         aggregationRule={"clusterRoleSelectors": [{"matchLabels": {f"{AUTHORIZATION}/aggregate-to-admin": "true"}}]}),
    adds("replaces the built-in view", f"{RBAC}ClusterRole", metadata={"name": "view"},
         rules=[rule(verbs=("get",), resources=["pods"])]),
    adds("declares a team's role once more", f"{RBAC}ClusterRole", metadata={"name": "slipway-team-view"},
         rules=[rule(verbs=("get",), resources=["pods/log"])]),
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

CHANGED: Final = (
    edits("lets viewers delete pods", "team-roles-view", "rules", 0, "verbs", to=["get", "list", "watch", "delete"]),
    edits("lets viewers become administrators by aggregation", "team-roles-view", "aggregationRule", to={
        "clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}),
    edits("lets viewers read nodes' logs", "team-roles-view", "rules", 14, "resources", to=["nodes/proxy"]),
    edits("gives viewers' rights to the built-in view", "team-roles-view", "metadata", "labels", to={
        f"{AUTHORIZATION}/aggregate-to-view": "true"}),
    edits("takes the name of a built-in role", "team-roles-view", "metadata", "name", to="edit"),
    edits("lets editors get Secrets", "team-roles-edit", "rules", 36, "verbs", to=["create", "get"]),
    edits("lets editors admit their own jobs", "team-roles-edit", "rules", 18, "verbs", to=["get", "patch"]),
    edits("lets editors change quotas", "team-roles-edit", "rules", 14, "verbs", to=["get", "list", "update"]),
    edits("lets editors change network policies", "team-roles-edit", "rules", 20, "verbs", to=["get", "update"]),
    edits("lets editors run in any group", "team-roles-edit", "rules", 37, "apiGroups", to=["*"]),
    edits("lets administrators of teams bind roles", "team-roles-admin", "rules", 21, "verbs", to=["get", "create"]),
    edits("lets administrators make tokens", "team-roles-admin", "rules", 39, "resources", to=[
        "serviceaccounts", "serviceaccounts/token"]),
    edits("lets workflows of teams start pods", "team-roles-workflows", "rules", 0, "resources", to=["*"]),
    edits("makes viewers' binding one of editors", "space-vision-training-binding-edit", "roleRef", "name",
          to="slipway-team-admin"),
    edits("makes a team's binding one of the system", "space-vision-training-binding-edit", "roleRef", "name",
          to="cluster-admin"),
    edits("moves a team's binding to the system", "space-vision-training-binding-edit", "metadata", "namespace",
          to="kube-system"),
    edits("moves a team's binding to another team", "space-vision-training-binding-edit", "metadata", "namespace",
          to="language-training"),
    edits("adds a person to a team's binding", "space-vision-training-binding-edit", "subjects", to=[
        EDITORS, user("alice")]),
    edits("adds the default account to the workflows", "space-vision-training-binding-workflows", "subjects", to=[
        account(), account("default")]),
    edits("replaces the workflows' role", "space-vision-training-binding-workflows", "roleRef", "name",
          to="slipway-team-edit"),
    edits("lets viewers replace the group by its accounts", "space-vision-training-binding-edit", "subjects", 0,
          to=user("system:serviceaccounts:vision-training", "Group")),
)  # fmt: skip

ENTRIES: Final = (
    edits("moves a member to another team", "team-vision-member-engineers", "kubernetesGroups",
          to=["slipway:language:admin"]),
    edits("makes a member an administrator beside the stack file", "team-vision-member-engineers",
          "kubernetesGroups", to=["slipway:vision:admin"]),
    edits("adds a group to a member", "team-vision-member-leads", "kubernetesGroups", to=[
        "slipway:vision:admin", "system:nodes"]),
    edits("replaces a member by another account", "team-vision-member-leads", "principalArn",
          to="arn:aws:iam::999999999999:role/ml-vision-lead"),
    edits("replaces a member by somebody of its account", "team-vision-member-leads", "principalArn", to=PERSON),
    enters("enters as a node", type="EC2_LINUX"),
    enters("enters as a hybrid node", type="HYBRID_LINUX"),
    enters("enters with the name of a node", userName="system:node:ip-10-0-0-1"),
    enters("enters with the groups of bootstrapping", kubernetesGroups=["system:bootstrappers"]),
    enters("enters without any group from another account", principalArn="arn:aws:iam::999999999999:user/x"),
    edits("makes on-call a group of the cluster", "cluster-access-entry-on-call", "kubernetesGroups", to=["admins"]),
    edits("lets anybody be a node of Karpenter", "karpenter-nodes-access-entry", "principalArn", to=PERSON),
    edits("lets releases into all namespaces", "cluster-access-policy-releases", "accessScope", to={"type": "cluster"}),
    edits("lets releases into namespaces by a pattern", "cluster-access-policy-releases", "accessScope", "namespaces",
          to=["default", "kube-*"]),
    *(edits(f"gives on-call {name}", "cluster-access-policy-on-call", "policyArn",
            to=f"arn:aws:eks::aws:cluster-access-policy/{name}")
      for name in ("AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSSecretReaderPolicy")),
    edits("gives the administrator's policy to another principal", "cluster-access-policy-platform-admins",
          "principalArn", to=PERSON),
    allows("lets a person edit a team's namespace", "AmazonEKSEditPolicy", {
        "type": "namespace", "namespaces": ["vision-training"]}),
    allows("lets a person administer the system's namespace", "AmazonEKSAdminPolicy", {
        "type": "namespace", "namespaces": ["kube-system"]}),
    allows("lets a member administer the cluster", "AmazonEKSAdminPolicy", {"type": "cluster"},
           "arn:aws:iam::444455556666:role/ml-vision"),
    edits("lets ConfigMaps decide who enters", "cluster-control-plane", "accessConfig", "authenticationMode",
          to="API_AND_CONFIG_MAP"),
    edits("makes its creator an administrator", "cluster-control-plane", "accessConfig",
          "bootstrapClusterCreatorAdminPermissions", to=True),
    adds("trusts another issuer for people", "aws:eks/identityProviderConfig:IdentityProviderConfig",
         clusterName="slipway-prod", oidc={"clientId": "x", "issuerUrl": "https://issuer.example",
                                           "identityProviderConfigName": "x", "groupsPrefix": "system:"}),
)  # fmt: skip

ROLE: Final = {"eks.amazonaws.com/role-arn": "arn:aws:iam::444455556666:role/karpenter-controller"}
ACCOUNTS: Final = (
    edits("annotates a team's account with a role", "space-vision-training-account", "metadata", "annotations",
          to=ROLE),
    edits("mounts the token of a team's account in the program", "space-vision-training-account",
          "automountServiceAccountToken", to=True),
    adds("makes an account with Karpenter's role", "kubernetes:core/v1:ServiceAccount", metadata={
        "name": "it", "namespace": "vision-training", "annotations": ROLE}),
    adds("annotates the default account", "kubernetes:core/v1:ServiceAccountPatch", metadata={
        "name": "default", "namespace": "vision-training", "annotations": ROLE}),
    edits("gives a team's pods the role of Karpenter", "space-vision-training-association", "roleArn",
          to="arn:aws:iam::444455556666:role/slipway-prod-karpenter-role"),
    edits("gives Karpenter's role to a team's pods", "karpenter-association", "namespace", to="vision-training"),
    adds("keeps a token of Karpenter", "kubernetes:core/v1:Secret", type="kubernetes.io/service-account-token",
         metadata={"name": "it", "namespace": "kube-system", "annotations": {
             "kubernetes.io/service-account.name": "karpenter"}}),
    adds("makes a token for bootstrapping", "kubernetes:core/v1:Secret", type="bootstrap.kubernetes.io/token",
         metadata={"name": "bootstrap-token-abcdef", "namespace": "kube-system"}),
    adds("asks for a certificate of a master", "kubernetes:certificates.k8s.io/v1:CertificateSigningRequest",
         metadata={"name": "it"}, spec={"request": "LS0t", "signerName": "kubernetes.io/kube-apiserver-client",
                                        "usages": ["client auth"], "groups": ["system:masters"]}),
    *(adds(f"maps a person with a {kind}", f"kubernetes:core/v1:{kind}", metadata={
        "name": "aws-auth", "namespace": "kube-system"}, data={
            "mapRoles": f"- rolearn: {PERSON}\n  groups: [system:masters]\n"}) for kind in
      ("ConfigMap", "ConfigMapPatch")),
)  # fmt: skip

RULES: Final = [rule("*", verbs=("*",), resources=["*"])]
CHARTS: Final = (
    edits("adds a rule to KEDA's role by its chart", "keda-release", "values", "extraObjects", to=[
        {"apiVersion": f"{AUTHORIZATION}/v1", "kind": "ClusterRoleBinding", **GRANT}]),
    edits("adds a binding by Argo's chart", "argo-workflows-release", "values", "extraObjects", to=[
        {"apiVersion": f"{AUTHORIZATION}/v1", "kind": "ClusterRoleBinding", **GRANT}]),
    edits("adds a binding by Prometheus' chart", "kube-prometheus-stack-release", "values", "extraManifests", to=[
        {"apiVersion": f"{AUTHORIZATION}/v1", "kind": "ClusterRoleBinding", **GRANT}]),
    edits("adds rules to kube-state-metrics", "kube-prometheus-stack-release", "values", "kube-state-metrics", to={
        "rbac": {"extraRules": RULES}}),
    edits("adds rules to Karpenter by its chart", "karpenter-release", "values", "additionalClusterRolePolicyRules",
          to=RULES),
    edits("lets Argo's server act for everybody", "argo-workflows-release", "values", "server", to={
        "enabled": True, "authModes": ["server"], "clusterWorkflowTemplates": {"enableEditing": True}}),
)  # fmt: skip

TAKEOVERS: Final = (*BINDINGS, *ROLES, *KINDS, *CHANGED, *ENTRIES, *ACCOUNTS, *CHARTS)
