"""Which types are kept in moto, which are records, and which updates are only recorded."""

from __future__ import annotations

from typing import Any

from sandbox.aws.schema import schema, tokens
from sandbox.aws.types import MAPPINGS


def coverage() -> dict[str, Any]:
    """`{"moto": [types], "record": "any other of N types"}`."""
    return {"moto": sorted(MAPPINGS), "record": f"any other of {len(tokens())} types"}


def recorded_updates() -> dict[str, list[str]]:
    """Inputs, by type in moto, whose update exists only in the state: AWS supports it, moto has no such operation."""
    by_type = {}
    for type_token, mapping in MAPPINGS.items():
        known = schema(type_token)
        inputs = mapping.recorded(known.inputs) if known else []
        if inputs:
            by_type[type_token] = inputs
    return by_type
