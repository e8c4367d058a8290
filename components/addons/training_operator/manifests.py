"""The operator's own objects: RBAC, service, deployment, webhook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from components.addons.training_operator.crds import GROUP
from components.addons.training_operator.kinds import JobKind
from components.base.sizing import sized

NAMESPACE: Final = "kubeflow"
NAME: Final = "training-operator"
SECRET: Final = "training-operator-webhook-cert"  # noqa: S105 - a name; the operator writes the certificate itself
IMAGE: Final = "ghcr.io/kubeflow/training-v1/training-operator:v1-3f15cb8"
"""Image of v1.9 (tags are commits; this one is used in the integration tests of Kueue 0.12 and later)."""
LABELS: Final = {"app.kubernetes.io/name": NAME, "control-plane": "kubeflow-training-operator"}
_RBAC: Final = "rbac.authorization.k8s.io"
_ALL: Final = ("create", "delete", "get", "list", "patch", "update", "watch")
_CREATED: Final = ("create", "get", "list", "update", "watch")


def permissions(kinds: Sequence[JobKind]) -> dict[str, dict[str, Any]]:
    """Service account, ClusterRole and ClusterRoleBinding, and the empty Secret that the operator fills."""
    own = [f"{kind.plural}{part}" for kind in kinds for part in ("", "/status", "/finalizers")]
    rules = [
        _rule("", ["configmaps", "serviceaccounts"], _CREATED),
        _rule("", ["events", "pods", "services"], _ALL),
        # The MPI launcher starts its workers with `kubectl exec`, and the operator grants it that permission.
        _rule("", ["pods/exec"], ["create"]),
        _rule(_RBAC, ["roles", "rolebindings"], ["create", "list", "update", "watch"]),
        # For its own certificate: a watch applies to the kind, so it can't be limited to one name.
        _rule("", ["secrets"], ["get", "list", "update", "watch"]),
        _rule(
            "admissionregistration.k8s.io",
            ["validatingwebhookconfigurations"],
            ["get", "list", "update", "watch"],
        ),
        _rule("autoscaling", ["horizontalpodautoscalers"], _ALL),
        _rule("networking.k8s.io", ["networkpolicies"], _ALL),
        _rule("coordination.k8s.io", ["leases"], _ALL),
        _rule(GROUP, own, _ALL),
        _rule("scheduling.volcano.sh", ["podgroups"], _ALL),
        _rule("scheduling.x-k8s.io", ["podgroups"], _ALL),
    ]
    return {
        "account": _object("v1", "ServiceAccount"),
        "role": {**_object(f"{_RBAC}/v1", "ClusterRole", namespaced=False), "rules": rules},
        "binding": {
            **_object(f"{_RBAC}/v1", "ClusterRoleBinding", namespaced=False),
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
        },
        "certificate": _object("v1", "Secret", name=SECRET),
    }


def service() -> dict[str, Any]:
    """Metrics and webhook."""
    ports = [
        {"name": "monitoring-port", "port": 8080, "targetPort": 8080},
        {"name": "webhook-server", "port": 443, "targetPort": 9443, "protocol": "TCP"},
    ]
    return {**_object("v1", "Service"), "spec": {"ports": ports, "selector": LABELS, "type": "ClusterIP"}}


def deployment(kinds: Sequence[JobKind], *, placement: dict[str, Any]) -> dict[str, Any]:
    """The operator, only for these kinds: a missing CRD keeps it from starting.

    Args:
        kinds: Kinds that it serves.
        placement: `nodeSelector` and `tolerations` of its pod.
    """
    field = {"fieldRef": {"fieldPath": "metadata.namespace"}}
    container = {
        "name": NAME,
        "image": IMAGE,
        "command": ["/manager"],
        "args": [f"--enable-scheme={kind.singular}" for kind in kinds],
        "env": [
            {"name": "MY_POD_NAMESPACE", "valueFrom": field},
            {"name": "MY_POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "ports": [{"containerPort": 8080}, {"containerPort": 9443, "name": "webhook-server", "protocol": "TCP"}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081}, "initialDelaySeconds": 15},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8081}, "initialDelaySeconds": 10},
        "resources": sized("50m", "256Mi"),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": True}],  # noqa: S108
    }
    pod = {
        "serviceAccountName": NAME,
        "containers": [container],
        "volumes": [{"name": "cert", "secret": {"secretName": SECRET, "defaultMode": 420}}],
        **placement,
    }
    return {
        **_object("apps/v1", "Deployment"),
        "spec": {
            # It has no leader election, so it runs as a single replica.
            "replicas": 1,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def webhooks(kinds: Sequence[JobKind]) -> dict[str, Any]:
    """The validating webhook for jobs. The operator injects its CA bundle."""
    checks = [
        {
            "name": f"validator.{kind.singular}.training-operator.kubeflow.org",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {
                    "name": NAME,
                    "namespace": NAMESPACE,
                    "path": f"/validate-kubeflow-org-v1-{kind.singular}",
                }
            },
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "rules": [
                {
                    "apiGroups": [GROUP],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": [kind.plural],
                }
            ],
        }
        for kind in kinds
        if kind.checked
    ]
    name = "validator.training-operator.kubeflow.org"
    base = _object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name=name, namespaced=False)
    return {**base, "webhooks": checks}


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _object(api_version: str, kind: str, *, name: str = NAME, namespaced: bool = True) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": dict(LABELS)}
    if namespaced:
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
