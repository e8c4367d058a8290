"""What a change does to resources, as data: verbs, changed properties, and what is lost by it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Verb(StrEnum):
    """What happens to a resource, as far as can be said beforehand; the order is that of a reader's care."""

    REPLACE = "replace"
    MAYBE = "update or replace"
    """It is changed, and nothing here knows whether AWS takes the change in place."""
    DELETE = "delete"
    UPDATE = "update"
    CREATE = "create"


@dataclass(frozen=True, kw_only=True)
class PropertyChange:
    """One changed property.

    Attributes:
        path: Where it is: `scalingConfig.maxSize`.
        before: What is there, as text; empty where it was not set.
        after: What is asked for, as text; empty where it is no longer set.
        forces: Whether it makes a new resource; None where nobody here knows.
    """

    path: str
    before: str = ""
    after: str = ""
    forces: bool | None = False


@dataclass(frozen=True, kw_only=True)
class ResourceChange:
    """One resource that changes.

    Attributes:
        loses: What is gone for ever when it is replaced or deleted; empty for what the program makes again.
        fix: What to do instead.
        because: Logical name of the resource whose replacement brings this change about; empty for a change of its own.
        stays: Whether the thing itself stays in the cloud when it leaves the stack.
    """

    urn: str
    type: str
    verb: Verb
    properties: tuple[PropertyChange, ...] = ()
    loses: str = ""
    fix: str = ""
    because: str = ""
    stays: bool = False

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def takes(self) -> bool:
        """Whether what is there goes, or may go."""
        return self.verb in {Verb.REPLACE, Verb.MAYBE, Verb.DELETE}

    @property
    def dangerous(self) -> bool:
        """Whether something that no later update brings back goes, or may go."""
        return bool(self.loses) and self.takes


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a change does to a stack.

    Attributes:
        against: What it was compared with, for a reader: `main (1a2b3c4)`; empty where with nothing.
        changes: Changed resources, by verb and URN.
        unchanged: Resources that stay as they are.
        problem: Why there is no comparison, where one was asked for.
        notes: What a reader has to know of how the comparison was made.
    """

    against: str = ""
    changes: tuple[ResourceChange, ...] = ()
    unchanged: int = 0
    problem: str = ""
    notes: tuple[str, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether there was anything to compare with."""
        return bool(self.against)

    @property
    def counts(self) -> dict[Verb, int]:
        """Resources by verb; every verb is there."""
        found = Counter(change.verb for change in self.changes)
        return {verb: found[verb] for verb in Verb}

    @property
    def dangerous(self) -> tuple[ResourceChange, ...]:
        """Changes that lose what no later update brings back."""
        return tuple(change for change in self.changes if change.dangerous)

    def own(self, verb: Verb) -> tuple[ResourceChange, ...]:
        """Changes of a verb that nothing else brings about, and those that lose something."""
        return tuple(one for one in self.changes if one.verb is verb and (not one.because or one.dangerous))

    def followers(self) -> dict[str, tuple[ResourceChange, ...]]:
        """The other ones, by the name of the resource whose replacement brings them about."""
        found: dict[str, list[ResourceChange]] = {}
        for one in self.changes:
            if one.because and not one.dangerous:
                found.setdefault(one.because, []).append(one)
        return {name: tuple(ones) for name, ones in sorted(found.items())}

    def by_kind(self) -> dict[str, dict[Verb, int]]:
        """Resources by kind and verb, kinds sorted."""
        found: dict[str, dict[Verb, int]] = {}
        for change in self.changes:
            row = found.setdefault(kind(change.type), dict.fromkeys(Verb, 0))
            row[change.verb] += 1
        return dict(sorted(found.items()))


NOTHING: Final = Plan()
"""No comparison was asked for."""


def ordered(changes: list[ResourceChange]) -> tuple[ResourceChange, ...]:
    """What needs care first, then by URN."""
    rank = {verb: index for index, verb in enumerate(Verb)}
    return tuple(sorted(changes, key=lambda one: (not one.dangerous, rank[one.verb], one.urn)))


_SERVICES: Final = {
    "autoscaling": "Auto Scaling",
    "budgets": "Budgets",
    "cloudwatch": "CloudWatch",
    "costexplorer": "Cost Explorer",
    "fsx": "FSx",
    "secretsmanager": "Secrets Manager",
}
"""How AWS writes the names of services, where that is not their module in capitals."""


_PLAIN_GROUPS: Final = ("core", "apps", "batch", "autoscaling", "policy", "helm.sh")
"""API groups of Kubernetes itself without a dot, and Helm's: what is in them needs no word on whose it is."""


def kind(token: str) -> str:
    """A type token as a reader says it: `EKS NodeGroup`, `Namespace`, `NodePool (karpenter.sh)`."""
    package, module, name = [*token.split(":"), "", ""][:3]
    if package == "kubernetes":
        group = module.partition("/")[0]
        ours = group in _PLAIN_GROUPS or group.endswith(".k8s.io")
        return name if ours else f"{name} ({group})"
    if package == "pulumi":
        return f"provider {name}" if module == "providers" else token
    service = module.partition("/")[0]
    return f"{_SERVICES.get(service, service.upper())} {name}" if package == "aws" else token
