"""Whether a change is made in place, by what the sandbox's providers know of AWS and Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from slipway.engine.stateful import TABLE
from slipway.report.plan.changes import ResourceChange, Verb
from slipway.sandbox.aws import replacement
from slipway.sandbox.kubernetes import immutable
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.rpc.paths import Path

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_OF_RELEASE: Final = ("name", "namespace")
"""Another name or namespace is another release (pulumi-kubernetes v4.34.2, provider/pkg/provider/helm_release.go)."""
_SETTINGS: Final = Settings()


def forces_new(type_token: str, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool | None:
    """Whether a change at a path makes a new resource; None where it is not known."""
    if type_token == RELEASE:
        return path[0] in _OF_RELEASE
    if type_token.startswith("kubernetes:"):
        return immutable.forces_new(path, old, _SETTINGS)
    if path[0] in {"tags", "tagsAll"}:
        return False  # no type of AWS is replaced for a tag of its own
    if type_token.startswith("aws:") and replacement.known(type_token):
        return replacement.forces_new(type_token, path, old, new)
    return None


def verdict(forces: list[bool | None]) -> Verb:
    """What befalls a resource with such changes."""
    if any(forced is True for forced in forces):
        return Verb.REPLACE
    return Verb.MAYBE if any(forced is None for forced in forces) else Verb.UPDATE


def with_losses(change: ResourceChange, inputs: Mapping[str, Any], *, retained: bool = False) -> ResourceChange:
    """The same change with what it loses, by the table of the gate.

    A resource that is compared without its state is taken to hold something; what is retained loses nothing when it is
    deleted.
    """
    row = TABLE.get(change.type)
    if row is None or not change.takes:
        return change
    if retained and change.verb is Verb.DELETE:
        return replace(change, stays=True)
    # A group of nodes tells by its inputs whether it may have any.
    if row.holds is not None and not row.holds(inputs, inputs):
        return change
    return replace(change, loses=row.loses, fix=row.fix)
