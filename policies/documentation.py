"""The page docs/policies.md, generated from the rules."""

import json
from collections.abc import Iterator
from typing import Final

from policies.coverage import NOT_APPLICABLE, coverage
from policies.pack import EXPIRY, REVIEW
from policies.rule import ENVIRONMENTS, AnyRule, StackRule
from policies.rules import MODULES, RULES

_INTRODUCTION: Final = """\
# Policies

<!-- Generated from the rules by `python -m policies.generate`; edit the rules. -->

The engine evaluates the policy pack at every preview and update, in the sandbox and on AWS:

```bash
pulumi preview --stack prod --policy-pack policies
```

`slipway policies prod` evaluates the same rules within seconds, without an engine: it runs the program in-process.
With `--manifests PATH` it also evaluates Kubernetes manifests, such as those of rendered charts: rules don't see the
pods of a Helm release. With `--against REF` it evaluates with the suppressions and levels of a commit. It then names
what the tree weakens since, and where its code declares something else for the same stack file.

A stack has the levels and settings of the environment with its name, or those of `prod` if there is none. To start the
pack with explicit levels, use `--policy-pack-config policies/levels/<environment>.json`.

- **Levels**, for dev, staging and prod: `M` mandatory (the run fails), `A` advisory (the violation is only reported),
  `-` off. Values of a setting are in the same order; one value is that of all three.
- In brackets behind a check are the checks of Checkov, Trivy and CIS that it covers.
- A **resource** rule evaluates the inputs of one resource; the engine does not create a resource that violates a
  mandatory rule. A **stack** rule evaluates all resources once they are registered; it fails a preview, so run a
  preview before every update.
- A value that a preview doesn't know is not a violation in the engine, and does not hide other violations; the update
  evaluates it again. `slipway policies` evaluates it before the update, with a sample of what AWS would answer, and
  lists as undecided what has no sample.
- To suppress an accepted violation, add an entry to `policies/suppressions.yaml` with the value that it accepts, the
  reason, the responsible team and the last day, at most 370 days away. Another value is a violation. `urn` names a
  resource or a type; a glob that covers everything is refused.
  `{review}` announces the last day 30 days before. The day after, the violation is reported again, and
  `{expiry}` fails every run until the entry is renewed or removed.
- A resource of a type that nobody has reviewed is a violation: `policies/reviewed.yaml` lists the types.
- Admission rules, tenancy, queues and access are compared with what the stack file gives ([ADR
  0113](adr/0113-boundaries-from-the-stack-file.md)). A program without `slipway:platform` is compared with nothing, and
  lists of the platform's images, charts, types, tags and conventions don't bind it ([ADR
  0124](adr/0124-what-binds-other-programs.md)).
- Policies evaluate the desired state. They see neither `destroy` nor replacements: use `protect`, deletion protection
  and [the gate](guides/gate.md) for those.
"""


def page() -> str:
    """The content of the page."""
    return "\n".join([_INTRODUCTION.format(expiry=EXPIRY, review=REVIEW), *_contents(), *_rules(), *_covered()]) + "\n"


def _contents() -> Iterator[str]:
    yield f"## The {len(RULES)} rules\n"
    yield "`policies/levels/<environment>.json` has the levels of all in one list.\n"
    for heading, modules in MODULES.items():
        names = (f"[{rule.name}](#{rule.name})" for module in modules for rule in module.RULES)
        yield f"- {heading}: {', '.join(names)}"
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
