"""Which changes force a replacement, from the tables of the mappings and records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.aws import records
from sandbox.aws.rules.rule import value
from sandbox.aws.types import MAPPINGS, RECORDS
from sandbox.rpc import diff
from sandbox.rpc.diff import Path


def known(type_token: str) -> bool:
    """Whether it is known which changes of a type force a replacement."""
    return type_token in MAPPINGS or type_token in RECORDS


def forces_new(type_token: str, path: Path, old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """Whether a change at a path forces a replacement; false for a type that is not `known`."""
    mapping = MAPPINGS.get(type_token)
    name = diff.without_indexes(path)
    forcing = (mapping.force_new if mapping is not None else records.record(type_token).force_new) | {"region"}
    if any(name == forced or name.startswith(f"{forced}.") or _is_set(news, name, forced) for forced in forcing):
        return True
    return mapping is not None and mapping.replace_if is not None and mapping.replace_if(name, old_inputs, news)


def _is_set(news: Mapping[str, Any], name: str, forced: str) -> bool:
    """Whether a newly added object includes a property that can't be set later."""
    return forced.startswith(f"{name}.") and value(news, forced) is not None
