"""What the state of a stack says: the resources that stand, which are protected, and what was under way.

The source is the document of `pulumi stack export` (deployment version 3).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.errors import SlipwayError

STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class StackResource:
    """One resource of a state."""

    urn: str
    type: str
    protected: bool = False
    custom: bool = True
    """A resource of a provider; components are not."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    retained: bool = False
    """Left in the cloud when it leaves the state (`retainOnDelete`)."""

    @property
    def name(self) -> str:
        """Logical name: the last part of the URN."""
        return self.urn.rpartition("::")[2]

    @property
    def kind(self) -> str:
        """Type for people: `ec2 Vpc`, `kubernetes Namespace`, `provider aws`."""
        package, module, kind = (*self.type.split(":"), "", "")[:3]
        if package == "pulumi" and module == "providers":
            return f"provider {kind}"
        return f"{module.partition('/')[0] if package == 'aws' else package} {kind}"


@dataclass(frozen=True)
class StackState:
    """A stack as its last run left it."""

    resources: tuple[StackResource, ...] = ()
    pending: tuple[str, ...] = ()
    """Operations that a killed run left open, such as `creating urn:…`."""

    @property
    def protected(self) -> tuple[StackResource, ...]:
        """Resources that a destroy refuses to remove."""
        return tuple(resource for resource in self.resources if resource.protected)

    @property
    def existing(self) -> tuple[StackResource, ...]:
        """Resources of providers, without the providers: what one would look for in AWS or in the cluster."""
        return tuple(r for r in self.resources if r.custom and not r.type.startswith("pulumi:"))


def parse(document: str) -> StackState:
    """The state in an export.

    Raises:
        SlipwayError: The document is not one of `pulumi stack export`.
    """
    try:
        deployment = json.loads(document)["deployment"] or {}
        return StackState(
            tuple(_resource(row) for row in deployment.get("resources") or ()),
            tuple(f"{row['type']} {row['resource']['urn']}" for row in deployment.get("pending_operations") or ()),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"`pulumi stack export` gave something that is not a stack's state ({type(error).__name__}: {error})"
        raise SlipwayError(msg) from error


def counts(state: StackState) -> dict[str, Counter[str]]:
    """Resources that stand, by service and kind: `{"ec2": {"Subnet": 6}, "kubernetes": {"Namespace": 2}}`."""
    result: dict[str, Counter[str]] = {}
    for resource in state.existing:
        service, _, kind = resource.kind.partition(" ")
        result.setdefault(service, Counter())[kind] += 1
    return dict(sorted(result.items(), key=lambda item: (-item[1].total(), item[0])))


def _resource(row: Mapping[str, Any]) -> StackResource:
    return StackResource(
        urn=row["urn"],
        type=row["type"],
        protected=bool(row.get("protect")),
        custom=bool(row.get("custom")),
        inputs=row.get("inputs") or {},
        outputs=row.get("outputs") or {},
        retained=bool(row.get("retainOnDelete")),
    )
