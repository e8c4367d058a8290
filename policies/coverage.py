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
        external_id: title
        for source, ids in _document().items()
        if source != "reasons"
        for external_id, title in ids.items()
    }


def answers() -> dict[str, list[str]]:
    """Checks by the ids that they answer for."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        for key, check in rule.checks.items():
            for external_id in check.external_ids:
                found.setdefault(external_id, []).append(f"{rule.name}/{key}")
    return found


def coverage() -> dict[str, str]:
    """Every id in scope: the checks that answer for it, or why none does; sorted as the inventory is.

    Raises:
        ValueError: An id has neither or both, or a rule names one that is not in the inventory.
    """
    known, found, reasons = titles(), answers(), _document()["reasons"]
    wrong = [
        f"{external_id}: no check names it, and no reason is given"
        for external_id in known
        if external_id not in {*found, *reasons}
    ]
    wrong += [
        f"{external_id}: a reason is given, and {found[external_id]} name it"
        for external_id in reasons
        if external_id in found
    ]
    wrong += [
        f"{external_id}: {where} name it, and external_checks.yaml does not"
        for external_id, where in found.items()
        if external_id not in known
    ]
    if wrong:
        raise ValueError("policies/external_checks.yaml: " + "; ".join(wrong))
    return {
        external_id: ", ".join(found[external_id])
        if external_id in found
        else f"{NOT_APPLICABLE}{reasons[external_id]}"
        for external_id in known
    }
