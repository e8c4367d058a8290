"""`slipway sandbox status --limits`: what is checked of each input of each AWS type."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict

from slipway.cli.output import table
from slipway.sandbox.aws import checked
from spec.errors import SlipwayError


def show(containing: str, *, as_json: bool) -> int:
    """Print the limits of the types whose token contains a text. Raises SlipwayError if there are none."""
    found = list(checked.limits(containing))
    if not found:
        msg = f"no AWS type with a table of limits contains {containing!r}: `slipway sandbox status --limits` lists all"
        raise SlipwayError(msg)
    print(json.dumps([asdict(one) for one in found], indent=2) if as_json else _text(found))
    return 0


def _text(found: list[checked.Limit]) -> str:
    parts = []
    for type_token, group in itertools.groupby(found, key=lambda one: one.type):
        rows = [(one.input, one.parameter or "not mapped", _last(one)) for one in group]
        parts.append(f"{type_token}\n{table(rows, indent='  ')}\n")
    return "\n".join([*parts, checked.summary(found)])


def _last(one: checked.Limit) -> str:
    return f"{one.limits} [{one.source}]" if one.source else one.limits
