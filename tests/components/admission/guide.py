"""The list of docs/guides/admission.md, from the table of rules."""

import re
from pathlib import Path
from typing import Final

from components.admission import Rule, rules
from tests.components.admission.samples import EVERY

GUIDE: Final = Path(__file__).parents[3] / "docs/guides/admission.md"
PART: Final = "rules"
"""The part of the guide that the listing is."""


def listing() -> str:
    """Every rule with its setting, kinds and message. The stack's own pools are replaced by a placeholder."""
    return "\n\n".join(map(_section, rules(EVERY)))


def _section(rule: Rule) -> str:
    setting = re.sub(r"-(.)", lambda match: match[1].upper(), rule.name)
    message = re.sub(r"Nodes offer: .*?\. Select", "Nodes offer: <pools>. Select", rule.message.text)
    kinds = ", ".join(dict.fromkeys(kind.kind for kind in rule.kinds))
    what = rule.what[0].upper() + rule.what[1:]
    return f"### `{setting}`\n\n{what}. Otherwise {rule.why}.\n\nApplies to {kinds}.\n\n```text\n{message}\n```"
