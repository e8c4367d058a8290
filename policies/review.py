"""What a change does to the pack itself: suppressions and types it adds, levels it lowers, settings it changes.

A change is judged with the suppressions and levels of the commit before it, so that it can't excuse itself.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from policies.generate import levels
from policies.suppressions import Suppressions, made
from spec import strict_yaml

LEVEL: Final = "enforcementLevel"
TYPES: Final = ("policies/reviewed.py", "policies/resources/tokens.py")  # files that spell out the reviewed types
UNNAMED: Final = (
    "*.md", "docs", "examples", "stacks/Pulumi.*.yaml", "tests", "policies/levels", "policies/suppressions.yaml",
)  # fmt: skip
"""What neither evaluates a change nor runs where the stack is deployed: documents, tests, settings; the last ones are
compared one by one. Every other changed file is named: what the program does beside its declarations, while it is
imported or to the machine, shows in no comparison."""
_TYPE: Final = re.compile(r"[\w.-]+:[\w./-]+:\w+")
_ORDER: Final = ("disabled", "advisory", "mandatory")


@dataclass(frozen=True, kw_only=True)
class Base:
    """The pack before a change."""

    suppressions: Suppressions
    configuration: Mapping[str, Mapping[str, Any]]  # level and settings by rule, for the stack's environment
    types: frozenset[str]  # its reviewed types
    changed: tuple[str, ...] = ()  # files that the change changes, without `UNNAMED`

    @property
    def enabled(self) -> frozenset[str]:
        """Rules that are on."""
        return frozenset(name for name, one in self.configuration.items() if one[LEVEL] != "disabled")

    def level(self, rule: str, now: str) -> str:
        """The stricter one of a rule's level before the change and its level now."""
        before = str(self.configuration.get(rule, {}).get(LEVEL, now))
        return max(before, now, key=_ORDER.index)


def base(suppressions: str, configuration: str, *types: str, changed: Sequence[str] = ()) -> Base:
    """The pack before a change, from the texts of policies/suppressions.yaml, policies/levels/<environment>.json and
    the files of `TYPES`, and the files that the change changes.

    The texts passed the checks of their own commit, and may name rules that no longer exist.
    """
    entries = strict_yaml.read(suppressions) or []
    return Base(
        suppressions=Suppressions(tuple(made(entry) for entry in entries)),
        configuration=json.loads(configuration),
        types=spelled(*types),
        changed=tuple(changed),
    )


def spelled(*sources: str) -> frozenset[str]:
    """Resource types that these modules spell out. They are read and not run: a change wrote them."""
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return frozenset(text for text in texts if _TYPE.fullmatch(text))


def weakened(before: Base, now: Suppressions, environment: str) -> list[str]:
    """Everything by which a change makes the pack report less, or may do so, one sentence each; a reviewer has to
    accept each."""
    old = set(before.suppressions.all)
    added = [
        f"adds the suppression of {one.rule} for {one.urn} with {' or '.join(map(repr, one.value))} until {one.until}: "
        f"{one.reason}"
        for one in now.all
        if one not in old
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
    root = Path(__file__).resolve().parents[1]
    types = spelled(*((root / file).read_text(encoding="utf-8") for file in TYPES)) - before.types
    code = (f"changes {file}, which evaluates changes or runs in a deployment" for file in sorted(before.changed))
    return [*added, *changed, *(f"adds the reviewed type {one}" for one in sorted(types)), *code]
