"""Kubernetes objects as plain dicts, and references to them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Object: TypeAlias = dict[str, Any]

DEFAULT_NAMESPACE = "default"
BUILT_IN_GROUPS: Final = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates",
        "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver", "networking", "node",
        "rbac.authorization", "resource", "scheduling", "storage", "storagemigration",
    )
)  # fmt: skip
"""API groups with a domain that the API server itself serves (kubernetes/api v1.36, its folders, and the groups of
apiextensions-apiserver and kube-aggregator). Which of their kinds it serves depends on its version."""


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
        """Whether a CRD could define the kind: its group must be a domain, and none of those of Kubernetes itself."""
        return "." in self.group and self.group not in BUILT_IN_GROUPS

    def as_object(self) -> Object:
        """The minimal object with this reference, for the state and for the API server."""
        metadata = {"name": self.name, **({"namespace": self.namespace} if self.namespace else {})}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata}

    def __str__(self) -> str:
        """`apps/v1 Deployment serving/llm`."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.api_version} {self.kind} {where}{self.name}"


def generated(obj: Object) -> Object:
    """The object with a name, if it has `generateName` alone, so that it can be applied again after a timeout."""
    metadata = obj["metadata"]
    # As the API server makes it, with five characters (k8s.io/apiserver v0.36, pkg/storage/names).
    name = f"{metadata.get('generateName', '')[:58]}{secrets.token_hex(3)[:5]}"
    return {**obj, "metadata": {"name": name, **metadata}}


def is_custom_resource_definition(obj: Mapping[str, Any]) -> bool:
    """Whether the object is a CustomResourceDefinition."""
    return obj.get("kind") == "CustomResourceDefinition" and str(obj.get("apiVersion", "")).startswith(
        "apiextensions.k8s.io/"
    )


def condition(obj: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of a type in an object's status; empty if it has none yet."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), {})


# CRDs without what only costs the sandbox: descriptions, and conversions that nothing answers.
#
# No import of a client here: the post-renderer of Helm, a process of its own for each release, uses these.


def without_conversion_webhook(crd: Mapping[str, Any]) -> Object:
    """The CRD without its conversion webhook, because nothing runs here that could convert between versions."""
    spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
    return {**{key: value for key, value in crd.items() if key != "status"}, "spec": spec}


def without_descriptions(crd: Mapping[str, Any]) -> Object:
    """A chart's CRD without the descriptions of its fields, which only `kubectl explain` shows.

    They are two thirds of what the API server, etcd and this process would have to read and keep.
    """
    versions = [
        {**each, "schema": {"openAPIV3Schema": _undescribed((each.get("schema") or {}).get("openAPIV3Schema") or {})}}
        if each.get("schema")
        else each
        for each in crd["spec"].get("versions") or ()
    ]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def _undescribed(schema: Any) -> Any:
    """The schema without `description`; below `properties`, that key is the name of a field and stays."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: _undescribed(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties", "not"):
            kept[key] = _undescribed(value)
        elif key in ("allOf", "anyOf", "oneOf"):
            kept[key] = [_undescribed(each) for each in value]
        elif key != "description":
            kept[key] = value
    return kept
