"""Network policies of the tracking servers: only a team's pods reach its server. Pure.

The server has no login. A pod's namespace is its identity: the API server sets it, and only the platform labels
namespaces with their team. The VPC CNI enforces the policies on the node of the server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spec.teams import labels, tracking


def ingress(namespace: str, teams: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Policies by key: nothing is allowed, except each team to its server.

    Args:
        namespace: Namespace of the servers.
        teams: Names of the teams.
    """
    policies = {"ingress": _policy(namespace, "default-deny", {"podSelector": {}, "policyTypes": ["Ingress"]})}
    return policies | {f"ingress-{team}": _policy(namespace, tracking.server(team), _of_team(team)) for team in teams}


def pods_of(team: str) -> dict[str, Any]:
    """Selector of the pods of a team's server (chart mlflow 1.11.5, `mlflow.selectorLabels`)."""
    return {"matchLabels": {"app.kubernetes.io/instance": tracking.server(team)}}


def _of_team(team: str) -> dict[str, Any]:
    allowed = {"namespaceSelector": {"matchLabels": {labels.TEAM: team}}}
    return {
        "podSelector": pods_of(team),
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [allowed], "ports": [{"protocol": "TCP", "port": tracking.PORT}]}],
    }


def _policy(namespace: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
