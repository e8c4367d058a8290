"""Changes of resources as data: operations, changed properties, and losses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Verb(StrEnum):
    """The operation on a resource, as far as it can be predicted; sorted by importance to the reader."""

    REPLACE = "replace"
    MAYBE = "update or replace"
    """The resource changes, but it is not known whether AWS applies the change in place."""
    DELETE = "delete"
    UPDATE = "update"
    CREATE = "create"


@dataclass(frozen=True, kw_only=True)
class PropertyChange:
    """One changed property.

    Attributes:
        path: Path of the property: `scalingConfig.maxSize`.
        before: Old value as text; empty if it was not set.
        after: New value as text; empty if it is no longer set.
        forces: Whether it forces a replacement; None if unknown.
    """

    path: str
    before: str = ""
    after: str = ""
    forces: bool | None = False


@dataclass(frozen=True, kw_only=True)
class ResourceChange:
    """A changed resource.

    Attributes:
        loses: What is permanently lost when it is replaced or deleted; empty if the program can recreate everything.
        fix: What to do instead.
        cause: Logical name of the resource whose replacement causes this change; empty if it changes by itself.
        retained: Whether it is retained in the cloud when it is removed from the stack.
    """

    urn: str
    type: str
    verb: Verb
    properties: tuple[PropertyChange, ...] = ()
    loses: str = ""
    fix: str = ""
    cause: str = ""
    retained: bool = False

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def removes(self) -> bool:
        """Whether the existing resource is removed, or may be."""
        return self.verb in {Verb.REPLACE, Verb.MAYBE, Verb.DELETE}

    @property
    def dangerous(self) -> bool:
        """Whether something is permanently lost, or may be."""
        return bool(self.loses) and self.removes


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The changes of a stack.

    Attributes:
        against: Name of the baseline for readers: `main (1a2b3c4)`; empty without a comparison.
        changes: Changed resources, sorted by verb and URN.
        unchanged: Number of unchanged resources.
        problem: Why the comparison failed, if one was requested.
        notes: How the comparison was made, as far as readers must know.
    """

    against: str = ""
    changes: tuple[ResourceChange, ...] = ()
    unchanged: int = 0
    problem: str = ""
    notes: tuple[str, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether a comparison was requested."""
        return bool(self.against)

    @property
    def counts(self) -> dict[Verb, int]:
        """Number of resources for every verb."""
        counter = Counter(change.verb for change in self.changes)
        return {verb: counter[verb] for verb in Verb}

    @property
    def dangerous(self) -> tuple[ResourceChange, ...]:
        """Changes with permanent losses."""
        return tuple(change for change in self.changes if change.dangerous)

    def own(self, verb: Verb) -> tuple[ResourceChange, ...]:
        """Changes with a verb that no other change causes, and those with permanent losses."""
        return tuple(one for one in self.changes if one.verb is verb and (not one.cause or one.dangerous))

    def dependents(self) -> dict[str, tuple[ResourceChange, ...]]:
        """All other changes, by the name of the resource whose replacement causes them."""
        groups: dict[str, list[ResourceChange]] = {}
        for one in self.changes:
            if one.cause and not one.dangerous:
                groups.setdefault(one.cause, []).append(one)
        return {name: tuple(ones) for name, ones in sorted(groups.items())}

    def by_kind(self) -> dict[str, dict[Verb, int]]:
        """Number of resources by kind and verb, sorted by kind."""
        kinds: dict[str, dict[Verb, int]] = {}
        for change in self.changes:
            counts = kinds.setdefault(kind(change.type), dict.fromkeys(Verb, 0))
            counts[change.verb] += 1
        return dict(sorted(kinds.items()))


NOTHING: Final = Plan()
"""The plan if no comparison was requested."""


def ordered(changes: list[ResourceChange]) -> tuple[ResourceChange, ...]:
    """Changes with permanent losses first, then by verb and URN."""
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
"""Names of AWS services that are not simply their module in capitals."""


_PLAIN_GROUPS: Final = ("core", "apps", "batch", "autoscaling", "policy", "helm.sh")
"""Built-in API groups of Kubernetes without a dot, and Helm's; their kinds are shown without the group."""


def kind(token: str) -> str:
    """A readable name for a type token: `EKS NodeGroup`, `Namespace`, `NodePool (karpenter.sh)`."""
    package, module, name = [*token.split(":"), "", ""][:3]
    if package == "kubernetes":
        group = module.partition("/")[0]
        built_in = group in _PLAIN_GROUPS or group.endswith(".k8s.io")
        return name if built_in else f"{name} ({group})"
    if package == "pulumi":
        return f"provider {name}" if module == "providers" else token
    service = module.partition("/")[0]
    return f"{_SERVICES.get(service, service.upper())} {name}" if package == "aws" else token
