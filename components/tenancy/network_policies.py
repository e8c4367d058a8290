"""What may talk to what in a team's namespace: nothing but what is named here.

The VPC CNI enforces these (`enableNetworkPolicy`, see `components.cluster.addon_values`). What they do not see: EFA,
which goes past the IP stack (NCCL still sets its connections up over IP, inside the team); traffic of nodes, which
mount file systems and probe containers; and IAM, which alone decides whose data an AWS API gives out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    policies = {
        "default-deny": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        "dns": _egress([_to_namespace("kube-system", {"k8s-app": "kube-dns"})], [("UDP", 53), ("TCP", 53)]),
        "team": _within(team),
        "aws": _aws(network),
        "monitoring": _ingress({}, [_to_namespace(MONITORING)]),
        "experiments": _egress([_to_namespace(EXPERIMENTS)]),
    }
    if space.purpose in SERVES:
        entry = [{"ipBlock": {"cidr": str(network.cidr)}}]
        ports = [("TCP", port) for port in SERVING_PORTS]
        kserve = {"matchExpressions": [{"key": _KSERVE, "operator": "Exists"}]}
        policies["serving"] = _ingress({"matchLabels": {labels.SERVING: "true"}}, entry, ports)
        policies["serving-kserve"] = _ingress(kserve, entry, ports)
    return {name: _manifest(name, namespace, spec) for name, spec in sorted(policies.items())}


def _within(team: str) -> dict[str, Any]:
    """Whatever the team's pods say to one another, in all of its namespaces: training picks its ports as it goes."""
    peers = [{"namespaceSelector": {"matchLabels": {labels.TEAM: team}}}]
    return {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers}],
        "egress": [{"to": peers}],
    }


def _aws(network: Network) -> dict[str, Any]:
    """HTTPS out, and credentials.

    S3 has public addresses behind its gateway endpoint, and the API server and interface endpoints have private ones in
    the VPC, none of which can be told from others by address. Pods with a range of their own are left out; elsewhere
    the other team's own policy refuses.
    """
    pods = [str(network.pod_cidr)] if network.pod_cidr else []
    everywhere = {"cidr": "0.0.0.0/0", "except": sorted([LINK_LOCAL, *pods])}
    return {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [
            {"to": [{"ipBlock": everywhere}], "ports": _ports([("TCP", 443)])},
            {"to": [{"ipBlock": {"cidr": POD_IDENTITY_AGENT}}], "ports": _ports([("TCP", 80)])},
        ],
    }


def _to_namespace(name: str, pods: Mapping[str, str] | None = None) -> dict[str, Any]:
    peer: dict[str, Any] = {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: name}}}
    return {**peer, "podSelector": {"matchLabels": dict(pods)}} if pods else peer


def _egress(peers: Sequence[Mapping[str, Any]], ports: Sequence[tuple[str, int]] = ()) -> dict[str, Any]:
    rule = {"to": list(peers), **({"ports": _ports(ports)} if ports else {})}
    return {"podSelector": {}, "policyTypes": ["Egress"], "egress": [rule]}


def _ingress(
    pods: Mapping[str, Any], peers: Sequence[Mapping[str, Any]], ports: Sequence[tuple[str, int]] = ()
) -> dict[str, Any]:
    rule = {"from": list(peers), **({"ports": _ports(ports)} if ports else {})}
    return {"podSelector": dict(pods), "policyTypes": ["Ingress"], "ingress": [rule]}


def _ports(ports: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"protocol": protocol, "port": port} for protocol, port in ports]


def _manifest(name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }
