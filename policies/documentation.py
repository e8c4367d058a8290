"""The page docs/policies.md, generated from the rules."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from policies.coverage import NOT_APPLICABLE, coverage
from policies.pack import EXPIRY, REVIEW
from policies.rule import ENVIRONMENTS, AnyRule, StackRule
from policies.rules import MODULES, RULES, rules_of

_INTRODUCTION: Final = Path(__file__).with_name("introduction.txt").read_text(encoding="utf-8")


def page() -> str:
    """The content of the page."""
    return "\n".join([_INTRODUCTION.format(expiry=EXPIRY, review=REVIEW), *_contents(), *_rules(), *_covered()]) + "\n"


def _contents() -> Iterator[str]:
    yield f"## The {len(RULES)} rules\n"
    yield "`policies/levels/<environment>.json` has the levels of all in one list.\n"
    for heading, modules in MODULES.items():
        names = (f"[{rule.name}](#{rule.name})" for module in modules for rule in rules_of(module))
        yield f"- {heading}: {', '.join(names)}"
    yield ""


def _rules() -> Iterator[str]:
    for heading, modules in MODULES.items():
        yield f"## {heading}\n"
        for rule in (rule for module in modules for rule in rules_of(module)):
            yield from _rule(rule)


def _rule(rule: AnyRule) -> Iterator[str]:
    scope = "stack" if isinstance(rule, StackRule) else "resource"
    yield f"### {rule.name}\n"
    yield f"{rule.title}. {rule.why}\n"
    yield f"*{rule.severity.value}, {rule.levels.text}, {scope}.* Fix: {rule.fix}\n"
    for key, check in rule.checks.items():
        yield f"- `{key}`: {check.asks}" + (f" ({', '.join(check.external_ids)})" if check.external_ids else "")
    yield ""
    for name, setting in rule.settings.items():
        values = [f"`{json.dumps(setting.values[one])}`" for one in ENVIRONMENTS]
        yield f"Setting `{name}`, {setting.asks}: {' / '.join(values if len(set(values)) > 1 else values[:1])}\n"


def _covered() -> Iterator[str]:
    covered = coverage()
    without = {
        external_id: text.removeprefix(NOT_APPLICABLE)
        for external_id, text in covered.items()
        if text.startswith(NOT_APPLICABLE)
    }
    yield "## Coverage\n"
    yield (
        f"Checkov, Trivy and the CIS Amazon EKS Benchmark have {len(covered)} checks for resource types of the stacks. "
        f"The pack covers {len(covered) - len(without)} of them, as listed in `policies/coverage.json`. The others:\n"
    )
    yield from (f"- {external_id}: {reason}" for external_id, reason in without.items())
