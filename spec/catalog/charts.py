"""Pinned versions of all Helm charts, each with its source and release date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, kw_only=True)
class ChartRef:
    """One version of one chart.

    Attributes:
        chart: Name in its repository, or a whole `oci://` reference.
        repository: URL of the repository; None for an `oci://` reference.
        version: Exact version, in the publisher's spelling (with `v` or without).
        released: Date of the release.
        source: Where version and date were read.
    """

    chart: str
    repository: str | None = None
    version: str
    released: date
    source: str

    @property
    def name(self) -> str:
        """Name of the chart without its registry: `kueue` of `oci://registry.k8s.io/kueue/charts/kueue`."""
        return self.chart.rpartition("/")[2]


# Nodes

_KARPENTER_SOURCE: Final = "github.com/aws/karpenter-provider-aws, tag v1.14.1"

KARPENTER: Final = ChartRef(
    chart="oci://public.ecr.aws/karpenter/karpenter",
    version="1.14.1",
    released=date(2026, 8, 20),
    source=_KARPENTER_SOURCE,
)
KARPENTER_CRD: Final = ChartRef(
    chart="oci://public.ecr.aws/karpenter/karpenter-crd",
    version="1.14.1",
    released=date(2026, 8, 20),
    source=_KARPENTER_SOURCE,
)
"""Always the version of the controller."""

CLUSTER_AUTOSCALER: Final = ChartRef(
    chart="cluster-autoscaler",
    repository="https://kubernetes.github.io/autoscaler",
    version="9.59.0",
    released=date(2026, 7, 21),
    source="github.com/kubernetes/autoscaler, tag cluster-autoscaler-chart-9.59.0",
)
CLUSTER_AUTOSCALER_IMAGES: Final[Mapping[str, str]] = {
    "1.32": "v1.32.5",
    "1.33": "v1.33.3",
    "1.34": "v1.34.2",
    "1.35": "v1.35.2",
    "1.36": "v1.36.1",
}
"""Image by Kubernetes minor version: the autoscaler simulates the scheduler of one version (its README, "Releases").
Tags published at registry.k8s.io as of 2026-07 (github.com/kubernetes/k8s.io, images of autoscaling; 2025-11 up to
1.34). For other versions the chart's default applies."""

# GPUs and network adapters

GPU_OPERATOR: Final = ChartRef(
    chart="gpu-operator",
    repository="https://helm.ngc.nvidia.com/nvidia",
    version="v26.7.0",
    released=date(2026, 8, 20),
    source="github.com/NVIDIA/gpu-operator, tag v26.7.0",
)
EFA_DEVICE_PLUGIN: Final = ChartRef(
    chart="aws-efa-k8s-device-plugin",
    repository="https://aws.github.io/eks-charts",
    version="v0.5.30",
    released=date(2026, 8, 3),
    source="github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin",
)

# Queues, training, serving and ingress

CERT_MANAGER: Final = ChartRef(
    chart="cert-manager",
    repository="https://charts.jetstack.io",
    version="v1.21.1",
    released=date(2026, 7, 29),
    source="github.com/cert-manager/cert-manager, tag v1.21.1",
)
LOAD_BALANCER_CONTROLLER: Final = ChartRef(
    chart="aws-load-balancer-controller",
    repository="https://aws.github.io/eks-charts",
    version="3.5.0",
    released=date(2026, 8, 3),
    source="github.com/kubernetes-sigs/aws-load-balancer-controller, tag v3.5.0",
)
GATEWAY_CRDS: Final = ChartRef(
    chart="oci://docker.io/envoyproxy/gateway-crds-helm",
    version="v1.8.2",
    released=date(2026, 8, 1),
    source="gateway.envoyproxy.io, Install with Helm (v1.8), read 2026-11; the date is about that of the page",
)
"""The project itself publishes only YAML. This chart of Envoy Gateway has the same CRDs, and those of Envoy only on
request."""
KEDA: Final = ChartRef(
    chart="keda",
    repository="https://kedacore.github.io/charts",
    version="2.20.2",
    released=date(2026, 7, 31),
    source="github.com/kedacore/charts, tag v2.20.2",
)

KUEUE: Final = ChartRef(
    chart="oci://registry.k8s.io/kueue/charts/kueue",
    version="0.19.2",
    released=date(2026, 8, 20),
    source="github.com/kubernetes-sigs/kueue, tag v0.19.2",
)
JOBSET: Final = ChartRef(
    chart="oci://registry.k8s.io/jobset/charts/jobset",
    version="0.12.0",
    released=date(2026, 5, 8),
    source="github.com/kubernetes-sigs/jobset, tag v0.12.0",
)
LEADER_WORKER_SET: Final = ChartRef(
    chart="oci://registry.k8s.io/lws/charts/lws",
    version="0.10.0",
    released=date(2026, 8, 11),
    source="github.com/kubernetes-sigs/lws, tag v0.10.0",
)
TRAINER: Final = ChartRef(
    chart="oci://ghcr.io/kubeflow/charts/kubeflow-trainer",
    version="2.3.0",
    released=date(2026, 8, 6),
    source="github.com/kubeflow/trainer, tag v2.3.0",
)
KUBERAY: Final = ChartRef(
    chart="kuberay-operator",
    repository="https://ray-project.github.io/kuberay-helm",
    version="1.6.1",
    released=date(2026, 4, 23),
    source="github.com/ray-project/kuberay, tag v1.6.1",
)
ARGO_WORKFLOWS: Final = ChartRef(
    chart="argo-workflows",
    repository="https://argoproj.github.io/argo-helm",
    version="1.0.18",
    released=date(2026, 6, 25),
    source="github.com/argoproj/argo-helm, tag argo-workflows-1.0.18",
)
VOLCANO: Final = ChartRef(
    chart="volcano",
    repository="https://volcano-sh.github.io/helm-charts",
    version="1.15.1",
    released=date(2026, 7, 30),
    source="github.com/volcano-sh/volcano, tag v1.15.1",
)

_KSERVE_SOURCE: Final = "github.com/kserve/kserve, tag v0.20.0"
KSERVE_CRD: Final = ChartRef(
    chart="oci://ghcr.io/kserve/charts/kserve-crd",
    version="v0.20.0",
    released=date(2026, 8, 6),
    source=_KSERVE_SOURCE,
)
KSERVE: Final = ChartRef(
    chart="oci://ghcr.io/kserve/charts/kserve-resources",
    version="v0.20.0",
    released=date(2026, 8, 6),
    source=_KSERVE_SOURCE,
)
"""Always the version of the CRDs. KServe's own runtimes (kserve-runtime-configs) are not installed: their images are
tagged `latest` and they request no GPU, so the platform has its own."""
KNATIVE_OPERATOR: Final = ChartRef(
    chart="knative-operator",
    repository="https://knative.github.io/operator",
    version="v1.21.1",
    released=date(2026, 2, 17),
    source="github.com/kserve/kserve, kserve-deps.env: the version that KServe is tested with; approximate date",
)

# Observability, cost and tracking

KUBE_PROMETHEUS_STACK: Final = ChartRef(
    chart="kube-prometheus-stack",
    repository="https://prometheus-community.github.io/helm-charts",
    version="88.5.3",
    released=date(2026, 8, 21),
    source="github.com/prometheus-community/helm-charts, tag kube-prometheus-stack-88.5.3",
)
FLUENT_BIT: Final = ChartRef(
    chart="fluent-bit",
    repository="https://fluent.github.io/helm-charts",
    version="0.58.1",
    released=date(2026, 8, 17),
    source="github.com/fluent/helm-charts, tag fluent-bit-0.58.1",
)
OPENCOST: Final = ChartRef(
    chart="opencost",
    repository="https://opencost.github.io/opencost-helm-chart",
    version="2.5.17",
    released=date(2026, 4, 28),
    source="github.com/opencost/opencost-helm-chart, tag opencost-2.5.17",
)
KUBECOST: Final = ChartRef(
    chart="kubecost",
    repository="https://kubecost.github.io/kubecost",
    version="3.2.1",
    released=date(2026, 6, 11),
    source="github.com/kubecost/kubecost, tag v3.2.1",
)
MLFLOW: Final = ChartRef(
    chart="mlflow",
    repository="https://community-charts.github.io/helm-charts",
    version="1.11.5",
    released=date(2026, 8, 21),
    source="github.com/community-charts/helm-charts, tag mlflow-1.11.5",
)
