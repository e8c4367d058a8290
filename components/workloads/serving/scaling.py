"""What all model servers share: allowed ports, probes, names, and autoscaling by GPU utilization and waiting requests.

CPU, the default metric of autoscalers, is meaningless for a model server, which waits for its GPU.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from components.tenancy.network_policies import SERVING_PORTS
from components.workloads.checks.jobs import count_problems, served_problems
from components.workloads.target import Target
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.addons.serving import Keda
from spec.settings.problems import Problem

STARTUP_PERIOD: Final = 10
HOST_LABEL: Final = 63  # maximum length of one label of a host name (RFC 1123)


def probes(path: str, port: int, load_seconds: int) -> dict[str, Any]:
    """Probes of a server that loads a model first.

    The other probes start after the startup probe succeeds, so loading can take long and a later hang is still detected
    within a minute. Readiness fails earlier than liveness: a busy server gets no new requests, but isn't killed.
    """
    get = {"httpGet": {"path": path, "port": port}}
    return {
        "startupProbe": {
            **get,
            "initialDelaySeconds": 10,
            "periodSeconds": STARTUP_PERIOD,
            "failureThreshold": max(1, -(-load_seconds // STARTUP_PERIOD)),
            "timeoutSeconds": 5,
        },
        "readinessProbe": {**get, "periodSeconds": 5, "failureThreshold": 3, "timeoutSeconds": 5},
        "livenessProbe": {**get, "periodSeconds": 20, "failureThreshold": 3, "timeoutSeconds": 10},
    }


def server_problems(path: str, port: int, load_seconds: int, target: Target) -> Iterator[Problem]:
    """Settings with which requests or probes wouldn't reach the server."""
    if not path.startswith("/"):
        yield Problem("health_path", "a path must begin with /", path, "Write /health.")
    if port not in SERVING_PORTS:
        rule = "the network policies of a team allow requests only to the ports of model servers"
        yield Problem("port", rule, port, f"Use one of {', '.join(map(str, SERVING_PORTS))}.")
    if not 10 <= load_seconds <= 7200:
        rule = "the time to load a model must be from 10 to 7200 s, after which the server is restarted"
        yield Problem(
            "load_seconds", rule, load_seconds, "Allow about 1 s per GB from S3, and a minute for the server."
        )
    if not target.open:
        rule = "load balancers reach pods only in namespaces for serving"
        fix = "Use a namespace of the team with purpose `serving` or `general`."
        yield Problem("namespace", rule, target.namespace, fix)


PROMETHEUS: Final = "http://kube-prometheus-stack-prometheus.monitoring:9090"
VLLM_WAITING: Final = "vllm:num_requests_waiting"
BEHAVIOUR: Final[dict[str, Any]] = {
    # Up fast, because users wait; down slowly, because a new replica takes minutes to load its model.
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}],
        "selectPolicy": "Max",
    },
    "scaleDown": {
        "stabilizationWindowSeconds": 300,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 120}],
        "selectPolicy": "Min",
    },
}
"""Up by two pods every 30 s; down by one every 120 s, after 300 s of stabilization."""


@dataclass(frozen=True, kw_only=True)
class Autoscaling:
    """Limits and metrics of autoscaling by KEDA, which reads Prometheus and creates a HorizontalPodAutoscaler.

    Attributes:
        min_replicas: Minimum number of replicas; two, so that one can be evicted.
        max_replicas: Maximum number of replicas, which limits the cost.
        gpu_percent: Target utilization of a GPU, averaged over the GPUs of all pods; None to ignore it.
        waiting: Target number of waiting requests per pod; None to ignore it.
        waiting_metric: Metric of the server that counts waiting requests; by default vLLM's, or that of the named
            runtime's server.
        prometheus: URL of Prometheus.
    """

    min_replicas: int = 2
    max_replicas: int = 20
    gpu_percent: int | None = 70
    waiting: int | None = 5
    waiting_metric: str | None = None
    prometheus: str = PROMETHEUS


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """What is scaled.

    Attributes:
        namespace: Its namespace.
        deployment: Its Deployment.
        mig: Whether a pod requests MIG instances and not whole GPUs.
        waiting_metric: Metric of its server for waiting requests, unless the settings name one.
    """

    namespace: str
    deployment: str
    mig: bool
    waiting_metric: str | None = VLLM_WAITING

    @property
    def selector(self) -> str:
        """Label matchers of its pods, which are named `<deployment>-<hash>-<5 characters>`. The pods of a Deployment
        whose name begins with this one's have a part more."""
        return f'namespace="{self.namespace}",pod=~"{self.deployment}-[a-z0-9]+-[a-z0-9]{{5}}"'


def gpu_metric(*, mig: bool) -> str:
    """Metric of the DCGM exporter for GPU utilization. The usual one doesn't exist for MIG instances; they have the
    engine's active time (NVIDIA DCGM, "Profiling Metrics"; from 0 to 1)."""
    return "DCGM_FI_PROF_GR_ENGINE_ACTIVE" if mig else "DCGM_FI_DEV_GPU_UTIL"


def queries(scaling: Autoscaling, scaled: Scaled) -> dict[str, tuple[str, int]]:
    """PromQL and its target per pod, by name. The queries are sums over the pods, which autoscalers divide by the
    number of pods. GPU utilization is averaged over the GPUs of a pod first: a sum over eight GPUs of 9 % would be
    72 %."""
    targets: dict[str, tuple[str, int]] = {}
    if scaling.gpu_percent is not None:
        factor = "100 * " if scaled.mig else ""
        used = f"avg by (pod) ({gpu_metric(mig=scaled.mig)}{{{scaled.selector}}})"
        targets["gpu"] = (f"{factor}sum({used})", scaling.gpu_percent)
    if scaling.waiting is not None:
        metric = scaling.waiting_metric or scaled.waiting_metric
        targets["waiting"] = (f"sum({metric}{{{scaled.selector}}})", scaling.waiting)
    return targets


def scaled_object(scaling: Autoscaling, scaled: Scaled) -> dict[str, Any]:
    """Spec of a KEDA ScaledObject. If Prometheus doesn't answer, the number of replicas isn't changed."""
    triggers = [
        {
            "type": "prometheus",
            "name": name,
            "metricType": "AverageValue",
            "metadata": {"serverAddress": scaling.prometheus, "query": query, "threshold": str(threshold)},
        }
        for name, (query, threshold) in queries(scaling, scaled).items()
    ]
    return {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": scaled.deployment},
        "minReplicaCount": scaling.min_replicas,
        "maxReplicaCount": scaling.max_replicas,
        "pollingInterval": 15,
        "fallback": {"failureThreshold": 4, "replicas": scaling.min_replicas, "behavior": "currentReplicasIfHigher"},
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior": BEHAVIOUR}},
        "triggers": triggers,
    }


def scaling_problems(scaling: Autoscaling, target: Target) -> Iterator[Problem]:
    """Problems with the limits and metrics of an autoscaler."""
    yield from count_problems("autoscaling.max_replicas", scaling.max_replicas, 1, 100)
    if not 1 <= scaling.min_replicas <= scaling.max_replicas:
        rule = f"it must be from 1 to max_replicas ({scaling.max_replicas})"
        fix = "Set it to 2 or more, so that one can be evicted; scaling to 0 isn't supported here."
        yield Problem("autoscaling.min_replicas", rule, scaling.min_replicas, fix)
    if scaling.gpu_percent is None and scaling.waiting is None:
        rule = "autoscaling needs a metric: GPU utilization, waiting requests"
        yield Problem("autoscaling", rule, None, "Set gpu_percent, waiting or both.")
    if scaling.gpu_percent is not None:
        yield from count_problems("autoscaling.gpu_percent", scaling.gpu_percent, 1, 99)
    if scaling.waiting is not None:
        yield from count_problems("autoscaling.waiting", scaling.waiting, 1, 10_000)
    yield from served_problems(target, "autoscaling by KEDA", Keda, KubePrometheusStack)
