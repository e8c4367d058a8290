"""What a platform engineer has to be able to change: the stack file, and an add-on of their own."""

from dataclasses import replace
from typing import Any, Final

from tests.adversary.commits import POLICIES
from tests.adversary.independent.cloud import adds
from tests.adversary.independent.objects import RBAC
from tests.adversary.independent.rbac import refers, rule
from tests.adversary.probe import Change, Commit

MINE: Final = {"metadata": {"name": "exporter", "namespace": "exporter"}}
SELECTED: Final = {"matchLabels": {"app": "exporter"}}
IMAGE: Final = "444455556666.dkr.ecr.us-east-1.amazonaws.com/slipway-prod/exporter@sha256:" + "0" * 64
POD: Final = {
    "serviceAccountName": "exporter", "automountServiceAccountToken": True,
    "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{
        "name": "exporter", "image": IMAGE, "ports": [{"containerPort": 8080, "name": "metrics"}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
        "livenessProbe": {"httpGet": {"path": "/live", "port": 8080}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
                            "capabilities": {"drop": ["ALL"]}},
    }],
}  # fmt: skip
TEMPLATE: Final = {"metadata": {"labels": {"app": "exporter"}}, "spec": POD}
LEVELS: Final = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
READ: Final = ("get", "list", "watch")


def reads(act: str, *rules: dict[str, Any]) -> Change:
    return adds(act, f"{RBAC}ClusterRole", metadata={"name": "exporter"}, rules=list(rules))


PARTS: Final = (
    adds("makes a namespace for an add-on", "kubernetes:core/v1:Namespace", metadata={
        "name": "exporter", "labels": LEVELS}),
    adds("makes an account for an add-on", "kubernetes:core/v1:ServiceAccount", **MINE,
         automountServiceAccountToken=False),
    adds("runs an add-on", "kubernetes:apps/v1:Deployment", **MINE, spec={
        "replicas": 2, "selector": SELECTED, "template": {**TEMPLATE, "spec": {**POD, "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": SELECTED}]}}}),
    adds("runs an add-on nightly", "kubernetes:batch/v1:CronJob", **MINE, spec={
        "schedule": "0 3 * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": {
            **TEMPLATE, "spec": {**POD, "restartPolicy": "Never"}}}}}),
    adds("configures an add-on", "kubernetes:core/v1:ConfigMap", **MINE, data={"interval": "30s"}),
    adds("offers an add-on in the cluster", "kubernetes:core/v1:Service", **MINE, spec={
        "selector": {"app": "exporter"}, "ports": [{"port": 8080, "name": "metrics"}]}),
    adds("isolates an add-on", "kubernetes:networking.k8s.io/v1:NetworkPolicy", **MINE, spec={
        "podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"namespaceSelector": {
            "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}], "ports": [{"port": 8080}]}]}),
    adds("keeps a replica of an add-on", "kubernetes:policy/v1:PodDisruptionBudget", **MINE, spec={
        "maxUnavailable": 1, "selector": SELECTED}),
    adds("scrapes an add-on", "kubernetes:monitoring.coreos.com/v1:PodMonitor", **MINE, spec={
        "selector": SELECTED, "podMetricsEndpoints": [{"port": "metrics"}]}),
    adds("alerts for an add-on", "kubernetes:monitoring.coreos.com/v1:PrometheusRule", **MINE, spec={"groups": [
        {"name": "exporter", "rules": [{"alert": "ExporterDown", "expr": 'up{job="exporter"} == 0', "for": "10m",
                                        "labels": {"severity": "warning"}}]}]}),
    adds("lets an add-on read its namespace", f"{RBAC}Role", **MINE, rules=[
        rule(verbs=READ, resources=["configmaps", "pods"]), rule("coordination.k8s.io", verbs=(
            "get", "create", "update"), resources=["leases"])]),
    adds("binds the role of an add-on", f"{RBAC}RoleBinding", **MINE, roleRef=refers("exporter", "Role"), subjects=[
        {"kind": "ServiceAccount", "name": "exporter", "namespace": "exporter"}]),
    reads("lets an add-on read nodes and pods", rule(verbs=READ, resources=["nodes", "pods", "namespaces"])),
    reads("lets an add-on read metrics", rule("metrics.k8s.io", verbs=("get", "list"), resources=["nodes", "pods"])),
    reads("lets an add-on read queues", rule("kueue.x-k8s.io", verbs=READ, resources=["clusterqueues", "workloads"])),
    adds("lets an add-on read the server's metrics", f"{RBAC}ClusterRole", metadata={"name": "exporter"}, rules=[
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]),
    adds("binds the reader of an add-on", f"{RBAC}ClusterRoleBinding", metadata={"name": "exporter"},
         roleRef=refers("exporter"), subjects=[
             {"kind": "ServiceAccount", "name": "exporter", "namespace": "exporter"}]),
)  # fmt: skip

ADD_ON: Final = tuple(replace(part, beside=tuple(one for one in PARTS if one.type != part.type)) for part in PARTS)
"""Its parts come in one pull request: a binding without its role is refused."""
LEADS: Final = '        members: {engineers: {principalArn: "arn:aws:iam::444455556666:role/ml-recommender"}}\n'
QUOTAS: Final = "        gpus: {a100: {nominalQuota: 8}, gpu-spot: {nominalQuota: 12}}\n"
TEAM: Final = """\
      speech:
        project: dictation
        costCenter: ml-speech
        budgetUsd: 10000
        members: {leads: {principalArn: "arn:aws:iam::444455556666:role/ml-speech", role: admin}}
        namespaces: {training: {}, notebooks: {purpose: interactive, podSecurity: restricted}}
        cpus: {cpu: {nominalQuota: 0, borrowingLimit: 32}}
"""
ON_CALL: Final = 'role/ml-on-call", policy: AmazonEKSAdminViewPolicy}\n'
AUDITORS: Final = """\
        auditors:
          principalArn: "arn:aws:iam::444455556666:role/audit"
          policy: AmazonEKSViewPolicy
          namespaces: [monitoring]
"""


def settles(act: str, **changes: tuple[str, str]) -> Commit:
    """A change of the stack file, which passes the whole pack: several at once, because each run takes 10 s."""
    return Commit(act, file="stacks/Pulumi.prod.yaml", command=(*POLICIES[:-1], "prod"), says="",
        changes=dict(changes.values()))  # fmt: skip


SPACES: Final = "namespaces: {training: {purpose: training}, serving: {purpose: serving}"
SETTINGS: Final = (
    settles(
        "adds a team, a member and auditors",
        team=("      recommender:\n", f"{TEAM}      recommender:\n"),
        member=(LEADS, LEADS.replace("engineers:", "leads: {principalArn: "
                '"arn:aws:iam::444455556666:role/ml-recommender-lead", role: admin}, engineers:')),
        auditors=(ON_CALL, ON_CALL + AUDITORS),
    ),
    settles("adds a namespace, and changes quotas, a weight and priorities", namespace=(
            f"{SPACES}}}\n        gpus: {{a100: {{nominalQuota: 8}}",
            f"{SPACES}, tools: {{share: 20}}}}\n        gpus: {{a100: {{nominalQuota: 8}}"),
        lent=("h100: {nominalQuota: 8, borrowingLimit: 16}", "h100: {nominalQuota: 8, borrowingLimit: 8}"),
        borrowed=(QUOTAS, QUOTAS.replace("nominalQuota: 12", "nominalQuota: 12, borrowingLimit: 4")),
        weight=("        weight: 2\n", "        weight: 3\n        priorities: [production-training, experiment]\n")),
    settles("adds a pool, enlarges another, and lowers rules", pools=("      cpu: {preset: cpu, max: 40}\n",
            "      cpu: {preset: cpu, max: 41}\n      batch: {preset: cpu, max: 1}\n"),
        rules=("    addons:\n", "    admission: {spotCheckpoint: warn, imageTag: off}\n    addons:\n")),
    settles("removes an add-on, retires a team, and makes a member a viewer", addon=("      kuberay: {}\n", ""),
        team=("        project: ranking\n", "        retired: true\n        project: ranking\n"),
        member=(LEADS, LEADS.replace('recommender"', 'recommender", role: view'))),
)  # fmt: skip
