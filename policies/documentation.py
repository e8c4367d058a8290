"""The page docs/policies.md, from the rules themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from policies.coverage import NOT_APPLICABLE, coverage
from policies.levels import ENVIRONMENTS
from policies.pack import EXPIRY
from policies.rule import AnyRule, StackRule
from policies.rules import MODULES, RULES

_INTRODUCTION: Final = """\
# Policies

<!-- Made by `python -m policies.generate` from the rules; edit those. -->

The pack is checked by the engine at every preview and update, in the sandbox as on AWS:

    pulumi preview --stack prod --policy-pack policies

and, without an engine and in seconds, by `slipway policies prod`, which runs the program in-process and asks every
rule; `--manifests DIR` judges Kubernetes manifests as well, such as those that a chart was rendered to, since the pods
of a Helm release are seen by no rule. The pack adds less than 2 s of processor time to a preview of `prod`.

It takes the levels and settings of the environment that the stack is named after, and those of `prod` for any other
name. `--policy-pack-config policies/levels/<environment>.json` says the same in a file, for a start of one's own.

- **Levels**, for dev, staging and prod: `M` mandatory (the run fails), `A` advisory (it is told), `-` off.
- A rule of one **resource** looks at inputs, and what breaks it is never made. A rule of the **stack** looks at all
  resources once they are registered: it fails a preview, so preview before every update.
- A value that a preview can't know is no violation, and hides none: the update asks again.
- A violation that somebody has judged is excused in `policies/suppressions.yaml`, with the reason, the team that
  answers for it, and the last day. The day after, it is a violation again, and `{expiry}` fails every run until
  the entry is judged again or removed.
- Policies see neither `destroy` nor what a change replaces: for those there are `protect`, deletion protection, and
  [the gate](guides/gate.md).
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_INTRODUCTION.format(expiry=EXPIRY), *_contents(), *_rules(), *_covered()]) + "\n"


def _contents() -> Iterator[str]:
    yield f"## The {len(RULES)} rules\n"
    yield "| Rule | Asks | Severity | dev/staging/prod |"
    yield "|---|---|---|---|"
    for rule in RULES:
        yield f"| [{rule.name}](#{rule.name}) | {rule.title} | {rule.severity.value} | {rule.levels.text} |"
    yield ""


def _rules() -> Iterator[str]:
    for heading, modules in MODULES.items():
        yield f"## {heading}\n"
        for rule in (rule for module in modules for rule in module.RULES):
            yield from _rule(rule)


def _rule(rule: AnyRule) -> Iterator[str]:
    scope = "stack" if isinstance(rule, StackRule) else "resource"
    yield f"### {rule.name}\n"
    yield f"{rule.title}. {rule.why}\n"
    yield f"*{rule.severity.value}, {rule.levels.text}, {scope}.* Mend: {rule.fix}\n"
    yield "| Check | What is looked at | Also known as |"
    yield "|---|---|---|"
    for key, check in rule.checks.items():
        yield f"| `{key}` | {check.asks} | {', '.join(check.external_ids) or 'nobody else asks'} |"
    yield ""
    if rule.settings:
        yield f"| Setting | Meaning | {' | '.join(ENVIRONMENTS)} |"
        yield "|---|---|" + "---|" * len(ENVIRONMENTS)
        for name, setting in rule.settings.items():
            values = " | ".join(f"`{json.dumps(setting.values[one])}`" for one in ENVIRONMENTS)
            yield f"| `{name}` | {setting.asks} | {values} |"
        yield ""


def _covered() -> Iterator[str]:
    answered = coverage()
    without = {
        external_id: text.removeprefix(NOT_APPLICABLE)
        for external_id, text in answered.items()
        if text.startswith(NOT_APPLICABLE)
    }
    yield "## Coverage\n"
    yield (
        f"Of {len(answered)} questions of Checkov, Trivy and the CIS Amazon EKS Benchmark about types that the stack "
        f"makes, {len(answered) - len(without)} have a check; `policies/coverage.json` names it. The others:\n"
    )
    yield from (f"- {external_id}: {reason}" for external_id, reason in without.items())
