"""Inputs in the form in which the official provider keeps and compares them.

It converts the inputs of a built-in type to Go and back, which drops fields that are empty and optional, and a Secret's
`stringData` to `data` (pulumi-kubernetes v4.32.0, provider/pkg/clients/unstructured.go, Normalize). Without that a
change that is none, such as `globalDefault: false` where nothing was, would be an update in the sandbox alone.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.sandbox.rpc.wire import has_unknown

Path: TypeAlias = tuple[str, ...]

_BUILT_IN: Final = frozenset({"", "apps", "autoscaling", "batch", "policy"}) | {
    f"{group}.k8s.io"
    for group in (
        "admissionregistration", "authentication", "authorization", "certificates", "coordination", "discovery",
        "events", "flowcontrol.apiserver", "networking", "node", "rbac.authorization", "resource", "scheduling",
        "storage", "storagemigration",
    )
}  # fmt: skip
"""Groups of built-in types (k8s.io/client-go v0.36, kubernetes/scheme/register.go)."""
_KEPT: Final = frozenset({"rules", "containers", "endpoints"})
"""Lists that are kept though empty: their fields are not `omitempty` (k8s.io/api v0.36: rbac/v1, core/v1,
discovery/v1, types.go)."""
_ZERO: Final[Mapping[tuple[str, str], Path]] = {
    ("scheduling.k8s.io", "PriorityClass"): ("globalDefault",),
    ("", "PersistentVolume"): ("spec", "storageClassName"),
}
"""Fields that are `omitempty` and no pointers, so that false and an empty text are not written (k8s.io/api v0.36:
scheduling/v1 and core/v1, types.go). A claim's `storageClassName` is a pointer."""


def is_secret(obj: Mapping[str, Any]) -> bool:
    """Whether the object is a Secret."""
    return (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Secret")


def normalized(inputs: Object) -> Object:
    """The inputs in that form; custom resources and CRDs stay as they are."""
    if is_secret(inputs):
        return _secret(inputs)
    ref = Ref.of(inputs)
    if ref.group not in _BUILT_IN:
        return inputs
    found: Object = _without_empty_lists(inputs)
    path = _ZERO.get((ref.group, ref.kind))
    return found if path is None else _without_zero(found, path)


def _secret(secret: Object) -> Object:
    text = secret.get("stringData")
    if not text or has_unknown(text):
        return secret
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in text.items()}
    rest = {key: value for key, value in secret.items() if key != "stringData"}
    return {**rest, "data": {**(secret.get("data") or {}), **encoded}}


def _without_zero(value: Object, path: Path) -> Object:
    """A copy without the field at a path, if that is false or empty."""
    first, *rest = path
    if not rest:
        return {key: each for key, each in value.items() if key != first or each}
    below = value.get(first)
    return {**value, first: _without_zero(below, tuple(rest))} if isinstance(below, dict) else value


def _without_empty_lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {key: each for key, each in value.items() if each != [] or key in _KEPT}
        return {key: _without_empty_lists(each) for key, each in kept.items()}
    if isinstance(value, list):
        return [_without_empty_lists(each) for each in value]
    return value
