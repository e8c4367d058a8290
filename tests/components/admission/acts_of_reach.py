"""Acts that reach beyond a namespace: other teams' pods, metrics, load balancers and bills."""

from typing import Any, Final

from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT, TEAM, Act
from tests.components.admission.samples import Object, spec

OTHERS: Final = {"labelSelector": {}, "topologyKey": "topology.kubernetes.io/zone"}
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def repelling(**whom: Any) -> Object:
    return make.pod(spec(affinity={"podAntiAffinity": {REQUIRED: [{**OTHERS, **whom}]}}))


def drawn(how: str, **whom: Any) -> Object:
    term = {**OTHERS, **whom}
    return make.pod(spec(affinity={"podAffinity": {
        how: [{"weight": 1, "podAffinityTerm": term}] if how == PREFERRED else [term]}}))  # fmt: skip


def billed(**labels: str) -> Object:
    return make.pod(None, **{f"platform.slipway/{key}": text for key, text in labels.items()})


def monitored(**fields: Any) -> Object:
    return make.service_monitor(**fields)


def surging(surge: int | str) -> Object:
    return make.deployment(replicas=1, strategy={"rollingUpdate": {"maxSurge": surge}})


LOCKED: Final[dict[str, Object]] = {
    "as a whole": {"synchronization": {"mutexes": [{"name": "a"}, {"name": "b", "namespace": "other"}]}},
    "in a step": {
        "templates": [
            {"name": "a"},
            {
                "name": "b",
                "synchronization": {
                    "semaphores": [{"namespace": "other", "configMapKeyRef": {"name": "a", "key": "b"}}]
                },
            },
        ]
    },
    "in its defaults": {"templateDefaults": {"synchronization": {"mutexes": [{"name": "b", "namespace": "other"}]}}},
}
REACHING: Final = (
    Act(what="a pod that repels all others", actor=EDIT, manifest=repelling(namespaceSelector={}),
        rule="node-selection"),
    Act(what="a pod that repels a team", actor=EDIT, manifest=repelling(namespaces=["other"]), rule="node-selection"),
    Act(what="a pod that repels its own", actor=EDIT, manifest=repelling()),
    *(
        Act(what=f"a pod drawn to a team, {how[:9]}", actor=EDIT, manifest=drawn(how, namespaces=["other"]),
            rule="node-selection")
        for how in (REQUIRED, PREFERRED)
    ),
    Act(what="a pod drawn to its own", actor=EDIT, manifest=drawn(PREFERRED, namespaces=["acts"])),
    Act(what="a pod on one node", actor=EDIT, manifest=make.pod(spec(nodeSelector={"kubernetes.io/hostname": "n"})),
        rule="node-selection"),
    Act(what="a pod of another cost center", actor=EDIT, manifest=billed(**{"cost-center": "other"}),
        rule="team-labels"),
    Act(what="a pod with another team's label later", actor=EDIT, before=make.pod(), method="PATCH",
        manifest={**billed(team="other"), "spec": {}}, rule="team-labels"),
    Act(what="a pod with the label of its team", actor=EDIT, manifest=billed(team=TEAM)),
    *(
        Act(what=f"a {kind} with a lock of another namespace {where}", actor=EDIT, rule="workflow-locks",
            manifest=make.workflow(kind, **body))
        for kind in ("Workflow", "CronWorkflow", "WorkflowTemplate")
        for where, body in LOCKED.items()
    ),
    Act(what="a Workflow with locks of its own namespace", actor=EDIT, manifest=make.workflow(
        synchronization={"mutexes": [{"name": "a"}, {"name": "b", "namespace": "acts"}]}, templates=[
            {"name": "a", "synchronization": {"semaphores": [{"configMapKeyRef": {"name": "a", "key": "b"}}]}}])),
    Act(what="a ServiceMonitor of all namespaces", actor=EDIT, rule="monitor-scope", manifest={
        **make.service_monitor(), "spec": {"namespaceSelector": {"any": True}, "selector": {}, "endpoints": []}}),
    Act(what="a ServiceMonitor of its own namespace by name", actor=EDIT, manifest={
        **make.service_monitor(), "spec": {"namespaceSelector": {"matchNames": ["acts"]}, "selector": {},
                                           "endpoints": []}}),
    *(
        Act(what=f"a ServiceMonitor with {next(iter(field))} {next(iter(field.values()))}", actor=EDIT,
            manifest=monitored(**field), rule="monitor-scope")
        for field in (
            {"honorLabels": True}, {"interval": "1ms"}, {"interval": "5s"},
            {"relabelings": [{"targetLabel": "__address__", "replacement": "10.0.0.1:80"}]},
            {"metricRelabelings": [{"action": "LabelMap", "regex": "x_(.*)"}]},
            {"metricRelabelings": [{"targetLabel": "namespace", "replacement": "other"}]},
            {"relabelings": [{"targetLabel": "scraped_by", "replacement": "platform"}]},
            {"metricRelabelings": [{"targetLabel": "__name__", "replacement": "kube_namespace_labels"}]},
        )
    ),
    Act(what="a ServiceMonitor every minute with a label", actor=EDIT, manifest=monitored(
        interval="1m", relabelings=[{"targetLabel": "node", "sourceLabels": ["__meta_kubernetes_pod_node_name"]}])),
    *(
        Act(what=f"an Ingress with {name}", actor=ADMIN, manifest=make.ingress(**{name: text}), rule="ingress-scope")
        for name, text in (("security-groups", "sg-1"), ("subnets", "subnet-1"), ("tags", "team=other"),
                           ("load-balancer-attributes", "access_logs.s3.enabled=true"))
    ),
    Act(what="an Ingress with a time limit", actor=ADMIN, manifest=make.ingress(
        **{"load-balancer-attributes": "idle_timeout.timeout_seconds=600"})),
    *(
        Act(what=f"a Deployment that surges by {surge}", actor=EDIT, manifest=surging(surge), rule="scale-bounds")
        for surge in (500, "101%")
    ),
    Act(what="a Deployment that surges by half", actor=EDIT, manifest=surging("50%")),
    Act(what="a pod with a mounted image without version", actor=EDIT, rule="image-tag", manifest=make.pod(
        spec(volumes=[{"name": "v", "image": {"reference": "data"}}]))),
    Act(what="a pod with another image, without version", actor=EDIT, method="PATCH", rule="image-tag",
        before=make.pod(spec(automountServiceAccountToken=False)),
        manifest={**make.pod(), "spec": {"containers": [
            {"name": "main", "image": "train", "imagePullPolicy": "IfNotPresent"}]}}),
)  # fmt: skip
