"""Findings of the policy pack as text: in the width of the terminal, or each on two lines with its whole URN."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from slipway.report.plan import kind

FALLBACK: Final = 80
"""Columns without a terminal."""


def wide(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A finding on two lines: level, check and URN, then its message."""
    for one in findings:
        yield f"{one['level']} {one['rule']} {one['urn']}"
        yield f"  {one['message']}"


def narrow(findings: Sequence[Mapping[str, Any]], columns: int | None = None) -> Iterator[str]:
    """Findings with the same check and message together: the resources by kind and name, and the message once.

    Args:
        findings: Findings as plain values (`slipway.cli.policies.as_data`).
        columns: Longest line; the width of the terminal, 80 without one, if None.
    """
    columns = columns or shutil.get_terminal_size((FALLBACK, 24)).columns
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in findings:
        text = one["message"].removeprefix(f"[{one['rule'].rpartition('/')[2]}] ")
        text = text.removeprefix(f"{one['urn'].rpartition('::')[2]}: ")
        groups.setdefault((one["level"], one["rule"], text), []).append(resource(one["urn"]))
    for (level, rule, text), resources in groups.items():
        yield f"{level} {rule}"
        for line in (*resources, text):
            indent = "    " if line is text else "  "
            yield from wrap(line, columns, initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False)


def resource(urn: str) -> str:
    """Kind and logical name of a resource: `NodePool pool-a100-node-pool`; `the stack` without a URN."""
    if not urn:
        return "the stack"
    _, _, types, name = urn.split("::", 3)
    return f"{kind(types.rpartition('$')[2]).partition(' (')[0]} {name}"
