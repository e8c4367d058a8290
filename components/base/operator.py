"""Manifests, and what the objects of an operator have in common whose project publishes manifests and no chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.base.placement import sized, zone_spread

RBAC: Final = "rbac.authorization.k8s.io"
ALL: Final = ("create", "delete", "get", "list", "patch", "update", "watch")
"""Every verb on objects but `deletecollection`."""
UNPRIVILEGED: Final[Mapping[str, Any]] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""Security context of a container that only its own files and the network serve."""
CONFINED: Final[Mapping[str, Any]] = {**UNPRIVILEGED, "seccompProfile": {"type": "RuntimeDefault"}}
RESTRICTED: Final[Mapping[str, Any]] = {**CONFINED, "runAsNonRoot": True}
"""What the Pod Security Standard `restricted` requires of a container."""


def object_with(api_version: str, kind: str, metadata: Mapping[str, Any], **body: Any) -> dict[str, Any]:
    """An object with this metadata."""
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def object_of(api_version: str, kind: str, name: str, namespace: str = "", **body: Any) -> dict[str, Any]:
    """An object of this name; without a namespace it is one of the whole cluster."""
    place = {"namespace": namespace} if namespace else {}
    return object_with(api_version, kind, {"name": name, **place}, **body)


def custom_resource(
    group: str,
    version: str,
    names: Mapping[str, Any],
    schema: Mapping[str, Any],
    columns: Mapping[str, str],
    **served: Any,
) -> dict[str, Any]:
    """A CRD of a kind of objects in namespaces that has one version.

    Args:
        group: API group.
        version: The version.
        names: Names of the kind.
        schema: Besides that it is an object.
        columns: Paths of what `kubectl get` shows between name and age.
        served: What else the version has.
    """
    if columns:
        shown = [{"name": name, "type": "string", "jsonPath": path} for name, path in columns.items()]
        age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
        served["additionalPrinterColumns"] = [*shown, age]
    openapi = {"openAPIV3Schema": {"type": "object", **schema}}
    versions = [{"name": version, "served": True, "storage": True, "schema": openapi, **served}]
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    return object_of("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{names['plural']}.{group}", spec=spec)


def rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    """A rule of a role."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def to_account(role: str, account: str, namespace: str) -> dict[str, Any]:
    """What a binding of a ClusterRole to a service account has besides its metadata."""
    return {
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


@dataclass(frozen=True)
class Operator:
    """Its name, which its objects have, its namespace, and the labels by which its pods are selected."""

    name: str
    namespace: str
    labels: Mapping[str, str]

    def manifest(self, api_version: str, kind: str, *, name: str = "", namespaced: bool = True) -> dict[str, Any]:
        """An object without its body."""
        metadata: dict[str, Any] = {"name": name or self.name, "labels": dict(self.labels)}
        if namespaced:
            metadata["namespace"] = self.namespace
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata}

    def access(self, rules: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Service account, ClusterRole and ClusterRoleBinding."""
        role, binding = (
            self.manifest(f"{RBAC}/v1", kind, namespaced=False) for kind in ("ClusterRole", "ClusterRoleBinding")
        )
        return {
            "account": self.manifest("v1", "ServiceAccount"),
            "role": {**role, "rules": list(rules)},
            "binding": {**binding, **to_account(self.name, self.name, self.namespace)},
        }

    def deployment(
        self, container: Mapping[str, Any], *, replicas: int, placement: Mapping[str, Any], **pod: Any
    ) -> dict[str, Any]:
        """Its Deployment with one container, as the Pod Security Standard `restricted` wants it.

        Args:
            container: Image, arguments, ports and probes.
            replicas: Number of pods, in zones of their own.
            placement: `nodeSelector` and `tolerations`.
            pod: Further fields of the pod.
        """
        security = {**RESTRICTED, "runAsUser": 65532, **container.get("securityContext", {})}
        whole = {"name": self.name, "resources": sized("50m", "256Mi"), **container, "securityContext": security}
        spec = {"serviceAccountName": self.name, "containers": [whole], **pod, **zone_spread(self.labels), **placement}
        return {
            **self.manifest("apps/v1", "Deployment"),
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": self.labels},
                "template": {"metadata": {"labels": self.labels}, "spec": spec},
            },
        }

    def budget(self) -> dict[str, Any]:
        """A PodDisruptionBudget that keeps one replica."""
        spec = {"minAvailable": 1, "selector": {"matchLabels": self.labels}}
        return {**self.manifest("policy/v1", "PodDisruptionBudget"), "spec": spec}
