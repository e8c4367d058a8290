"""Inputs of a manifest: names filled in, in the form that the official provider compares, and their drift."""

import base64
import copy
import hashlib
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import has_unknown

# Filling in apiVersion, kind and name of a manifest.
#
# A generated name has the form of the real provider (pulumi-kubernetes 4.34.2, provider/pkg/metadata): `<logical
# name>-<8 hex digits>`, with an annotation so that a later run keeps the name and a replacement gets another one.

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


# Inputs in the form in which the official provider keeps and compares them.
#
# It converts the inputs of a built-in type to Go and back, which drops fields that are empty and optional, and a
# Secret's `stringData` to `data` (pulumi-kubernetes v4.32.0, provider/pkg/clients/unstructured.go, Normalize). Without
# that a change that is none, such as `globalDefault: false` where nothing was, would be an update in the sandbox alone.

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
_OMITTED: Final = frozenset({
    "chapAuthDiscovery", "chapAuthSession", "clusterScope", "globalDefault", "hostIPC", "hostNetwork", "hostPID",
    "paused", "publishNotReadyAddresses", "readOnly", "sslEnabled", "stdin", "stdinOnce", "tty", "unschedulable",
    "failureThreshold", "healthCheckNodePort", "hostPort", "initialDelaySeconds", "minReadySeconds", "nodePort",
    "number", "partition", "periodSeconds", "successThreshold", "timeoutSeconds",
})  # fmt: skip
"""Fields whose false or 0 is not written: they are `omitempty` and no pointers (k8s.io/api v0.36, types.go)."""
_POINTERS: Final = (
    ("azureDisk", "readOnly"), ("volumes", "csi", "readOnly"), ("rollingUpdate", "partition"),
    ("policies", "periodSeconds"), ("webhooks", "timeoutSeconds"), ("clientIP", "timeoutSeconds"),
)  # fmt: skip
"""Fields of those names that keep it."""
_KEPT: Final = frozenset({
    "rules", "containers", "endpoints", "limits", "monitors", "nodeSelectorTerms",
    *("config", "constraints", "devices", "drivers", "requests", "selectors", "sharedCounters"),
})  # fmt: skip
"""Lists that are kept though empty: their fields are not `omitempty` (the same files)."""
_PORTS, _EXTRA, _DROPPED = ("ports",), ("spec", "extra"), ("spec", "rules")
"""An EndpointSlice's, and of a CertificateSigningRequest, are kept; those of an Ingress and a FlowSchema are not."""
_NO_TEXT: Final = ("PersistentVolume", ("spec", "storageClassName"))
"""An empty text that is not written; a claim's `storageClassName` is a pointer."""


def is_secret(obj: Mapping[str, Any]) -> bool:
    """Whether the object is a Secret."""
    return (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Secret")


def normalized(inputs: Object) -> Object:
    """The inputs in that form; custom resources and CRDs stay as they are."""
    if is_secret(inputs):
        return _secret(inputs)
    ref = Ref.of(inputs)
    if is_custom_resource_definition(inputs) and (inputs.get("spec") or {}).get("preserveUnknownFields") is False:
        return {**inputs, "spec": {key: each for key, each in inputs["spec"].items() if key != "preserveUnknownFields"}}
    if ref.group not in _BUILT_IN:
        return inputs
    found: Object = _without_empty(inputs, ())
    kind, (first, last) = _NO_TEXT
    below = found.get(first)
    if ref.kind == kind and isinstance(below, dict) and below.get(last) == "":
        found[first] = {key: each for key, each in below.items() if key != last}
    return found


def _secret(secret: Object) -> Object:
    text = secret.get("stringData")
    if not text or has_unknown(text):
        return secret
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in text.items()}
    rest = {key: value for key, value in secret.items() if key != "stringData"}
    return {**rest, "data": {**(secret.get("data") or {}), **encoded}}


def _without_empty(value: Any, path: Path) -> Any:
    if isinstance(value, Mapping):
        kept = {key: each for key, each in value.items() if not _omitted(each, (*path, key))}
        return {key: _without_empty(each, (*path, key)) for key, each in kept.items()}
    if isinstance(value, list):
        return [_without_empty(each, path) for each in value]
    return value


def _omitted(value: Any, path: Path) -> bool:
    if value == []:
        return path == _DROPPED or not (path[-1] in _KEPT or path == _PORTS or path[:-1] == _EXTRA)
    zero = value is False or (value == 0 and not isinstance(value, bool))
    return zero and path[-1] in _OMITTED and not any(path[-len(each) :] == each for each in _POINTERS)


# Drift of an object: which fields that the program sets were changed by another client.
#
# The live object is compared with the object after our own last write, not with the inputs, so defaults, admission and
# other spellings of a quantity are not drift. Only fields that the inputs set are compared. The result is the inputs
# that would describe the live object, so that the next preview shows the differences.

SERVER_METADATA = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)


def drifted(inputs: Mapping[str, Any], recorded: Mapping[str, Any], live: Mapping[str, Any]) -> Object:
    """The inputs, with live values for fields in which the live object differs from the recorded one."""
    kept = {key: value for key, value in inputs.items() if key.startswith("__")}
    wanted = {key: value for key, value in inputs.items() if key not in kept}
    present: Object = _in_map(wanted, recorded, live)
    return {**present, **kept}


def imported(live: Mapping[str, Any]) -> Object:
    """The inputs that describe a live object, for an import."""
    inputs = {key: value for key, value in live.items() if key != "status"}
    inputs["metadata"] = {k: v for k, v in (live.get("metadata") or {}).items() if k not in SERVER_METADATA}
    return inputs


def _in_map(wanted: Mapping[str, Any], recorded: Any, live: Mapping[str, Any]) -> Object:
    before = recorded if isinstance(recorded, Mapping) else {}
    present = {}
    for key, value in wanted.items():
        if key in live:
            present[key] = _value(value, before.get(key), live[key])
        elif key not in before:
            # The API server never returned it: for example an empty map, which it does not store.
            present[key] = value
    return present


def _value(wanted: Any, recorded: Any, live: Any) -> Any:
    if recorded == live:
        return wanted
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return _in_map(wanted, recorded, live)
    if isinstance(wanted, list) and isinstance(live, list):
        return _in_list(wanted, recorded if isinstance(recorded, list) else [], live)
    return live


def _in_list(wanted: list[Any], recorded: list[Any], live: list[Any]) -> list[Any]:
    """Items with names are matched by name; any other list is replaced by the live one."""
    ours, before, now = _by_name(wanted), _by_name(recorded), _by_name(live)
    if ours is None or before is None or now is None:
        return live
    kept = [_value(item, before.get(name), now[name]) for name, item in ours.items() if name in now]
    added = [item for name, item in now.items() if name not in ours and name not in before]
    return kept + added


def _by_name(items: list[Any]) -> dict[str, Any] | None:
    """The items by `name`; None unless each has a different one."""
    named = {item["name"]: item for item in items if isinstance(item, Mapping) and isinstance(item.get("name"), str)}
    return named if len(named) == len(items) else None
