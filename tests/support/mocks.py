"""Run a program or a part of one without an engine, with helpers for tests.

`slipway.render` records the resources that a program declares; this adds explicit providers, lookup by class instead of
by token, and dependency queries. `run(build)` returns outputs like an update, `run(build, preview=True)` like a first
preview: every computed output is unknown.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from slipway.render.recorder import record
from slipway.render.recording import STACK_TYPE, UNKNOWN, RecordedResource

PROJECT: Final = "slipway"
STACK: Final = "test"
ACCOUNT: Final = "111122223333"
REGION: Final = "us-east-1"
_RETURNED: Final = "returned by build"

with warnings.catch_warnings():
    # pulumi_aws 7.51.1 warns about its own deprecated types when a module is first imported; no test should see that.
    warnings.simplefilter("ignore", DeprecationWarning)
    _touched = (aws.ec2.Vpc, aws.s3.Bucket)

__all__ = ["ACCOUNT", "PROJECT", "REGION", "STACK", "UNKNOWN", "Recording", "Registered",
           "providers", "run", "statements"]  # fmt: skip


class Registered:
    """One resource as the engine sees it. Inputs are in the provider's spelling (camelCase)."""

    def __init__(self, resource: RecordedResource) -> None:
        options = resource.options
        self.urn: Final = resource.urn
        self.type: Final = resource.type
        self.name: Final = resource.name
        self.parent: Final = resource.parent
        self.custom: Final = resource.custom
        self.inputs: Final[Mapping[str, Any]] = resource.inputs.plain
        self.outputs: Final[Mapping[str, Any]] = resource.outputs.plain
        self.provider: Final = options.provider
        self.protect: Final = options.protect
        self.depends_on: Final = options.dependencies
        """URNs of its dependencies, by option or by input."""
        self.input_sources: Final = options.property_dependencies
        self.ignore_changes: Final = options.ignore_changes
        self.deleted_with: Final = options.deleted_with
        self.retain_on_delete: Final = options.retain_on_delete
        self.delete_before_replace: Final = options.delete_before_replace
        self.timeouts: Final = options.custom_timeouts

    def __repr__(self) -> str:
        return f"<{self.type} {self.name}>"


@dataclass(frozen=True)
class Recording:
    """All resources of a run except the stack itself, by URN."""

    resources: Mapping[str, Registered]
    returned: Any
    """The result of `build`, with Outputs resolved; UNKNOWN if they have no value."""
    exports: Mapping[str, Any]
    default_provider_users: tuple[str, ...]
    """URNs of resources on a default provider."""

    def __iter__(self) -> Iterator[Registered]:
        return iter(self.resources.values())

    def of(self, kind: type[pulumi.Resource] | str) -> dict[str, Registered]:
        """Resources of a type by name: `recording.of(aws.ec2.Vpc)`."""
        token = kind if isinstance(kind, str) else _token(kind)
        return {resource.name: resource for resource in self if resource.type == token}

    def one(self, kind: type[pulumi.Resource] | str) -> Registered:
        """The only resource of a type."""
        matches = self.of(kind)
        assert len(matches) == 1, f"expected one {kind}, found {sorted(matches)}"
        return next(iter(matches.values()))

    @property
    def protected(self) -> set[str]:
        """Names of protected resources."""
        return {resource.name for resource in self if resource.protect}

    def waits(self, waiter: Registered, awaited: Registered) -> bool:
        """Whether one resource depends on another, directly or indirectly."""
        return awaited.urn in self.awaited(waiter)

    def awaited(self, waiter: Registered) -> set[str]:
        """URNs of all resources that one depends on."""
        front, seen = [waiter.urn], set[str]()
        while front:
            resource = self.resources[front.pop()]
            before = {*resource.depends_on, *([resource.provider] if resource.provider else [])}
            front += before - seen
            seen |= before
        return seen


def run(build: Callable[[], Any], *, preview: bool = False, stack: str = STACK, project: str = PROJECT) -> Recording:
    """Run a function that declares resources, and record them.

    Args:
        build: Declares resources; its result (an Output, or a map or list with Outputs) is resolved.
        preview: Behave like a first preview, in which computed outputs are unknown.
        stack: Name of the stack.
        project: Name of the project.

    Raises:
        RenderError: For an invoke, or a name used twice.
        Exception: Whatever `build` raises.
    """

    def program() -> None:
        pulumi.export(_RETURNED, build())

    recording = record(program, project=project, stack=stack, preview=preview)
    exports = dict(recording.exports.plain)
    return Recording(
        resources={urn: Registered(one) for urn, one in recording.resources.items() if one.type != STACK_TYPE},
        returned=exports.pop(_RETURNED, None),
        exports=exports,
        default_provider_users=recording.default_provider_users,
    )


def providers() -> list[pulumi.ProviderResource]:
    """Explicit providers for a component under test."""
    return [
        aws.Provider("aws", region=REGION, allowed_account_ids=[ACCOUNT]),
        kubernetes.Provider("kubernetes", kubeconfig="{}"),
    ]


def statements(policy: Any) -> dict[str, dict[str, Any]]:
    """Statements of a policy document, by sid."""
    return {statement["Sid"]: statement for statement in json.loads(policy)["Statement"]}


def _token(kind: type[pulumi.Resource]) -> str:
    return str(getattr(kind, "pulumi_type", None) or kind.PULUMI_TYPE)  # type: ignore[attr-defined]
