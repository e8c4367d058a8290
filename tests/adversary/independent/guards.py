"""What the author of a pull request hollows out: rules, levels, quotas, networks, queues and priorities."""

from typing import Any, Final

from tests.adversary.independent.cloud import adds, edits, removes
from tests.adversary.probe import Change

ADMISSION: Final = "kubernetes:admissionregistration.k8s.io/v1:"
LABEL: Final = "platform.slipway/team"
LEVEL: Final = "pod-security.kubernetes.io/enforce"
RULE: Final = "admission-gpu-queue"
BINDING: Final = "admission-gpu-queue-binding"
SPACE: Final = "space-vision-training"
QUEUE: Final = "queue-vision-cluster-queue"
TEAM: Final = {"metadata": {"name": "it", "namespace": "vision-training"}}
SOME: Final = {"matchLabels": {"a": "b"}}


def hollows(act: str, *path: Any, to: Any, name: str = RULE) -> Change:
    return edits(act, name, "spec", *path, to=to)


def widens(act: str, namespace: str = "vision-training", **spec: Any) -> Change:
    return adds(act, "kubernetes:networking.k8s.io/v1:NetworkPolicy",
                metadata={"name": "it", "namespace": namespace}, spec={"podSelector": {}, **spec})  # fmt: skip


CREATED: Final = ("matchConstraints", "resourceRules", 0)
RULES: Final = (
    hollows("judges what is deleted only", *CREATED, "operations", to=["DELETE"]),
    hollows("judges what is created only", "matchConstraints", "resourceRules", 1, "operations", to=["CREATE"]),
    hollows("judges another version only", *CREATED, "apiVersions", to=["v1beta1"]),
    hollows("judges objects of one name only", *CREATED, "resourceNames", to=["it"]),
    hollows("judges objects of the cluster only", *CREATED, "scope", to="Cluster"),
    hollows("judges fewer kinds", "matchConstraints", "resourceRules", to=[
        {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}]),
    hollows("judges no kinds", *CREATED, "resources", to=["configmaps"]),
    hollows("leaves kinds out", "matchConstraints", "excludeResourceRules", to=[
        {"apiGroups": ["batch"], "apiVersions": ["*"], "operations": ["*"], "resources": ["jobs"]}]),
    hollows("judges marked namespaces only", "matchConstraints", "namespaceSelector", to=SOME),
    hollows("judges marked objects only", "matchConstraints", "objectSelector", to=SOME),
    hollows("judges exact versions only", "matchConstraints", "matchPolicy", to="Exact"),
    hollows("spares a user", "matchConditions", 0, "expression", to="request.userInfo.username != 'alice'"),
    hollows("spares what is annotated", "validations", 0, "expression", to="'a' in object.metadata.annotations"),
    hollows("judges a constant", "validations", 0, "expression", to="1 == 1"),
    hollows("judges a constant by its variable", "variables", 0, "expression", to="[]"),
    hollows("judges nothing of its specifications", "validations", to=[]),
    hollows("takes its limits from somebody's object", "paramKind", to={"apiVersion": "v1", "kind": "ConfigMap"}),
    hollows("lets errors pass", "failurePolicy", to="Ignore", name="admission-priority-class"),
    hollows("lets services have addresses", "validations", 0, "expression", to="!has(object.spec.externalIPs) || true",
            name="admission-external-ips"),
    edits("renames a rule under its binding", RULE, "metadata", "name", to="other.platform.slipway"),
    removes("removes the rule of queues", RULE),
)  # fmt: skip

BINDINGS: Final = (
    hollows("audits what it refused", "validationActions", to=["Audit"], name=BINDING),
    hollows("warns and audits", "validationActions", to=["Audit", "Warn"], name=BINDING),
    hollows("does nothing about violations", "validationActions", to=[], name=BINDING),
    hollows("binds another rule", "policyName", to="external-ips.platform.slipway", name=BINDING),
    hollows("binds a rule that isn't there", "policyName", to="none", name=BINDING),
    hollows("binds marked objects only", "matchResources", "objectSelector", to=SOME, name=BINDING),
    hollows("spares one team", "matchResources", "namespaceSelector", "matchExpressions", to=[
        {"key": LABEL, "operator": "Exists"}, {"key": LABEL, "operator": "NotIn", "values": ["vision"]}], name=BINDING),
    hollows("binds namespaces without a team", "matchResources", "namespaceSelector", "matchExpressions", 0, "operator",
            to="DoesNotExist", name=BINDING),
    hollows("leaves kinds out of a binding", "matchResources", "excludeResourceRules", to=[
        {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}], name=BINDING),
    hollows("binds one kind only", "matchResources", "resourceRules", to=[
        {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["cronjobs"]}],
            name=BINDING),
    hollows("allows all without a parameter", "paramRef", to={
        "name": "none", "namespace": "default", "parameterNotFoundAction": "Allow"}, name=BINDING),
    removes("removes the binding of priorities", "admission-priority-class-binding"),
    adds("declares a rule once more", f"{ADMISSION}ValidatingAdmissionPolicy", metadata={
        "name": "host-access.platform.slipway"}, spec={"failurePolicy": "Fail", "validations": [
            {"expression": "true"}]}),
    adds("declares a binding once more", f"{ADMISSION}ValidatingAdmissionPolicyBinding", metadata={
        "name": "host-access.platform.slipway"}, spec={
            "policyName": "host-access.platform.slipway", "validationActions": ["Warn"]}),
    *(adds(f"hollows a rule with a {kind}", f"kubernetes:admissionregistration.k8s.io/{kind}", metadata={
        "name": "host-access.platform.slipway"}, spec={"failurePolicy": "Ignore"}) for kind in (
            "v1:ValidatingAdmissionPolicyPatch", "v1:ValidatingAdmissionPolicyBindingPatch",
            "v1:ValidatingAdmissionPolicyBindingList", "v1beta1:ValidatingAdmissionPolicy",
            "v1alpha1:MutatingAdmissionPolicy", "v1:MutatingWebhookConfigurationPatch",
            "v1:ValidatingWebhookConfiguration")),
)  # fmt: skip

NAMESPACES: Final = (
    *(edits(f"labels a namespace {label.rpartition('/')[2]}: {value}", f"{SPACE}-namespace", "metadata", "labels",
            label, to=value) for label, value in (
                (f"{LEVEL}-version", "v1.18"), (LABEL, "language"), (LABEL, ""),
                ("platform.slipway/purpose", "serving"), ("platform.slipway/cost-center", "ml-language"))),
    edits("takes the labels of a namespace away", f"{SPACE}-namespace", "metadata", "labels", to={}),
    edits("gives a namespace the priorities of the system", f"{SPACE}-namespace", "metadata", "annotations", to={
        "platform.slipway/priorities": "system-cluster-critical,production-inference"}),
    edits("takes the list of priorities away", f"{SPACE}-namespace", "metadata", "annotations", to={}),
    edits("renames the namespace of a team", f"{SPACE}-namespace", "metadata", "name", to="kube-system"),
    *(edits(f"makes {name} privileged", f"namespaces-{name}", "metadata", "labels", LEVEL, to="privileged")
      for name in ("argo", "keda", "kserve", "mlflow")),
    adds("makes a privileged namespace of a team", "kubernetes:core/v1:Namespace", metadata={
        "name": "vision-more", "labels": {LABEL: "vision", LEVEL: "privileged"}}),
    adds("makes a namespace of a team beside the stack file", "kubernetes:core/v1:Namespace", metadata={
        "name": "vision-more", "labels": {LABEL: "vision", LEVEL: "baseline"}}),
    adds("makes a privileged namespace", "kubernetes:core/v1:Namespace", metadata={
        "name": "mine", "labels": {LEVEL: "privileged"}}),
    adds("declares a team's namespace once more", "kubernetes:core/v1:Namespace", metadata={
        "name": "vision-training", "labels": {LEVEL: "baseline"}}),
)  # fmt: skip

HARD: Final = (f"{SPACE}-quota", "spec", "hard")
LIMITS: Final = (
    edits("raises the GPUs of a team", *HARD, "requests.nvidia.com/gpu", to="1000"),
    edits("allows load balancers", *HARD, "services.loadbalancers", to="10"),
    edits("counts no GPUs", *HARD, to={"pods": "500", "requests.cpu": "2305650m"}),
    edits("counts pods of no class only", f"{SPACE}-quota", "spec", "scopes", to=["BestEffort"]),
    edits("counts pods of one class only", f"{SPACE}-quota", "spec", "scopeSelector", to={"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["experiment"]}]}),
    edits("counts in another namespace", f"{SPACE}-quota", "metadata", "namespace", to="default"),
    edits("lifts the limits of containers", f"{SPACE}-limits", "spec", "limits", to=[]),
    edits("limits something else", f"{SPACE}-limits", "spec", "limits", 0, "type", to="PersistentVolumeClaim"),
    edits("raises the limit of a container", f"{SPACE}-limits", "spec", "limits", 0, "max", to={"cpu": "10000"}),
    edits("gives containers the whole node by default", f"{SPACE}-limits", "spec", "limits", 0, "defaultRequest",
          to={"cpu": "190950m"}),
    removes("removes the limits of containers", f"{SPACE}-limits"),
    adds("raises a quota with a patch", "kubernetes:core/v1:ResourceQuotaPatch", metadata={
        "name": "team", "namespace": "vision-training"}, spec={"hard": {"pods": "100000"}}),
    adds("declares a quota once more", "kubernetes:core/v1:ResourceQuota", metadata={
        "name": "team", "namespace": "vision-training"}, spec={"hard": {"pods": "100000"}}),
)  # fmt: skip

BLOCK: Final = {"ipBlock": {"cidr": "0.0.0.0/0"}}
NETWORKS: Final = (
    widens("lets all namespaces into a team's", ingress=[{"from": [{"namespaceSelector": {}}]}]),
    widens("lets namespaces in by their having a name", ingress=[{"from": [{"namespaceSelector": {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}]}]),
    widens("lets every address in", ingress=[{"from": [BLOCK], "ports": [{"port": 22}]}]),
    widens("lets every address in by halves", ingress=[{"from": [
        {"ipBlock": {"cidr": "0.0.0.0/1"}}, {"ipBlock": {"cidr": "128.0.0.0/1"}}]}]),
    widens("lets every address of IPv6 in", ingress=[{"from": [{"ipBlock": {"cidr": "::/0"}}]}]),
    widens("lets pods of a team reach all", egress=[{}], policyTypes=["Egress"]),
    widens("lets pods of a team reach their node's credentials", egress=[{"to": [
        {"ipBlock": {"cidr": "169.254.169.254/32"}}]}], policyTypes=["Egress"]),
    widens("lets one team into the other", ingress=[{"from": [{"namespaceSelector": {
        "matchLabels": {LABEL: "language"}}}]}]),
    widens("lets all into the models' registry", "mlflow", ingress=[{}]),
    widens("lets all out of KEDA", "keda", egress=[{"to": [BLOCK]}], policyTypes=["Egress"]),
    edits("isolates pods that nobody has", f"{SPACE}-network-default-deny", "spec", "podSelector", to=SOME),
    edits("isolates one direction only", f"{SPACE}-network-default-deny", "spec", "policyTypes", to=["Ingress"]),
    edits("lets all in by default", f"{SPACE}-network-default-deny", "spec", "ingress", to=[{}]),
    edits("moves the default to another namespace", f"{SPACE}-network-default-deny", "metadata", "namespace",
          to="default"),
    edits("lets pods of a team reach pods of others", f"{SPACE}-network-team", "spec", "egress", 2, "to", to=[BLOCK]),
    edits("lets a team speak on all ports", f"{SPACE}-network-team", "spec", "egress", 2, "ports", to=[]),
    edits("lets all teams into one", f"{SPACE}-network-team", "spec", "ingress", 0, "from", to=[
        {"namespaceSelector": {"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}}]),
    edits("lets all teams read a team's experiments", "mlflow-ingress-vision", "spec", "ingress", 0, "from", 0,
          "namespaceSelector", to={}),
    edits("lets KEDA reach the internet", "keda-egress", "spec", "egress", to=[{"to": [BLOCK]}]),
    edits("lets all read logs' metrics", "fluent-bit-ingress", "spec", "ingress", to=[{}]),
    edits("lets the internet reach models", "space-vision-serving-network-serving", "spec", "ingress", 0, "from",
          to=[BLOCK]),
    removes("removes the default policy of the registry", "mlflow-ingress"),
    removes("removes what limits KEDA", "keda-egress"),
    adds("widens a policy with a patch", "kubernetes:networking.k8s.io/v1:NetworkPolicyPatch", metadata={
        "name": "default-deny", "namespace": "vision-training"}, spec={"ingress": [{}]}),
    adds("allows before all policies", "kubernetes:policy.networking.k8s.io/v1alpha1:AdminNetworkPolicy",
         metadata={"name": "it"}, spec={"priority": 1, "subject": {"namespaces": {}}, "ingress": [
             {"action": "Allow", "from": [{"namespaces": {}}]}]}),
)  # fmt: skip

KUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:"
GPU: Final = ("spec", "resourceGroups", 0, "flavors", 3, "resources", 2)
QUOTA: Final = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [
    {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "1000"}]}]}]  # fmt: skip
QUEUES: Final = (
    edits("raises the GPUs of a queue", QUEUE, *GPU, "nominalQuota", to="1000"),
    edits("lets a queue borrow all", QUEUE, *GPU, "borrowingLimit", to="1000"),
    edits("lets a queue borrow without limit", QUEUE, *GPU, to={"name": "nvidia.com/gpu", "nominalQuota": "8"}),
    edits("lets a queue preempt others", QUEUE, "spec", "preemption", to={
        "reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}),
    edits("lets nobody preempt a queue's jobs", QUEUE, "spec", "preemption", to={
        "reclaimWithinCohort": "Never", "withinClusterQueue": "Never"}),
    edits("weighs one team by far", QUEUE, "spec", "fairSharing", "weight", to="1000"),
    edits("takes a queue out of its cohort", QUEUE, "spec", "cohortName", to="mine"),
    edits("stops a queue", QUEUE, "spec", "stopPolicy", to="HoldAndDrain"),
    edits("lets other teams' namespaces into a queue", QUEUE, "spec", "namespaceSelector", to={"matchExpressions": [
        {"key": LABEL, "operator": "In", "values": ["vision", "language"]}]}),
    edits("queues a team's jobs in another team's queue", "queue-vision-local-queue-vision-training", "spec",
          "clusterQueue", to="language"),
    edits("gives the cohort GPUs", "queues-cohort", "spec", "resourceGroups", to=QUOTA),
    edits("hangs the cohort under another", "queues-cohort", "spec", "parentName", to="mine"),
    edits("lets jobs of CPUs tolerate everything", "queues-flavor-cpu", "spec", "tolerations", to=[
        {"operator": "Exists"}]),
    edits("sends jobs of CPUs to every node", "queues-flavor-cpu", "spec", "nodeLabels", to={}),
    edits("sends jobs of CPUs to the nodes of the system", "queues-flavor-cpu", "spec", "nodeLabels", to={
        "platform.slipway/pool": "system"}),
    edits("queues experiments before all", "queues-priority-experiment", "value", to=10**6),
    removes("removes the queue of a team", QUEUE),
    adds("adds a queue with GPUs", f"{KUEUE}ClusterQueue", metadata={"name": "mine"}, spec={
        "cohortName": "platform", "namespaceSelector": {}, "resourceGroups": QUOTA}),
    adds("adds GPUs to the cohort by another", f"{KUEUE}Cohort", metadata={"name": "mine"}, spec={
        "parentName": "platform", "resourceGroups": QUOTA}),
    adds("adds a way into another team's queue", f"{KUEUE}LocalQueue", **TEAM, spec={"clusterQueue": "language"}),
    adds("adds a flavor that tolerates everything", f"{KUEUE}ResourceFlavor", metadata={"name": "mine"}, spec={
        "tolerations": [{"operator": "Exists"}]}),
    adds("adds a priority of queues", f"{KUEUE}WorkloadPriorityClass", metadata={"name": "mine"}, value=10**6),
    adds("raises a queue with a patch", f"{KUEUE}ClusterQueuePatch", metadata={"name": "vision"}, spec={
        "resourceGroups": QUOTA}),
    adds("adds a queue in an older version", "kubernetes:kueue.x-k8s.io/v1beta1:ClusterQueue", metadata={
        "name": "mine"}, spec={"cohort": "platform", "namespaceSelector": {}, "resourceGroups": QUOTA}),
)  # fmt: skip

CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
PRIORITIES: Final = (
    adds("adds the highest priority", CLASS, metadata={"name": "mine"}, value=10**9),
    adds("adds a priority that preempts", CLASS, metadata={"name": "mine"}, value=9000,
         preemptionPolicy="PreemptLowerPriority"),
    edits("lets training preempt pods", "priorities-production-training", "preemptionPolicy",
          to="PreemptLowerPriority"),
    edits("gives all pods the priority of training", "priorities-production-training", "globalDefault", to=True),
    edits("puts experiments before training", "priorities-experiment", "value", to=8500),
    edits("renames a priority", "priorities-experiment", "metadata", "name", to="production-inference"),
    removes("removes a priority", "priorities-production-training"),
    adds("changes a priority with a patch", f"{CLASS}Patch", metadata={"name": "experiment"}, globalDefault=True),
)  # fmt: skip

HOLLOWED: Final = (*RULES, *BINDINGS, *NAMESPACES, *LIMITS, *NETWORKS, *QUEUES, *PRIORITIES)
