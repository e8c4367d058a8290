"""Terraform documents in its native syntax, which Checkov reads better than JSON.

Of `.tf.json` Checkov 3.3 leaves a policy as text, so most checks of policies pass; of `jsonencode(...)` it reads the
statements. Attributes and blocks look alike in JSON, too: an object is a block here, except for plain maps.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

_MAPS: Final = frozenset({"tags", "default_tags", "labels"})
_REFERENCE: Final = "${"


def text(document: Mapping[str, Any]) -> str:
    """A document of `slipway.render.terraform` as the text of a `.tf` file."""
    lines: list[str] = []
    for provider in document.get("provider", {}).get("aws", []):
        lines += ['provider "aws" {', *_body(provider), "}"]
    for kind, named in document["resource"].items():
        for name, block in named.items():
            lines += [f"resource {json.dumps(kind)} {json.dumps(name)} {{", *_body(block), "}"]
    return "\n".join(lines) + "\n"


def _body(block: Mapping[str, Any]) -> Iterator[str]:
    for key, value in block.items():
        blocks = value if isinstance(value, list) else [value]
        if key not in _MAPS and blocks and all(isinstance(one, Mapping) for one in blocks):
            for one in blocks:
                yield from (f"{key} {{", *_body(one), "}")
        elif value is not None:
            yield f"{key} = {_expression(value)}"


def _expression(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_expression(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_expression, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def _text(value: str) -> str:
    parsed = _parsed(value)
    if isinstance(parsed, Mapping):
        return f"jsonencode({_expression(parsed)})"
    if value.startswith(_REFERENCE) and value.endswith("}") and value.count(_REFERENCE) == 1:
        return value[len(_REFERENCE) : -1]
    return json.dumps(value)


def _parsed(value: str) -> Any:
    try:
        return json.loads(value) if value.startswith("{") else None
    except ValueError:
        return None
