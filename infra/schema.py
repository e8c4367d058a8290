"""The types of settings in a Pulumi package: those of the JSON Schema of a stack file, in the form of Pulumi's schema.

So a program in any language gets completion, documentation and types of every setting (Pulumi package schema, "Types").
"""

from collections.abc import Mapping
from typing import Any, Final

from spec.settings.schema import generate

_ANY: Final = {"$ref": "pulumi.json#/Any"}
_DEFINED: Final = "#/$defs/"


def types(package: str) -> dict[str, Any]:
    """The types of all settings by token, such as `slipway:index:Pool`.

    Args:
        package: Name of the package.
    """
    return {f"{package}:index:{name}": _type(package, one) for name, one in generate()["$defs"].items()}


def reference(package: str, name: str) -> dict[str, Any]:
    """A property of one of these types. It is plain: names of resources follow from settings, so that no output of
    another resource can be one."""
    return {"$ref": f"#/types/{package}:index:{name}", "plain": True}


def _type(package: str, node: Mapping[str, Any]) -> dict[str, Any]:
    found = {"type": "string" if "enum" in node else "object", "description": node.get("description", "")}
    if "enum" in node:
        return found | {"enum": [{"value": one} for one in node["enum"]]}
    properties = {key: _property(package, one) for key, one in node.get("properties", {}).items()}
    return found | {"properties": properties, "required": sorted(node.get("required", ()))}


def _property(package: str, node: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": node["description"]} if "description" in node else {}
    return {**_shape(package, node), **described, "plain": True}


def _shape(package: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a value. A value with several forms has the form that all of them share, if they share one."""
    if "$ref" in node:
        return {"$ref": f"#/types/{package}:index:{node['$ref'].removeprefix(_DEFINED)}"}
    if "anyOf" in node:
        shapes = [_shape(package, one) for one in node["anyOf"] if one.get("type") != "null"]
        different = [one for index, one in enumerate(shapes) if one not in shapes[:index]]
        return different[0] if len(different) == 1 else {"oneOf": different}
    match node.get("type"):
        case "array":
            return {"type": "array", "items": _shape(package, node["items"])}
        case "object":
            values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
            return {
                "type": "object",
                "additionalProperties": _shape(package, values[0]) if isinstance(values[0], Mapping) else _ANY,
            }
        case "integer" | "number" | "boolean" | "string" as simple:
            return {"type": simple}
        case _:
            texts = all(isinstance(one, str) for one in node.get("enum", [node.get("const")]))
            return {"type": "string"} if texts else _ANY
