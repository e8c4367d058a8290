"""The methods that a provider implements: one per call of the engine, with plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pulumi.runtime.proto.provider_pb2 import CheckRequest

from sandbox.rpc import diff
from sandbox.rpc.errors import ProviderError

S = TypeVar("S")
Values = dict[str, Any]
"""Inputs or outputs of a resource, or arguments of a call, by property."""


@dataclass(frozen=True)
class Resource:
    """The resource a call is about."""

    urn: str  # its URN
    type: str  # its type token, such as `aws:ec2/vpc:Vpc`
    name: str  # its logical name
    proposed_name: str = ""
    """The physical name that the engine derives from `pulumi:autonaming`; empty if that is not set."""

    @property
    def program(self) -> str:
        """The stack and the project that it belongs to, from its URN."""
        return "::".join(self.urn.split("::")[:2])

    @classmethod
    def of(cls, request: Any) -> Resource:
        """From any request; with older engines, type and name come from the URN."""
        parts = request.urn.split("::")
        return cls(
            request.urn,
            request.type or parts[2].split("$")[-1],
            request.name or "::".join(parts[3:]),
            request.autonaming.proposed_name if isinstance(request, CheckRequest) else "",
        )


@dataclass(frozen=True)
class Failure:
    """A refused input, and the reason."""

    property: str
    reason: str


@dataclass(frozen=True)
class ReadResult:
    """The live state of an object. `inputs` must include drift too, or the next preview does not show it."""

    id: str
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]


class Hooks(Generic[S]):
    """Override what the provider serves. `S` is the type that `configure` returns: one session per provider instance.

    Hooks raise ProviderError with a message for the user, PartialFailureError if the object exists nevertheless. An
    unknown value is `wire.UNKNOWN` and occurs in previews only. Secrets are handled outside the hooks.
    """

    def check_config(self, resource: Resource, news: Values, olds: Values) -> tuple[Values, list[Failure]]:
        """Validate the provider's own arguments; `configure` gets the returned ones.

        If one of them is unknown, the engine does not configure the provider and, during a preview, calls neither Check
        nor Create of any resource (pulumi 3.258): to see such resources, a provider must replace the unknown by a known
        value.
        """
        return news, []

    def diff_config(self, resource: Resource, old_inputs: Values, news: Values) -> diff.Diff:
        """The changes of the provider's own arguments."""
        return diff.Diff(diff.compare(old_inputs, news))

    def configure(self, config: Mapping[str, Any], peer: str) -> S:
        """The session of one provider instance; arguments that aren't strings may be JSON text (`wire.nested`)."""
        raise NotImplementedError

    def check(
        self, session: S, resource: Resource, news: Values, olds: Values, seed: bytes
    ) -> tuple[Values, list[Failure]]:
        """The inputs with defaults filled in, and the problems with them."""
        return news, []

    def secret_inputs(self, resource: Resource) -> tuple[str, ...]:
        """Inputs that are secret whatever the program says."""
        return ()

    def diff(
        self, session: S, resource: Resource, id: str, old_inputs: Values, old_outputs: Values, news: Values
    ) -> diff.Diff:
        """The changes, and which of them force a replacement. ignoreChanges is applied to the answer."""
        return diff.Diff(diff.compare(old_inputs, news))

    def preview_create(self, session: S, resource: Resource, inputs: Values) -> Values:
        """Outputs known before creation; the others are unknown to the program."""
        return inputs

    def create(self, session: S, resource: Resource, inputs: Values) -> tuple[str, Values]:
        """Create the object; returns its id and outputs."""
        raise NotImplementedError

    def read(self, session: S, resource: Resource, id: str, outputs: Values, inputs: Values) -> ReadResult | None:
        """The live object; None if it does not exist any more. Inputs and outputs are empty at import."""
        raise NotImplementedError

    def preview_update(
        self, session: S, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """Outputs known before the update; `wire.UNKNOWN` for one whose new value is not known yet."""
        return diff.overlaid(olds, old_inputs, news)

    def update(self, session: S, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values) -> Values:
        """Change the object; returns its outputs. With equal inputs, complete what a PartialFailureError left open."""
        raise NotImplementedError

    def delete(self, session: S, resource: Resource, id: str, outputs: Values, old_inputs: Values) -> None:
        """Delete the object; no error if it does not exist any more."""
        raise NotImplementedError

    def invoke(self, session: S, token: str, args: Values) -> Values:
        """Answer a function call of the program."""
        msg = f"the sandbox does not support the function {token}"
        raise ProviderError(msg)
