"""Tells the pack which stack it is asked about, so that a plain `--policy-pack policies` has that stack's own levels.

The engine names the stack in its `ConfigureStack` message, before it asks for the rules and their levels (pulumi
v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go). The SDK (pulumi_policy 1.21.0) keeps only the tags of that
message, and the environment variable PULUMI_STACK is set for packs without a language host alone. So the message is
looked at here, on its way to the SDK's servicer; a test holds this against the pinned SDK.
"""

from __future__ import annotations

from typing import Any

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import Policy
from pulumi_policy import policy as sdk

from policies import pack


class StackServicer(sdk._PolicyAnalyzerServicer):
    """The SDK's servicer, whose policies become those of the stack's environment once the stack is known."""

    def __init__(self, name: str, version: str, policies: list[Policy], *rest: Any) -> None:
        super().__init__(name, version, policies, *rest)
        self._policies = policies

    def ConfigureStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Takes the levels and settings of the stack's environment; the SDK holds the same list."""
        self._policies[:] = pack.policies(request.stack)
        answer: analyzer_pb2.AnalyzerStackConfigureResponse = super().ConfigureStack(request, context)
        return answer


def policies() -> list[Policy]:
    """The strictest policies, which give way to those of the stack when the engine names it."""
    sdk._PolicyAnalyzerServicer = StackServicer  # type: ignore[misc,assignment]
    return pack.policies("")
