"""CRDs without what only costs the sandbox: descriptions, and conversions that nothing answers.

No import of a client here: the post-renderer of Helm, a process of its own for each release, uses these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.sandbox.kubernetes.objects import Object


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
