"""Tells the pack which stack it is asked about, so that a plain `--policy-pack policies` has that stack's own levels.

The engine names the stack in its `ConfigureStack` message, before it asks for the rules and their levels (pulumi
v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go). The SDK (pulumi_policy 1.21.0) keeps only the tags of that
message, and the environment variable PULUMI_STACK is set for packs without a language host alone. So the message is
looked at here, on its way to the SDK's servicer; a test holds this against the pinned SDK.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, Policy, PolicyResource, StackValidationArgs, StackValidationPolicy
from pulumi_policy import policy as sdk

from policies import pack
from policies.rules import BY_NAME


class StackServicer(sdk._PolicyAnalyzerServicer):
    """The SDK's servicer, whose policies become those of the stack's environment once the stack is known.

    The SDK reads all properties anew for each policy: for a hundred rules and six hundred resources that is 6 s of a
    preview (2026-11). Here a resource is read for the rules that look at its type, and the stack once for all rules.
    """

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

    def Analyze(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeRequest, context: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Asks the rules that look at the type; the others would not even look at its properties."""
        asked = [one for one in self._policies if one.name in BY_NAME and BY_NAME[one.name].looks_at(request.type)]
        view: Any = super(StackServicer, self._with(asked))
        answer: analyzer_pb2.AnalyzeResponse = view.Analyze(request, context)
        return answer

    def AnalyzeStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeStackRequest, context: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Has the SDK read the stack once, and asks every rule about the same reading."""
        read: list[list[PolicyResource]] = []
        reader = StackValidationPolicy(
            name="reading",
            description="Reads the stack",
            validate=lambda args, _: read.append(args.resources),
            enforcement_level=EnforcementLevel.ADVISORY,
        )
        view: Any = super(StackServicer, self._with([reader]))
        view.AnalyzeStack(request, context)
        response = analyzer_pb2.AnalyzeResponse()
        for policy in self._policies:
            level = self._get_enforcement_level(policy)
            if isinstance(policy, StackValidationPolicy) and level is not EnforcementLevel.DISABLED:
                report = self._create_report_violation(
                    response, policy.name, policy.description, level, policy.severity
                )
                policy.validate(StackValidationArgs(read[0], self._get_policy_config(policy.name)), report)
        return response

    def _with(self, policies: list[Policy]) -> StackServicer:
        """The same servicer with other policies: requests come in several threads, so it is a copy."""
        view = copy(self)
        view.__dict__["_PolicyAnalyzerServicer__policies"] = policies
        return view


def policies() -> list[Policy]:
    """The strictest policies, which give way to those of the stack when the engine names it."""
    sdk._PolicyAnalyzerServicer = StackServicer  # type: ignore[misc,assignment]
    return pack.policies("")
