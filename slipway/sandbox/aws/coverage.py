"""Which types live in moto and which are records, and which updates are recorded all the same: nothing is hidden."""

from __future__ import annotations

from typing import Any

from slipway.sandbox.aws.mappings import MAPPINGS
from slipway.sandbox.aws.schema import schema, tokens


def coverage() -> dict[str, Any]:
    """`{"moto": [types], "record": "any other of N types"}`."""
    return {"moto": sorted(MAPPINGS), "record": f"any other of {len(tokens())} types"}


def recorded_updates() -> dict[str, list[str]]:
    """The inputs of moto's types whose update is kept in the state alone: AWS makes it, moto has no such operation."""
    found = {}
    for type_token, mapping in MAPPINGS.items():
        known = schema(type_token)
        inputs = mapping.recorded(known.inputs) if known else []
        if inputs:
            found[type_token] = inputs
    return found
