"""What Helm releases and the objects of the cluster need."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource
from tests.bench.durations import RELEASE, chart_of, is_crds_only
from tests.bench.needed import crds
from tests.bench.needed.cluster import inside, system_groups
from tests.bench.needed.need import Index, Need, inputs

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
MOUNTED: Final = ("kubernetes:core/v1:ConfigMap", "kubernetes:core/v1:Secret")
BUILT_ON: Final[Mapping[str, str]] = {
    "kserve-resources": "cert-manager",
    "kubeflow-trainer": "jobset",
    "kueue": "kubeflow-trainer",
    "opencost": "kube-prometheus-stack",
}
"""Charts, and those whose pods theirs don't start without: KServe's pods mount the secret of a Certificate, which
cert-manager issues (KServe, "Kubernetes Deployment Installation Guide", v0.20: cert-manager is a prerequisite); Trainer
creates JobSets, and its manager opens a watch of their kind at the start (Kubeflow Trainer, "Installation", v2.3);
Kueue takes up TrainJobs once, and gives up without the CRDs of their runtimes (kueue v0.19.2, jobframework/setup.go);
OpenCost reads Prometheus (OpenCost, "Installation", prerequisites)."""
CRDS_APART: Final[Mapping[str, str]] = {
    "karpenter": "karpenter-crd",
    "kserve-resources": "kserve-crd",
    "kube-prometheus-stack": "kube-prometheus-stack",
}
"""Charts, and those that bring their CRDs: a controller ends where it finds none of its own, and Helm waits for it in
vain (Karpenter, "Upgrade Guide", CRD upgrades; KServe as above)."""
WEBHOOKS: Final[Mapping[str, str]] = {
    "kueue.x-k8s.io": "kueue",
    "serving.kserve.io": "kserve-resources",
    "trainer.kubeflow.org": "kubeflow-trainer",
}
"""API groups, and the chart with the webhook for their objects: until its pods run, `failurePolicy: Fail` refuses each
(kubernetes.io, "Dynamic Admission Control")."""
MONITORS: Final = "monitoring.coreos.com"


def has_pods(resource: RecordedResource) -> bool:
    """Whether it is a release that Helm waits for pods of."""
    return resource.type == RELEASE and not is_crds_only(resource)


def values_at(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """What is below one of these keys, at any depth; empty values are left out."""
    if isinstance(value, Mapping):
        yield from (inner for key, inner in value.items() if key in keys and inner)
        for inner in value.values():
            yield from values_at(inner, keys)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from values_at(inner, keys)


def has_monitors(resource: RecordedResource) -> bool:
    """Whether it is a release whose values ask for a ServiceMonitor; Kueue and LWS call that `enablePrometheus`."""
    values = inputs(resource).get("values") if resource.type == RELEASE else None
    asked = any(one.get("enabled") for one in values_at(values, ("serviceMonitor",)) if isinstance(one, Mapping))
    return asked or any(values_at(values, ("enablePrometheus",)))


def namespace_of(resource: RecordedResource) -> str | None:
    """The namespace that an object or a release is put into."""
    plain = inputs(resource)
    found = plain.get("namespace") if resource.type == RELEASE else (plain.get("metadata") or {}).get("namespace")
    return str(found) if found else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _namespace(index: Index, later: RecordedResource) -> list[RecordedResource]:
    name = namespace_of(later)
    return [each for each in index.of_type(NAMESPACE) if name and inputs(each)["metadata"].get("name") == name]


def _identities(index: Index, release: RecordedResource) -> list[RecordedResource]:
    """Of the accounts that its values name, or that its chart names after it."""
    name, named = str(inputs(release).get("name")), set(_strings(inputs(release).get("values")))
    return [
        each
        for each in index.matching(IDENTITY, namespace=namespace_of(release))
        for account in [str(inputs(each)["serviceAccount"])]
        if account == name or account.startswith(f"{name}-") or account in named
    ]


def _policies(index: Index, release: RecordedResource) -> list[RecordedResource]:
    identities = _identities(index, release)
    return index.policies_of(role for each in identities for role in index.behind(each, "roleArn"))


def _mounted(index: Index, release: RecordedResource) -> list[RecordedResource]:
    named, space = set(_strings(inputs(release).get("values"))), namespace_of(release)
    return [
        each
        for each in index.of_type(*MOUNTED)
        if namespace_of(each) == space and inputs(each)["metadata"]["name"] in named
    ]


def _of_charts(index: Index, *charts: str | None) -> list[RecordedResource]:
    return [each for each in index.of_type(RELEASE) if chart_of(each) in charts]


def _built_on(index: Index, release: RecordedResource) -> list[RecordedResource]:
    return [each for each in _of_charts(index, BUILT_ON[chart_of(release)]) if has_pods(each)]


def _own_crds(index: Index, release: RecordedResource) -> list[RecordedResource]:
    return [each for each in _of_charts(index, CRDS_APART[chart_of(release)]) if is_crds_only(each)]


def _monitor_crds(index: Index, _: RecordedResource) -> list[RecordedResource]:
    return [each for each in _of_charts(index, crds.CHARTS[MONITORS]) if not inputs(each).get("skipCrds")]


def _answering(index: Index, later: RecordedResource) -> list[RecordedResource]:
    return _of_charts(index, WEBHOOKS[crds.group_of(later)])


NEEDS: Final[Mapping[str, Need]] = {
    "a release after the system nodes": Need(
        later=has_pods,
        earlier=system_groups,
        required=True,
        why="Helm waits for its pods (`atomic`), and they wait for a node",
    ),
    "an object after its namespace": Need(
        later=inside, earlier=_namespace, why="the API server refuses it otherwise (kubernetes.io, 'Namespaces')"
    ),
    "a release after its pods' identities": Need(
        later=has_pods,
        earlier=_identities,
        why="credentials are put into a pod when it is created, so one that is older than the association has none "
        "(EKS User Guide, 'Learn how EKS Pod Identity grants pods access to AWS services')",
    ),
    "a release after the policies of its pods' roles": Need(
        later=has_pods, earlier=_policies, why="its pods call AWS as soon as they start, and when they are removed"
    ),
    "a release after what its pods mount": Need(
        later=has_pods,
        earlier=_mounted,
        why="a pod does not start without the ConfigMaps and Secrets that it mounts (kubernetes.io, 'Volumes')",
    ),
    "a chart after the one that it is built on": Need(
        later=lambda each: has_pods(each) and chart_of(each) in BUILT_ON,
        earlier=_built_on,
        required=True,
        why="tests/bench/needed/charts.py, BUILT_ON",
    ),
    "a controller after its CRDs": Need(
        later=lambda each: has_pods(each) and chart_of(each) in CRDS_APART,
        earlier=_own_crds,
        required=True,
        why="tests/bench/needed/charts.py, CRDS_APART",
    ),
    "a chart with monitors after the CRD of monitors": Need(
        later=has_monitors,
        earlier=_monitor_crds,
        required=True,
        why="Helm refuses a manifest of an unknown kind (helm.sh, 'Custom Resource Definitions')",
    ),
    "a custom resource after its own CRD": Need(
        later=crds.is_custom,
        earlier=crds.bringing,
        required=True,
        why="the API server knows no such kind before; and with the CRD all its objects go, without their controller "
        "(kubernetes.io, 'Extend the Kubernetes API with CustomResourceDefinitions')",
    ),
    "a custom resource after its webhook": Need(
        later=lambda each: crds.is_custom(each) and crds.group_of(each) in WEBHOOKS,
        earlier=_answering,
        required=True,
        why="tests/bench/needed/charts.py, WEBHOOKS",
    ),
}
