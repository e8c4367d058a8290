"""Validating values against the chart's values.schema.json, after merging them with the defaults like Helm."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema

from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.unknowns import PLACEHOLDER


def problems(chart: Chart, values: Mapping[str, Any]) -> list[str]:
    """One line for each value that violates the schema; none if the chart has no schema."""
    if chart.schema is None:
        return []
    validator = jsonschema.validators.validator_for(chart.schema)(chart.schema)
    errors = sorted(validator.iter_errors(merged(chart.defaults, values)), key=lambda error: list(map(str, error.path)))
    return [_line(chart, error) for error in errors if PLACEHOLDER not in error.message]


def merged(defaults: Any, values: Any) -> Any:
    """Merge maps and replace anything else; a null removes the default."""
    if not isinstance(defaults, Mapping) or not isinstance(values, Mapping):
        return values
    both = {key: merged(defaults.get(key), value) if key in defaults else value for key, value in values.items()}
    return {key: value for key, value in {**defaults, **both}.items() if value is not None or key not in values}


def _line(chart: Chart, error: Any) -> str:
    path = ".".join(["values", *map(str, error.absolute_path)])
    return f"{path}: chart {chart.name} {chart.version} refuses it: {error.message}{_hint(error)}"


def _hint(error: Any) -> str:
    if error.validator != "additionalProperties" or not isinstance(error.instance, Mapping):
        return ""
    known: Iterable[str] = (error.schema.get("properties") or {}).keys()
    for key in error.instance:
        close = difflib.get_close_matches(key, [each for each in known if each != key], n=1)
        if key not in known and close:
            return f'; did you mean "{close[0]}"?'
    return ""
