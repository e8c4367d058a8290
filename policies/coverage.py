"""Which rule answers for which question of Checkov, Trivy and the CIS benchmark, and why some have none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from policies.rules import RULES

FILE: Final = Path(__file__).with_name("external_checks.yaml")
NOT_APPLICABLE: Final = "n/a: "


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return document


def titles() -> dict[str, str]:
    """Every id in scope with its title."""
    return {
        anchor: title for source, ids in _document().items() if source != "reasons" for anchor, title in ids.items()
    }


def answers() -> dict[str, list[str]]:
    """Checks by the ids that they answer for."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        for key, check in rule.checks.items():
            for anchor in check.anchors:
                found.setdefault(anchor, []).append(f"{rule.name}/{key}")
    return found


def coverage() -> dict[str, str]:
    """Every id in scope: the checks that answer for it, or why none does; sorted as the inventory is.

    Raises:
        ValueError: An id has neither or both, or a rule names one that is not in the inventory.
    """
    known, found, reasons = titles(), answers(), _document()["reasons"]
    wrong = [
        f"{anchor}: no check names it, and no reason is given" for anchor in known if anchor not in {*found, *reasons}
    ]
    wrong += [f"{anchor}: a reason is given, and {found[anchor]} name it" for anchor in reasons if anchor in found]
    wrong += [
        f"{anchor}: {where} name it, and external_checks.yaml does not"
        for anchor, where in found.items()
        if anchor not in known
    ]
    if wrong:
        raise ValueError("policies/external_checks.yaml: " + "; ".join(wrong))
    return {
        anchor: ", ".join(found[anchor]) if anchor in found else f"{NOT_APPLICABLE}{reasons[anchor]}"
        for anchor in known
    }
