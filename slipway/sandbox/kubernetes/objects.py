"""Kubernetes objects as plain dicts, and references to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True)
class Ref:
    """A reference to an object. `namespace` is empty for a cluster-scoped one."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> Ref:
        """The reference to an object; for a namespaced kind, an empty namespace means "default"."""
        metadata = obj.get("metadata") or {}
        return cls(
            str(obj.get("apiVersion") or ""),
            str(obj.get("kind") or ""),
            str(metadata.get("name") or ""),
            str(metadata.get("namespace") or ""),
        )

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def custom(self) -> bool:
        """Whether a CRD could define the kind: its group must be a domain, which `apps` and the core group are not."""
        return "." in self.group

    def as_object(self) -> Object:
        """The minimal object with this reference, for the state and for the API server."""
        metadata = {"name": self.name, **({"namespace": self.namespace} if self.namespace else {})}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata}

    def __str__(self) -> str:
        """`apps/v1 Deployment serving/llm`."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.api_version} {self.kind} {where}{self.name}"


def is_custom_resource_definition(obj: Mapping[str, Any]) -> bool:
    """Whether the object is a CustomResourceDefinition."""
    return obj.get("kind") == "CustomResourceDefinition" and str(obj.get("apiVersion", "")).startswith(
        "apiextensions.k8s.io/"
    )


def condition(obj: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of a type in an object's status; empty if it has none yet."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), {})
