"""The list of docs/guides/admission.md, from the table of rules."""

import re
from pathlib import Path
from typing import Final

from components.admission import Rule, rules
from tests.components.admission.samples import EVERY

GUIDE: Final = Path(__file__).parents[3] / "docs/guides/admission.md"
PART: Final = "rules"
"""The part of the guide that the listing is."""


GROUPS: Final = {
    "*jobs*": "Job CronJob JobSet JAXJob PaddleJob PyTorchJob TFJob XGBoostJob MPIJob ScaledJob",
    "*servers*": "Deployment ReplicaSet StatefulSet LeaderWorkerSet",
    "*Ray*": "RayCluster RayJob RayService",
    "*workflows*": "Workflow CronWorkflow WorkflowTemplate",
}
"""Kinds that most rules have together."""


def listing() -> str:
    """Every rule with its setting, kinds and message. The stack's own pools are replaced by a placeholder."""
    meant = "; ".join(f"{name} are {', '.join(kinds.split())}" for name, kinds in GROUPS.items())
    return "\n\n".join([f"Below, {meant}.", *map(_section, rules(EVERY))])


def _section(rule: Rule) -> str:
    setting = re.sub(r"-(.)", lambda match: match[1].upper(), rule.name)
    message = re.sub(r"Nodes offer: .*?\. Select", "Nodes offer: <pools>. Select", rule.message.text)
    what = rule.what[0].upper() + rule.what[1:]
    kinds = _kinds(dict.fromkeys(kind.kind for kind in rule.kinds))
    return f"### `{setting}`\n\n{what}. Otherwise {rule.why}.\n\nApplies to {kinds}.\n\n```text\n{message}\n```"


def _kinds(kinds: dict[str, None]) -> str:
    groups = {name: set(each.split()) for name, each in GROUPS.items() if kinds.keys() >= set(each.split())}
    return ", ".join([*groups, *(kind for kind in kinds if not any(kind in each for each in groups.values()))])
