"""What may talk to what in a team's namespace: nothing but what is named here.

The VPC CNI enforces these (`enableNetworkPolicy`, see `components.cluster.addon_values`). What they do not see: EFA,
which goes past the IP stack (NCCL still sets its connections up over IP, inside the team); traffic of nodes, which
mount file systems and probe containers; and IAM, which alone decides whose data an AWS API gives out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from components.tenancy import labels
from infra.config.network import Network
from infra.config.teams import TeamNamespace

LINK_LOCAL: Final = "169.254.0.0/16"
POD_IDENTITY_AGENT: Final = "169.254.170.23/32"
"""Address of the EKS Pod Identity Agent on every node, port 80 (EKS User Guide, "EKS Pod Identity")."""
MONITORING: Final = "monitoring"
EXPERIMENTS: Final = "mlflow"
"""Namespace of the tracking server that jobs write to."""
SERVING_PORTS: Final = (8000, 8080, 8081, 8082, 9000, 9081)
"""Ports of model servers: vLLM 8000; KServe's runtimes 8080 and 8081 (HTTP and gRPC); Triton's metrics 8082; Triton's
gRPC 9000 and the agent's 9081 in KServe's runtimes (kserve v0.20.0, config/runtimes)."""
SERVES: Final = ("general", "serving")
_KSERVE: Final = "serving.kserve.io/inferenceservice"

Policies = dict[str, dict[str, Any]]


def network_policies(namespace: str, team: str, space: TeamNamespace, network: Network) -> Policies:
    """Network policies of a namespace by name. They add up: what one of them allows is allowed."""
    policies: Policies = {
        "default-deny": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        "team": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [_from_team(team), {"from": [_namespace(MONITORING)]}],
            "egress": [_to_team(team), _dns(), _https(network), _credentials(), {"to": [_namespace(EXPERIMENTS)]}],
        },
    }
    if space.purpose in SERVES:
        policies["serving"] = _serving({"matchLabels": {labels.SERVING: "true"}}, network)
        policies["serving-kserve"] = _serving({"matchExpressions": [{"key": _KSERVE, "operator": "Exists"}]}, network)
    return {name: _manifest(name, namespace, spec) for name, spec in sorted(policies.items())}


def _from_team(team: str) -> dict[str, Any]:
    """Whatever the team's pods say to one another, in all of its namespaces: training picks its ports as it goes."""
    return {"from": [{"namespaceSelector": {"matchLabels": {labels.TEAM: team}}}]}


def _to_team(team: str) -> dict[str, Any]:
    return {"to": _from_team(team)["from"]}


def _dns() -> dict[str, Any]:
    return {
        "to": [{**_namespace("kube-system"), "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}],
        "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")],
    }


def _https(network: Network) -> dict[str, Any]:
    """S3 has public addresses behind its gateway endpoint, and the API server and interface endpoints have private ones
    in the VPC; none of them can be told from others by address. Pods with a range of their own are left out; elsewhere
    the other team's own policy refuses."""
    pods = [str(network.pod_cidr)] if network.pod_cidr else []
    everywhere = {"cidr": "0.0.0.0/0", "except": sorted([LINK_LOCAL, *pods])}
    return {"to": [{"ipBlock": everywhere}], "ports": _tcp(443)}


def _credentials() -> dict[str, Any]:
    return {"to": [{"ipBlock": {"cidr": POD_IDENTITY_AGENT}}], "ports": _tcp(80)}


def _serving(pods: Mapping[str, Any], network: Network) -> dict[str, Any]:
    """Load balancers have addresses in the VPC, and go straight to the pods."""
    entry = {"from": [{"ipBlock": {"cidr": str(network.cidr)}}], "ports": _tcp(*SERVING_PORTS)}
    return {"podSelector": dict(pods), "policyTypes": ["Ingress"], "ingress": [entry]}


def _namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: name}}}


def _tcp(*ports: int) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def _manifest(name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }
