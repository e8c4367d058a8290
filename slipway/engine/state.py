"""The state of a stack: its resources, which of them are protected, and pending operations.

The source is the output of `pulumi stack export` (deployment version 3).
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
    """Whether a provider manages it; false for components."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    retained: bool = False
    """Left in the cloud when it leaves the state (`retainOnDelete`)."""

    @property
    def name(self) -> str:
        """The logical name: the last part of the URN."""
        return self.urn.rpartition("::")[2]

    @property
    def kind(self) -> str:
        """A short form of the type: `ec2 Vpc`, `kubernetes Namespace`, `provider aws`."""
        package, module, kind = (*self.type.split(":"), "", "")[:3]
        if package == "pulumi" and module == "providers":
            return f"provider {kind}"
        return f"{module.partition('/')[0] if package == 'aws' else package} {kind}"


@dataclass(frozen=True)
class StackState:
    """A stack after its last run."""

    resources: tuple[StackResource, ...] = ()
    pending: tuple[str, ...] = ()
    """Operations that a killed run did not complete, such as `creating urn:…`."""

    @property
    def protected(self) -> tuple[StackResource, ...]:
        """Resources that the engine refuses to destroy."""
        return tuple(resource for resource in self.resources if resource.protected)

    @property
    def existing(self) -> tuple[StackResource, ...]:
        """Resources that exist in AWS or in a cluster: without components and providers."""
        return tuple(r for r in self.resources if r.custom and not r.type.startswith("pulumi:"))


def parse(document: str) -> StackState:
    """The state in the output of `pulumi stack export`.

    Raises:
        SlipwayError: The document can't be read.
    """
    try:
        deployment = json.loads(document)["deployment"] or {}
        return StackState(
            tuple(_resource(entry) for entry in deployment.get("resources") or ()),
            tuple(f"{each['type']} {each['resource']['urn']}" for each in deployment.get("pending_operations") or ()),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"the output of `pulumi stack export` is not a stack's state ({type(error).__name__}: {error})"
        raise SlipwayError(msg) from error


def counts(state: StackState) -> dict[str, Counter[str]]:
    """Numbers of existing resources by service and kind: `{"ec2": {"Subnet": 6}, "kubernetes": {"Namespace": 2}}`."""
    result: dict[str, Counter[str]] = {}
    for resource in state.existing:
        service, _, kind = resource.kind.partition(" ")
        result.setdefault(service, Counter())[kind] += 1
    return dict(sorted(result.items(), key=lambda item: (-item[1].total(), item[0])))


def _resource(entry: Mapping[str, Any]) -> StackResource:
    return StackResource(
        urn=entry["urn"],
        type=entry["type"],
        protected=bool(entry.get("protect")),
        custom=bool(entry.get("custom")),
        inputs=entry.get("inputs") or {},
        outputs=entry.get("outputs") or {},
        retained=bool(entry.get("retainOnDelete")),
    )
