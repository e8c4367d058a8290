"""The list of docs/guides/admission.md, from the table of rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from components.admission import Rule, rules
from tests.components.admission.samples import STAND

GUIDE: Final = Path(__file__).parents[3] / "docs/guides/admission.md"
PART: Final = "rules"
"""The part of the guide that the listing is."""


def listing() -> str:
    """Every rule, what it looks at, its setting, and what it says. The stack's own pools are left out."""
    return "\n\n".join(map(_section, rules(STAND)))


def _section(rule: Rule) -> str:
    setting = re.sub(r"-(.)", lambda found: found[1].upper(), rule.name)
    message = re.sub(r"Nodes offer: .*?\. Name", "Nodes offer: <pools>. Name", rule.message.text)
    kinds = ", ".join(kind.kind for kind in rule.kinds)
    what = rule.what[0].upper() + rule.what[1:]
    return f"### `{setting}`\n\n{what}. Else {rule.why}.\n\nLooks at {kinds}.\n\n    {message}"
