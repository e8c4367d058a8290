"""The state of a stack: its resources, which of them are protected, pending operations, and its settings.

The source is the output of `pulumi stack export` (deployment version 3).

The source is `pulumi stack history --json`, which every backend supports (pulumi v3.258.0, pkg/cmd/pulumi/stack/
stack_history.go). The state has resources without settings; the history has the settings of each update.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spec.errors import fail
from spec.naming import PROJECT

# The state of a stack: its resources, which of them are protected, and pending operations.


@dataclass(frozen=True)
class StackResource:
    """One resource of a state."""

    urn: str
    type: str
    protected: bool = False
    custom: bool = True  # whether a provider manages it; false for components
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    retained: bool = False  # left in the cloud when it leaves the state (`retainOnDelete`)
    external: bool = False  # only read (`get`): it is another's

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
    pending: tuple[str, ...] = ()  # operations that a killed run did not complete, such as `creating urn:…`

    @property
    def protected(self) -> tuple[StackResource, ...]:
        """Resources that the engine refuses to destroy."""
        return tuple(resource for resource in self.resources if resource.protected)

    @property
    def existing(self) -> tuple[StackResource, ...]:
        """The program's resources that exist in AWS or in a cluster: without components, providers and what is read."""
        return tuple(r for r in self.resources if r.custom and not r.external and not r.type.startswith("pulumi:"))


def parse(document: str) -> StackState:
    """The state in the output of `pulumi stack export`."""
    try:
        deployment = json.loads(document)["deployment"] or {}
        return StackState(
            tuple(_resource(entry) for entry in deployment.get("resources") or ()),
            tuple(f"{each['type']} {each['resource']['urn']}" for each in deployment.get("pending_operations") or ()),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fail(f"the output of `pulumi stack export` is not a stack's state ({type(error).__name__}: {error})", error)


def _resource(entry: Mapping[str, Any]) -> StackResource:
    return StackResource(
        urn=entry["urn"],
        type=entry["type"],
        protected=bool(entry.get("protect")),
        custom=bool(entry.get("custom")),
        inputs=entry.get("inputs") or {},
        outputs=entry.get("outputs") or {},
        retained=bool(entry.get("retainOnDelete")),
        external=bool(entry.get("external")),
    )


# The settings of a stack's last update, from the history that the engine keeps.


HISTORY: Final = ("stack", "history", "--json", "--page-size", "50")
"""Arguments of the CLI; it prints the newest updates first."""
_KEY: Final = f"{PROJECT}:platform"


@dataclass(frozen=True)
class Remembered:
    """Settings of an update."""

    settings: object  # the value of `slipway:platform`
    settled: bool
    """Whether the newest update succeeded. Otherwise the live resources are between these settings and newer ones."""


def last_update(document: str, *, skip: int = 0) -> Remembered | None:
    """The settings of the last successful update, or of the last attempt if none succeeded; None if the stack was never
    updated, or was destroyed since.

    Args:
        document: Output of `pulumi stack history --json`, newest first.
        skip: Newest updates to leave out: 1 gives what an update that just ran found deployed.
    """
    tried: object | None = None
    settled = True
    try:
        updates: Iterable[Mapping[str, Any]] = json.loads(document) or ()
        for update in list(updates)[skip:]:
            succeeded = update["result"] == "succeeded"
            if update["kind"] == "destroy" and succeeded:
                break
            if update["kind"] != "update" or _KEY not in update["config"]:
                continue
            value = update["config"][_KEY]["value"]
            platform: object = json.loads(value) if isinstance(value, str) else value
            if succeeded:
                return Remembered(platform, settled)
            tried, settled = (platform if tried is None else tried), False
    except (ValueError, KeyError, TypeError) as error:
        fail(f"the output of `pulumi stack history` is not a history ({type(error).__name__}: {error})", error)
    return None if tried is None else Remembered(tried, settled)
