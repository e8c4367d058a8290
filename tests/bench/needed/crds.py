"""Which release brings the CRD of a custom resource: its own, and no other."""

from collections.abc import Mapping
from typing import Final

from slipway.render.recording import RecordedResource
from tests.bench.durations import RELEASE, chart_of
from tests.bench.needed.need import Index, inputs

DEFINITION: Final = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
CHARTS: Final[Mapping[str, str]] = {
    "acme.cert-manager.io": "cert-manager",
    "argoproj.io": "argo-workflows",
    "batch.volcano.sh": "volcano",
    "cert-manager.io": "cert-manager",
    "elbv2.k8s.aws": "aws-load-balancer-controller",
    "gateway.networking.k8s.io": "gateway-crds-helm",
    "jobset.x-k8s.io": "jobset",
    "karpenter.k8s.aws": "karpenter-crd",
    "karpenter.sh": "karpenter-crd",
    "keda.sh": "keda",
    "kueue.x-k8s.io": "kueue",
    "leaderworkerset.x-k8s.io": "lws",
    "monitoring.coreos.com": "kube-prometheus-stack",
    "nvidia.com": "gpu-operator",
    "operator.knative.dev": "knative-operator",
    "scheduling.volcano.sh": "volcano",
    "serving.kserve.io": "kserve-crd",
    "trainer.kubeflow.org": "kubeflow-trainer",
}
"""Chart by API group, as found in the charts at the versions that are pinned (2026-11); those of Knative and of the
Gateway API by their own documentation: no copy of the two charts was at hand."""
BUILT_IN: Final = frozenset(
    {
        "", "apps", "autoscaling", "batch", "policy", "admissionregistration.k8s.io", "apiextensions.k8s.io",
        "apiregistration.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
    }
)  # fmt: skip
"""API groups of every API server (kubernetes.io, "Kubernetes API", 1.35)."""


def group_of(resource: RecordedResource) -> str:
    """API group of an object; empty for the core group and for a release."""
    return str(inputs(resource).get("apiVersion", "")).rpartition("/")[0]


def is_custom(resource: RecordedResource) -> bool:
    """Whether it is an object whose kind a CRD defines."""
    return resource.type.startswith("kubernetes:") and group_of(resource) not in BUILT_IN


def bringing(index: Index, resource: RecordedResource) -> list[RecordedResource]:
    """The releases and CRDs that define the kind of a custom resource; none where nothing of the program does."""
    return [*_releases(index, group_of(resource)), *_definitions(index, resource)]


def _releases(index: Index, group: str) -> list[RecordedResource]:
    """A release that leaves its chart's CRDs alone (`skipCrds`) brings none."""
    releases = index.of_type(RELEASE)
    return [each for each in releases if chart_of(each) == CHARTS.get(group) and not inputs(each).get("skipCrds")]


def _definitions(index: Index, resource: RecordedResource) -> list[RecordedResource]:
    group, kind = group_of(resource), inputs(resource).get("kind")
    return [
        each
        for each in index.of_type(DEFINITION)
        if (inputs(each)["spec"]["group"], inputs(each)["spec"]["names"]["kind"]) == (group, kind)
    ]
