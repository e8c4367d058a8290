"""What a rule is: what it requires, how strictly, why, and the sources.

The pack, the levels of each environment, the documentation page and the coverage table are generated from these values,
so a new rule is one `Rule` in a module of `policies/rules`, its words in the YAML file beside the module, and its
fixtures in the file of the module's name in `tests/policies/fixtures`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pulumi_policy import EnforcementLevel, Severity

from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.stack_file import Program, StackFile
from spec import strict_yaml

if TYPE_CHECKING:
    from infra.boundaries import Boundaries

ENVIRONMENTS: Final = ("dev", "staging", "prod")
STRICTEST: Final = "prod"
"""Environment whose levels apply to stacks of any other name, so that a new environment starts strict."""

_LETTERS: Final = {"M": EnforcementLevel.MANDATORY, "A": EnforcementLevel.ADVISORY, "-": EnforcementLevel.DISABLED}
Subject = TypeVar("Subject", Resource, Stack)
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    name: words
    for path in sorted(Path(__file__).with_name("rules").glob("*.yaml"))
    for name, words in strict_yaml.read(path.read_text(encoding="utf-8")).items()
}
"""What policies/rules/*.yaml say of each rule: what it requires (title), what goes wrong otherwise, with the source
(why), how to fix a violation in terms of the stack file or the component (fix), its severity and levels, what each
check asks, with the IDs of the same check in other tools, and by which setting of the stack file, by check, a violation
of the platform's own program is fixed (settings)."""
ANY: Final = ("*",)  # `types` of a rule for resources of every type


def environment(stack: str) -> str:
    """The environment whose levels apply to a stack; a stack has the name of its environment."""
    return stack if stack in ENVIRONMENTS else STRICTEST


@dataclass(frozen=True)
class Levels:
    """Levels of one rule for dev, staging and prod, written `A/M/M`: M mandatory, A advisory, `-` off."""

    text: str

    def __post_init__(self) -> None:
        letters = self.text.split("/")
        if len(letters) != len(ENVIRONMENTS) or not set(letters) <= set(_LETTERS):
            msg = f"levels are one of M, A, - for each of {', '.join(ENVIRONMENTS)}, as in 'A/M/M'; got {self.text!r}"
            raise ValueError(msg)

    def of(self, environment: str) -> EnforcementLevel:
        """Level in an environment."""
        return _LETTERS[self.text.split("/")[ENVIRONMENTS.index(environment)]]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One place in a resource or stack where a check does not hold."""

    path: str  # path of the property; empty if the whole resource violates the check
    got: str  # the value found, or a phrase that continues "it is"
    at: Resource | None = None  # the resource; by default the one that the check was called with
    value: str = ""  # what a suppression is bound to; by default `got`, which may be shortened


def violation(node: Node, got: str | None = None, at: Resource | None = None) -> Violation:
    """A violation at a property."""
    return Violation(path=node.path, got=got or node.shown, at=at, value=got or node.whole)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A parameter of a rule, with a value for each environment."""

    asks: str  # what it means, with its unit
    schema: Mapping[str, Any]  # JSON Schema of its value
    values: Mapping[str, Any]  # value by environment


def setting(asks: str, *values: Any, **schema: Any) -> Setting:
    """A parameter of a rule.

    Args:
        asks: What it means, with its unit.
        values: One value for all environments, or one for each in the order of levels: dev, staging, prod.
        schema: What the JSON Schema has besides the type of the first value, or instead: `minimum=1`.
    """
    each = values if len(values) > 1 else values * len(ENVIRONMENTS)
    return Setting(
        asks=asks, schema={**_schema(values[0]), **schema}, values=dict(zip(ENVIRONMENTS, each, strict=True))
    )


def _schema(value: Any) -> dict[str, Any]:
    """JSON Schema of values like this one. What an empty list or map has is text."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case list():
            return {"type": "array", "items": _schema(next(iter(value), ""))}
        case dict():
            return {"type": "object", "additionalProperties": _schema(next(iter(value.values()), ""))}
        case _:
            return {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a check gets besides its subject."""

    settings: Mapping[str, Any]  # settings of the rule
    today: date  # date for the support of versions and the expiry of approvals and suppressions
    stack_file: StackFile | None = None  # the settings that the program was run with; None for a program without any
    installed: bool = False  # whether the objects are of something that the platform installs, such as a chart
    owner: str = ""  # the account of the stack, where there is no `stack_file`

    @property
    def account(self) -> str:
        """The account of the stack; empty if it is not known."""
        return self.stack_file.account if self.stack_file else self.owner

    @property
    def of_platform(self) -> bool:
        """Whether lists of what the platform uses bind what is evaluated."""
        return self.installed or self.stack_file is not None

    @property
    def existing(self) -> tuple[str, str] | None:
        """Name and version of a cluster that exists: the program looks it up, and doesn't make it."""
        return self.stack_file.existing if self.stack_file else None

    @property
    def boundaries(self) -> Boundaries | None:
        """What the platform's components declare for these settings."""
        return self.stack_file.boundaries if self.stack_file else None

    @property
    def program(self) -> Program | None:
        """The whole program as these settings give it, if it is to be compared."""
        return self.stack_file.program if self.stack_file else None


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """One condition of a rule, with its own ID: coverage and suppressions refer to checks."""

    asks: str  # what must hold, as the end of a sentence that begins with the property: "must be true"
    find: Callable[[Subject, Context], Iterable[Violation]]
    """Yields a violation for every place where it certainly does not hold."""
    external_ids: tuple[str, ...]
    """IDs of the same check in other tools: `CKV_AWS_38`, `AVD-AWS-0041`, `CIS-5.4.1`."""
    fix: str | None  # how to fix a violation, if it differs from the rule's


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[Subject]):
    """One rule of the pack."""

    name: str  # stable ID, in kebab case: configuration and suppressions refer to it
    types: tuple[str, ...]  # type tokens that it applies to, from `policies.resources.tokens`
    finds: Mapping[str, Callable[[Subject, Context], Iterable[Violation]]]  # what finds the violations of each check
    shown: Mapping[str, object] = field(default_factory=dict)  # values that the words of its checks name
    settings: Mapping[str, Setting] = field(default_factory=dict)  # its parameters by name
    program_only: bool = False
    """Whether it applies to resources of the program alone, and not to manifests of charts and teams."""

    def __post_init__(self) -> None:
        names = (self.name, *self.finds)
        invalid = [name for name in names if not _NAME.fullmatch(name)]
        if invalid or not self.finds:
            got = invalid or "no check"
            msg = f"rule {self.name!r}: its name and the keys of its checks must be kebab-case words; got {got}"
            raise ValueError(msg)
        words = WORDS.get(self.name, {})
        has = {"title", "why", "fix", "severity", "levels", "checks"}
        checks = (set(words.get("checks", ())), set(words.get("settings", ())))
        if set(words) - {"settings"} != has or checks[0] != set(self.finds) or checks[1] - checks[0]:
            msg = f"rule {self.name!r}: policies/rules/*.yaml must have its {', '.join(sorted(has))}, each check there"
            raise ValueError(msg)

    @cached_property
    def checks(self) -> Mapping[str, Check[Subject]]:
        """Its checks by key."""
        return {
            key: Check(
                row["asks"].format_map(self.shown), self.finds[key], tuple(row.get("external_ids", ())), row.get("fix")
            )
            for key, row in WORDS[self.name]["checks"].items()
        }

    @property
    def severity(self) -> Severity:
        """Severity of a violation."""
        return Severity(WORDS[self.name]["severity"])

    @property
    def levels(self) -> Levels:
        """Enforcement level by environment."""
        return Levels(WORDS[self.name]["levels"])

    @property
    def title(self) -> str:
        """What it requires, in one sentence."""
        return str(WORDS[self.name]["title"])

    @property
    def why(self) -> str:
        """What goes wrong otherwise, with its source."""
        return str(WORDS[self.name]["why"])

    @property
    def fix(self) -> str:
        """How to fix a violation, in terms of the stack file or the component."""
        return str(WORDS[self.name]["fix"])

    def fix_of(self, check: str, urn: str) -> str:
        """How to fix a violation by a resource: for a component of the platform by its setting, if it has one."""
        own = urn.count("::") > 1 and urn.split("::")[2].startswith("slipway:")
        setting = WORDS[self.name].get("settings", {}).get(check) if own else None
        return f"Set {setting} in the stack file." if setting else self.checks[check].fix or self.fix

    @property
    def external_ids(self) -> tuple[str, ...]:
        """External check IDs of all its checks."""
        return tuple(external_id for check in self.checks.values() for external_id in check.external_ids)

    def defaults(self, environment: str) -> dict[str, Any]:
        """Its settings for an environment."""
        return {name: setting.values[environment] for name, setting in self.settings.items()}

    def looks_at(self, token: str) -> bool:
        """Whether it applies to a type."""
        return self.types == ANY or token in self.types


@dataclass(frozen=True, kw_only=True)
class ResourceRule(Rule[Resource]):
    """A rule for the inputs of one resource: the engine does not create a resource that violates a mandatory one."""


@dataclass(frozen=True, kw_only=True)
class StackRule(Rule[Stack]):
    """A rule for several resources, evaluated once all of them are registered. It sees outputs, which in a preview
    contain inputs and unknowns, and dependencies between properties."""


AnyRule = ResourceRule | StackRule
