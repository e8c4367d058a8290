"""What a change does to the pack itself: suppressions it adds, levels it lowers, settings and files it changes.

A change is judged with the suppressions and levels of the commit before it, so that it can't excuse itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policies.generate import levels
from policies.suppressions import Suppressions, made
from spec import strict_yaml

LEVEL: Final = "enforcementLevel"
UNNAMED: Final = (
    "*.md", "docs", "examples", "stacks/Pulumi.*.yaml", "tests", "policies/levels", "policies/suppressions.yaml",
)  # fmt: skip
"""What neither evaluates a change nor runs where the stack is deployed: documents, tests, settings; the last ones are
compared one by one. Every other changed file is named: what the program does beside its declarations, while it is
imported or to the machine, shows in no comparison."""
_ORDER: Final = ("disabled", "advisory", "mandatory")


@dataclass(frozen=True, kw_only=True)
class Base:
    """The pack before a change."""

    suppressions: Suppressions
    configuration: Mapping[str, Mapping[str, Any]]  # level and settings by rule, for the stack's environment
    changed: tuple[str, ...] = ()  # files that the change changes, without `UNNAMED`

    @property
    def enabled(self) -> frozenset[str]:
        """Rules that are on."""
        return frozenset(name for name, one in self.configuration.items() if one[LEVEL] != "disabled")

    def level(self, rule: str, now: str) -> str:
        """The stricter one of a rule's level before the change and its level now."""
        before = str(self.configuration.get(rule, {}).get(LEVEL, now))
        return max(before, now, key=_ORDER.index)


def base(suppressions: str, configuration: str, *, changed: Sequence[str] = ()) -> Base:
    """The pack before a change, from the texts of policies/suppressions.yaml and policies/levels/<environment>.json,
    and the files that the change changes.

    The texts passed the checks of their own commit, and may name rules that no longer exist.
    """
    entries = tuple(map(made, strict_yaml.read(suppressions) or []))
    return Base(suppressions=Suppressions(entries), configuration=json.loads(configuration), changed=tuple(changed))


def weakened(before: Base, now: Suppressions, environment: str) -> list[str]:
    """Everything by which a change makes the pack report less, or may do so, one sentence each; a reviewer has to
    accept each."""
    added = [
        f"adds the suppression of {one.rule} for {one.urn} with {' or '.join(map(repr, one.value))} until {one.until}: "
        f"{one.reason}"
        for one in now.all
        if one not in before.suppressions.all
    ]
    after = levels(environment)
    changed = []
    for rule, settings in before.configuration.items():
        if rule not in after:
            changed.append(f"removes the rule {rule}")
            continue
        for name, value in settings.items():
            new = after[rule].get(name)
            lowered = name == LEVEL and _ORDER.index(new) < _ORDER.index(value)
            if lowered or (name != LEVEL and new != value):
                changed.append(f"changes {name} of {rule} from {json.dumps(value)} to {json.dumps(new)}")
    changed += [f"changes {file}, which evaluates changes or runs in a deployment" for file in sorted(before.changed)]
    return added + changed
