"""Whether a change forces a replacement, according to the tables of the sandbox's providers."""

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
"""A changed name or namespace is another release (pulumi-kubernetes v4.34.2, provider/pkg/provider/helm_release.go)."""
_SETTINGS: Final = Settings()


def forces_new(type_token: str, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool | None:
    """Whether a change at a path forces a replacement; None if unknown."""
    if type_token == RELEASE:
        return path[0] in _OF_RELEASE
    if type_token.startswith("kubernetes:"):
        return immutable.forces_new(path, old, _SETTINGS)
    if path[0] in {"tags", "tagsAll"}:
        return False  # no AWS type is replaced because of its tags
    if type_token.startswith("aws:") and replacement.known(type_token):
        return replacement.forces_new(type_token, path, old, new)
    return None


def verdict(forces: list[bool | None]) -> Verb:
    """The verb for a resource with such changes."""
    if any(forced is True for forced in forces):
        return Verb.REPLACE
    return Verb.MAYBE if any(forced is None for forced in forces) else Verb.UPDATE


def with_losses(change: ResourceChange, inputs: Mapping[str, Any], *, retained: bool = False) -> ResourceChange:
    """The change with its permanent losses, according to the gate's table of stateful types.

    Without its state, a stateful resource is assumed to hold data. A retained one loses nothing when it is deleted.
    """
    stateful = TABLE.get(change.type)
    if stateful is None or not change.removes:
        return change
    if retained and change.verb is Verb.DELETE:
        return replace(change, retained=True)
    # The inputs of a node group show whether it can have nodes.
    if stateful.holds is not None and not stateful.holds(inputs, inputs):
        return change
    return replace(change, loses=stateful.loses, fix=stateful.fix)
