"""Pins of what queues, trains, serves and lets requests in. They are used through `components.addons.versions`."""

from __future__ import annotations

from datetime import date
from typing import Final

from components.addons.chart_ref import ChartRef

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
    source="gateway.envoyproxy.io, Install with Helm (v1.8), read 2026-11; the day is that of the page, about",
)
"""The project itself publishes YAML alone. This chart of Envoy Gateway carries the same CRDs, and those of Envoy only
where asked for."""
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
"""Always the version of the CRDs. KServe's own runtimes (kserve-runtime-configs) are not installed: they take images by
`latest` and ask for no GPU, so the platform brings its own."""
KNATIVE_OPERATOR: Final = ChartRef(
    chart="knative-operator",
    repository="https://knative.github.io/operator",
    version="v1.21.1",
    released=date(2026, 2, 17),
    source="github.com/kserve/kserve, kserve-deps.env: the version with which KServe is tested; the day is about",
)
