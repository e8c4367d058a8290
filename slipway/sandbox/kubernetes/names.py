"""Filling in apiVersion, kind and name of a manifest.

A generated name has the form of the real provider (pulumi-kubernetes 4.34.2, provider/pkg/metadata): `<logical
name>-<8 hex digits>`, with an annotation so that a later run keeps the name and a replacement gets another one.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from typing import Any

from slipway.sandbox.kubernetes.objects import Object
from slipway.sandbox.rpc.hooks import Resource

AUTONAMED = "pulumi.com/autonamed"
PATCH_SUFFIX = "Patch"


def api_version_and_kind(token: str) -> tuple[str, str]:
    """`kubernetes:core/v1:Namespace` -> `v1`, `Namespace`; `kubernetes:apps/v1:Deployment` -> `apps/v1`, `Deployment`.

    The SDK's tokens have the full name of the group; only the core group, which has none, is written `core`.
    """
    _, api_version, kind = token.split(":")
    return api_version.removeprefix("core/"), kind


def is_patch(token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether the resource is one like `DeploymentPatch`, which owns some fields of another owner's object."""
    return bool(token.rpartition(":")[2] == f"{inputs.get('kind')}{PATCH_SUFFIX}")


def named(resource: Resource, news: Mapping[str, Any], olds: Mapping[str, Any], seed: bytes) -> Object:
    """The inputs with apiVersion, kind and metadata.name filled in."""
    api_version, kind = api_version_and_kind(resource.type)
    inputs = {"apiVersion": api_version, "kind": kind, **copy.deepcopy(dict(news))}
    metadata = inputs.setdefault("metadata", {})
    if not isinstance(metadata, dict) or metadata.get("name") or metadata.get("generateName"):
        return inputs
    old = olds.get("metadata") or {}
    if is_autonamed(olds):
        metadata["name"] = old["name"]
    else:
        metadata["name"] = f"{resource.name}-{hashlib.sha256(seed).hexdigest()[:8]}"
    metadata.setdefault("annotations", {})[AUTONAMED] = "true"
    return inputs


def is_autonamed(inputs: Mapping[str, Any]) -> bool:
    """Whether the name was generated."""
    metadata = inputs.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return isinstance(annotations, Mapping) and annotations.get(AUTONAMED) == "true"


def manifest(inputs: Mapping[str, Any]) -> Object:
    """The object to send: the inputs without Pulumi's own keys."""
    return {key: copy.deepcopy(value) for key, value in inputs.items() if not key.startswith("__")}


def annotation(inputs: Mapping[str, Any], key: str) -> str:
    """The value of an annotation; empty if it is not set."""
    metadata = inputs.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return str(annotations.get(key) or "") if isinstance(annotations, Mapping) else ""
