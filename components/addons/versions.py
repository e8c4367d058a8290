"""Pins of everything that comes as a Helm chart, each with the place and the day on which it was found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

from components.addons.chart_ref import ChartRef
from components.addons.pins_gpu import EFA_DEVICE_PLUGIN, GPU_OPERATOR
from components.addons.pins_work import (
    ARGO_WORKFLOWS,
    CERT_MANAGER,
    GATEWAY_CRDS,
    JOBSET,
    KEDA,
    KNATIVE_OPERATOR,
    KSERVE,
    KSERVE_CRD,
    KUEUE,
    LEADER_WORKER_SET,
    LOAD_BALANCER_CONTROLLER,
    TRAINER,
    VOLCANO,
)

__all__ = [
    "ARGO_WORKFLOWS",
    "CERT_MANAGER",
    "CLUSTER_AUTOSCALER",
    "CLUSTER_AUTOSCALER_IMAGES",
    "EFA_DEVICE_PLUGIN",
    "GATEWAY_CRDS",
    "GPU_OPERATOR",
    "JOBSET",
    "KARPENTER",
    "KARPENTER_CRD",
    "KEDA",
    "KNATIVE_OPERATOR",
    "KSERVE",
    "KSERVE_CRD",
    "KUBECOST",
    "KUBE_PROMETHEUS_STACK",
    "KUEUE",
    "LEADER_WORKER_SET",
    "LOAD_BALANCER_CONTROLLER",
    "OPENCOST",
    "TRAINER",
    "VOLCANO",
    "ChartRef",
]


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
1.34). A version that is not here takes the chart's own."""

KUBE_PROMETHEUS_STACK: Final = ChartRef(
    chart="kube-prometheus-stack",
    repository="https://prometheus-community.github.io/helm-charts",
    version="88.5.3",
    released=date(2026, 8, 21),
    source="github.com/prometheus-community/helm-charts, tag kube-prometheus-stack-88.5.3",
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
