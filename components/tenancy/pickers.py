"""What endpoint pickers of models may do: find the pods of their namespace."""

from typing import Any, Final

from components.base.operator import RBAC, rule, to_account

ACCOUNT: Final = "endpoint-picker"
"""Service account in each namespace for serving. It has no permissions in AWS."""
ROLE: Final = "slipway-team-endpoint-picker"


def role_manifest() -> dict[str, Any]:
    """The ClusterRole, which a binding limits to a namespace (kubernetes-sigs/gateway-api-inference-extension v1.3.1,
    config/charts/inferencepool/templates/rbac.yaml; without a pool it reads pods alone)."""
    rules = [rule("", ["pods"], ("get", "list", "watch"))]
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": ROLE}, "rules": rules}


def in_namespace(namespace: str) -> dict[str, dict[str, Any]]:
    """The account of a namespace and its binding, by the suffix of their logical name."""
    return {
        "picker": {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": namespace},
            # Only the pods of a picker ask for its token.
            "automountServiceAccountToken": False,
        },
        "picker-binding": {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": ROLE, "namespace": namespace},
            **to_account(ROLE, ACCOUNT, namespace),
        },
    }
