"""Coverage of the checks of Checkov, Trivy and the CIS benchmark by checks of the pack, with reasons for the rest."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from policies.rules import RULES
from spec import strict_yaml

FILE: Final = Path(__file__).with_name("external_checks.yaml")
NOT_APPLICABLE: Final = "n/a: "


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = strict_yaml.read(FILE.read_text(encoding="utf-8"))
    return document


def titles() -> dict[str, str]:
    """Every external check ID in scope, with its title."""
    return {
        external_id: title
        for source, ids in _document().items()
        if source != "reasons"
        for external_id, title in ids.items()
    }


def checks_by_id() -> dict[str, list[str]]:
    """Checks of the pack by the external check IDs that they cover."""
    checks: dict[str, list[str]] = {}
    for rule in RULES:
        for key, check in rule.checks.items():
            for external_id in check.external_ids:
                checks.setdefault(external_id, []).append(f"{rule.name}/{key}")
    return checks


def coverage() -> dict[str, str]:
    """For every external check ID in scope, the checks that cover it or the reason that none does; in file order.

    Raises:
        ValueError: An ID has neither or both, or a rule names one that is not in external_checks.yaml.
    """
    known, checks, reasons = titles(), checks_by_id(), _document()["reasons"]
    wrong = [
        f"{external_id}: no check lists it in external_ids and it has no reason; add one of them"
        for external_id in known
        if external_id not in {*checks, *reasons}
    ]
    wrong += [
        f"{external_id}: has a reason, and {checks[external_id]} list it; remove one of them"
        for external_id in reasons
        if external_id in checks
    ]
    wrong += [
        f"{external_id}: {where} list it, and external_checks.yaml does not; add its title"
        for external_id, where in checks.items()
        if external_id not in known
    ]
    if wrong:
        raise ValueError("policies/external_checks.yaml: " + "; ".join(wrong))
    return {
        external_id: ", ".join(checks[external_id])
        if external_id in checks
        else f"{NOT_APPLICABLE}{reasons[external_id]}"
        for external_id in known
    }
