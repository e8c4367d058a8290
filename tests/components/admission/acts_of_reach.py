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
    "in a step": {"templates": [{"name": "a"}, {"name": "b", "synchronization": {
                    "semaphores": [{"namespace": "other", "configMapKeyRef": {"name": "a", "key": "b"}}]}}]},
    "in its defaults": {"templateDefaults": {"synchronization": {"mutexes": [{"name": "b", "namespace": "other"}]}}},
}  # fmt: skip
REACHING: Final = (
    Act("a pod that repels all others", EDIT, repelling(namespaceSelector={}), "node-selection"),
    Act("a pod that repels a team", EDIT, repelling(namespaces=["other"]), "node-selection"),
    Act("a pod that repels its own", EDIT, repelling()),
    *(
        Act(f"a pod drawn to a team, {how[:9]}", EDIT, drawn(how, namespaces=["other"]), "node-selection")
        for how in (REQUIRED, PREFERRED)
    ),
    Act("a pod drawn to its own", EDIT, drawn(PREFERRED, namespaces=["acts"])),
    Act("a pod on one node", EDIT, make.pod(spec(nodeSelector={"kubernetes.io/hostname": "n"})), "node-selection"),
    Act("a pod of another cost center", EDIT, billed(**{"cost-center": "other"}), "team-labels"),
    Act("a pod with another team's label later", EDIT, {**billed(team="other"), "spec": {}}, "team-labels",
        before=make.pod(), method="PATCH"),
    Act("a pod with the label of its team", EDIT, billed(team=TEAM)),
    *(
        Act(f"a {kind} with a lock of another namespace {where}", EDIT, make.workflow(kind, **body), "workflow-locks")
        for kind in ("Workflow", "CronWorkflow", "WorkflowTemplate")
        for where, body in LOCKED.items()
    ),
    Act("a Workflow with locks of its own namespace", EDIT, make.workflow(
            synchronization={"mutexes": [{"name": "a"}, {"name": "b", "namespace": "acts"}]}, templates=[
                {"name": "a", "synchronization": {"semaphores": [{"configMapKeyRef": {"name": "a", "key": "b"}}]}}])),
    Act("a ServiceMonitor of all namespaces", EDIT,
        {**make.service_monitor(), "spec": {"namespaceSelector": {"any": True}, "selector": {}, "endpoints": []}},
        "monitor-scope"),
    Act("a ServiceMonitor of its own namespace by name", EDIT, {**make.service_monitor(),
            "spec": {"namespaceSelector": {"matchNames": ["acts"]}, "selector": {}, "endpoints": []}}),
    *(
        Act(f"a ServiceMonitor with {next(iter(field))} {next(iter(field.values()))}", EDIT, monitored(**field),
            "monitor-scope")
        for field in (
            {"honorLabels": True}, {"interval": "1ms"}, {"interval": "5s"},
            {"relabelings": [{"targetLabel": "__address__", "replacement": "10.0.0.1:80"}]},
            {"metricRelabelings": [{"action": "LabelMap", "regex": "x_(.*)"}]},
            {"metricRelabelings": [{"targetLabel": "namespace", "replacement": "other"}]},
            {"relabelings": [{"targetLabel": "scraped_by", "replacement": "platform"}]},
            {"metricRelabelings": [{"targetLabel": "__name__", "replacement": "kube_namespace_labels"}]},
        )
    ),
    Act("a ServiceMonitor every minute with a label", EDIT, monitored(interval="1m",
            relabelings=[{"targetLabel": "node", "sourceLabels": ["__meta_kubernetes_pod_node_name"]}])),
    Act("an Ingress with a time limit", ADMIN,
        make.ingress(**{"load-balancer-attributes": "idle_timeout.timeout_seconds=600"})),
    *(Act(f"a Deployment that surges by {surge}", EDIT, surging(surge), "scale-bounds") for surge in (500, "101%")),
    Act("a Deployment that surges by half", EDIT, surging("50%")),
    Act("a pod with a mounted image without version", EDIT,
        make.pod(spec(volumes=[{"name": "v", "image": {"reference": "data"}}])), "image-tag"),
    Act("a pod with another image, without version", EDIT,
        {**make.pod(), "spec": {"containers": [{"name": "main", "image": "train", "imagePullPolicy": "IfNotPresent"}]}},
        "image-tag", method="PATCH", before=make.pod(spec(automountServiceAccountToken=False))),
)  # fmt: skip
