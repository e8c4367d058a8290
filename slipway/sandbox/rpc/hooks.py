"""What a provider of ours has to answer: one method per question of the engine, with plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pulumi.runtime.proto.provider_pb2 import CheckRequest

from slipway.sandbox.rpc import diff
from slipway.sandbox.rpc.errors import ProviderError

S = TypeVar("S")


@dataclass(frozen=True)
class Resource:
    """The resource a call is about.

    Attributes:
        urn: Its URN.
        type: Its type token, such as `aws:ec2/vpc:Vpc`.
        name: Its logical name.
        proposed_name: The physical name that the engine made of `pulumi:autonaming`; empty where that is not set.
    """

    urn: str
    type: str
    name: str
    proposed_name: str = ""

    @classmethod
    def of(cls, request: Any) -> Resource:
        """From any request; older engines leave type and name to be read from the URN."""
        parts = request.urn.split("::")
        return cls(
            request.urn,
            request.type or parts[2].split("$")[-1],
            request.name or "::".join(parts[3:]),
            request.autonaming.proposed_name if isinstance(request, CheckRequest) else "",
        )


@dataclass(frozen=True)
class Failure:
    """An input that was refused, and why."""

    property: str
    reason: str


@dataclass(frozen=True)
class ReadResult:
    """The live state of an object. `inputs` must show drift too, or the next preview cannot see it."""

    id: str
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]


class Hooks(Generic[S]):
    """Override what the provider serves. `S` is what `configure` returns: one session per provider instance.

    Hooks raise ProviderError for the user, PartialFailureError when an object exists all the same. An unknown is
    `wire.UNKNOWN` and occurs in previews only. Secrets are kept secret around the hooks, which need not know of them.
    """

    def check_config(
        self, resource: Resource, news: dict[str, Any], olds: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]:
        """Validate the provider's own arguments; what is returned is what `configure` gets.

        With an unknown left in them the engine configures nothing and, during a preview, calls neither Check nor
        Create of any resource (pulumi 3.258): a provider that wants to see such resources must put a known value in
        the place of the unknown.
        """
        return news, []

    def diff_config(self, resource: Resource, old_inputs: dict[str, Any], news: dict[str, Any]) -> diff.Diff:
        """How the provider's own arguments changed."""
        return diff.Diff(diff.compare(old_inputs, news))

    def configure(self, config: Mapping[str, Any], peer: str) -> S:
        """The session of one provider instance; arguments that are no strings may come as JSON text (`wire.nested`)."""
        raise NotImplementedError

    def check(
        self, session: S, resource: Resource, news: dict[str, Any], olds: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], list[Failure]]:
        """The inputs with defaults filled in, and what is wrong with them."""
        return news, []

    def diff(
        self,
        session: S,
        resource: Resource,
        id: str,
        old_inputs: dict[str, Any],
        old_outputs: dict[str, Any],
        news: dict[str, Any],
    ) -> diff.Diff:
        """What changed, and what of it forces a new object. ignoreChanges is applied to the answer."""
        return diff.Diff(diff.compare(old_inputs, news))

    def preview_create(self, session: S, resource: Resource, inputs: dict[str, Any]) -> dict[str, Any]:
        """Outputs known before creation; those left out are unknown to the program."""
        return inputs

    def create(self, session: S, resource: Resource, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Make the object; its id and outputs."""
        raise NotImplementedError

    def read(
        self, session: S, resource: Resource, id: str, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> ReadResult | None:
        """The live object, None when it is gone. Inputs and outputs are empty at import."""
        raise NotImplementedError

    def preview_update(
        self,
        session: S,
        resource: Resource,
        id: str,
        olds: dict[str, Any],
        news: dict[str, Any],
        old_inputs: dict[str, Any],
    ) -> dict[str, Any]:
        """Outputs known before the update; `wire.UNKNOWN` for one that will change to something unknown."""
        return {**olds, **news}

    def update(
        self,
        session: S,
        resource: Resource,
        id: str,
        olds: dict[str, Any],
        news: dict[str, Any],
        old_inputs: dict[str, Any],
    ) -> dict[str, Any]:
        """Change the object; its outputs. Equal inputs mean: finish what a PartialFailureError left undone."""
        raise NotImplementedError

    def delete(
        self, session: S, resource: Resource, id: str, outputs: dict[str, Any], old_inputs: dict[str, Any]
    ) -> None:
        """Remove the object; no error when it is gone."""
        raise NotImplementedError

    def invoke(self, session: S, token: str, args: dict[str, Any]) -> dict[str, Any]:
        """Answer a function call of the program."""
        msg = f"function {token} is not served by the sandbox"
        raise ProviderError(msg)
