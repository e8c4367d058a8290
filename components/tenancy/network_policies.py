"""Network policies of a team namespace: only the connections listed here are allowed.

The VPC CNI enforces them (`enableNetworkPolicy`, see `components.cluster.addons`). They don't apply to EFA, which
bypasses the IP stack (NCCL still sets up its connections over IP, within the team), nor to traffic of nodes, which
mount file systems and probe containers. Access to data behind AWS APIs is up to IAM.
"""

from collections.abc import Mapping
from typing import Any, Final

from components.base.operator import object_of
from spec.settings.addons import Addons
from spec.settings.addons.batch import Katib, Kuberay
from spec.settings.addons.serving import Knative, Kserve
from spec.settings.network import Network
from spec.settings.teams import TeamNamespace
from spec.teams import labels, pipelines, tracking

LINK_LOCAL: Final = "169.254.0.0/16"
POD_IDENTITY_AGENT: Final = "169.254.170.23/32"
"""Address of the EKS Pod Identity Agent on every node, port 80 (EKS User Guide, "Set up the Amazon EKS Pod Identity
Agent", read 2026-11)."""
MONITORING: Final = "monitoring"
SERVING_PORTS: Final = (8000, 8080, 8081, 8082, 9000, 9081)
"""Ports of model servers: vLLM 8000; KServe's runtimes 8080 and 8081 (HTTP and gRPC); Triton's metrics 8082; Triton's
gRPC 9000 and the agent's 9081 in KServe's runtimes (kserve v0.20.0, config/runtimes)."""
SERVES: Final = ("general", "serving")
SERVERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "serving": {"matchLabels": {labels.SERVING: "true"}},
    "serving-kserve": {"matchExpressions": [{"key": "serving.kserve.io/inferenceservice", "operator": "Exists"}]},
    "serving-kserve-graph": {"matchExpressions": [{"key": "serving.kserve.io/inferencegraph", "operator": "Exists"}]},
}
"""Serving pods by the name of the policy that lets load balancers reach them. KServe labels those of an
InferenceService and of an InferenceGraph, which a user may have applied (kserve v0.20, pkg/constants/constants.go,
`InferenceServicePodLabelKey` and `InferenceGraphLabel`, read 2026-11). A selector has no "or", so each has its own
policy."""
KNATIVE: Final = ("knative-serving", "kourier-system")
"""Namespaces of the activator, autoscaler and gateway, which send requests to a Knative Service."""
QUEUE_PROXY_PORTS: Final = (8012, 8013, 9090)
"""Ports of the queue-proxy sidecar: HTTP/1, HTTP/2, and autoscaling metrics (knative/serving,
pkg/networking/constants.go, v1.21)."""

RAY: Final = "kuberay"  # namespace of the KubeRay operator
RAY_HEAD: Final[Mapping[str, Any]] = {"matchLabels": {"ray.io/node-type": "head"}}
RAY_PORTS: Final = (8000, 8265)
"""Ports of a Ray head that the operator connects to: Serve's proxy, whose health it checks, and the dashboard, to which
it submits jobs and Serve configurations (kuberay v1.6.1, ray-operator/controllers/ray/utils/constant.go,
`DefaultServingPort` and `DefaultDashboardPort`)."""

KATIB: Final = "kubeflow"
"""Namespace of Katib (github.com/kubeflow/katib v0.19.0, manifests/v1beta1, as are the labels and ports)."""
KATIB_CONTROLLER: Final[Mapping[str, str]] = {"katib.kubeflow.org/component": "controller"}
KATIB_DATABASE: Final[Mapping[str, str]] = {"katib.kubeflow.org/component": "db-manager"}
KATIB_PORT: Final = 6789
"""Port of the manager of metrics, and of the algorithm of an Experiment; early stopping has the one before."""
KATIB_PODS: Final[Mapping[str, Any]] = {
    "matchExpressions": [{"key": "katib.kubeflow.org/experiment", "operator": "Exists"}]
}
"""Pods of trials and of algorithms."""

Policies = dict[str, dict[str, Any]]


def network_policies(
    namespace: str, team: str, space: TeamNamespace, network: Network | None, addons: Addons
) -> Policies:
    """Network policies of a namespace by name. They are additive: a connection is allowed if one policy allows it.

    What an add-on needs is allowed where it is installed. Load balancers are where the network says that the VPC is.
    """
    policies: Policies = {
        "default-deny": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        "team": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [_from_team(team), {"from": [_namespace(MONITORING)]}],
            "egress": [
                _to_team(team),
                _dns(),
                _https(network),
                _credentials(),
                *([_tracking(team)] if addons.mlflow else []),
                *([_pipelines(namespace)] if namespace in addons.pipelined else []),
            ],
        },
    }
    if addons.has(Kuberay):
        policies["ray"] = _ray()
    if addons.has(Katib):
        policies["katib"] = _katib()
    if space.purpose in SERVES:
        served = SERVERS if addons.has(Kserve) else {"serving": SERVERS["serving"]}
        policies |= {name: _serving(pods, network) for name, pods in served.items() if network}
        if addons.has(Knative):
            policies["serving-knative"] = _knative()
    return {name: _manifest(name, namespace, spec) for name, spec in sorted(policies.items())}


def _from_team(team: str) -> dict[str, Any]:
    """All traffic between the team's pods, in all of its namespaces: training uses dynamic ports."""
    return {"from": [{"namespaceSelector": {"matchLabels": {labels.TEAM: team}}}]}


def _to_team(team: str) -> dict[str, Any]:
    return {"to": _from_team(team)["from"]}


def _dns() -> dict[str, Any]:
    return {
        "to": [{**_namespace("kube-system"), "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}],
        "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")],
    }


def _https(network: Network | None) -> dict[str, Any]:
    """HTTPS to everywhere except the CIDR of pods. S3 has public addresses even behind its gateway endpoint, and the
    API server and interface endpoints have addresses in the VPC, so a policy can't select them by address. Without a
    CIDR of their own, pods of other teams are protected by the other team's policies."""
    pods = [str(network.pod_cidr)] if network and network.pod_cidr else []
    everywhere = {"cidr": "0.0.0.0/0", "except": sorted([LINK_LOCAL, *pods])}
    return {"to": [{"ipBlock": everywhere}], "ports": _tcp(443)}


def _tracking(team: str) -> dict[str, Any]:
    """The team's own tracking server; a policy sees the port of the pod, not that of the Service."""
    server = {"matchLabels": {"app.kubernetes.io/instance": tracking.server(team)}}
    return {"to": [{**_namespace(tracking.NAMESPACE), "podSelector": server}], "ports": _tcp(tracking.PORT)}


def _pipelines(namespace: str) -> dict[str, Any]:
    """The namespace's own server of pipelines."""
    server = {"matchLabels": {pipelines.LABEL: pipelines.server(namespace)}}
    return {
        "to": [{**_namespace(pipelines.NAMESPACE), "podSelector": server}],
        "ports": _tcp(*pipelines.PORTS.values()),
    }


def _credentials() -> dict[str, Any]:
    return {"to": [{"ipBlock": {"cidr": POD_IDENTITY_AGENT}}], "ports": _tcp(80)}


def _serving(pods: Mapping[str, Any], network: Network) -> dict[str, Any]:
    """Load balancers have addresses in the VPC and connect directly to pods."""
    entry = {"from": [{"ipBlock": {"cidr": str(network.cidr)}}], "ports": _tcp(*SERVING_PORTS)}
    return {"podSelector": dict(pods), "policyTypes": ["Ingress"], "ingress": [entry]}


def _knative() -> dict[str, Any]:
    revisions = {"matchExpressions": [{"key": "serving.knative.dev/revision", "operator": "Exists"}]}
    entry = {"from": [_namespace(name) for name in KNATIVE], "ports": _tcp(*QUEUE_PROXY_PORTS)}
    return {"podSelector": revisions, "policyTypes": ["Ingress"], "ingress": [entry]}


def _ray() -> dict[str, Any]:
    """The operator reaches the heads. Workers (6379), clients (10001) and submitters are pods of the team."""
    entry = {"from": [_namespace(RAY)], "ports": _tcp(*RAY_PORTS)}
    return {"podSelector": dict(RAY_HEAD), "policyTypes": ["Ingress"], "ingress": [entry]}


def _katib() -> dict[str, Any]:
    """The controller asks an algorithm for trials; trials and early stopping write and read metrics."""
    controller = {**_namespace(KATIB), "podSelector": {"matchLabels": dict(KATIB_CONTROLLER)}}
    manager = {**_namespace(KATIB), "podSelector": {"matchLabels": dict(KATIB_DATABASE)}}
    return {
        "podSelector": dict(KATIB_PODS),
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [controller], "ports": _tcp(KATIB_PORT - 1, KATIB_PORT)}],
        "egress": [{"to": [manager], "ports": _tcp(KATIB_PORT)}],
    }


def _namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: name}}}


def _tcp(*ports: int) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def _manifest(name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return object_of("networking.k8s.io/v1", "NetworkPolicy", name, namespace, spec=dict(spec))
