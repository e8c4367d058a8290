"""Tells the pack which stack it is asked about, so that a plain `--policy-pack policies` has that stack's own levels.

The engine names the stack in its `ConfigureStack` message, before it asks for the rules and their levels (pulumi
v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go). The SDK (pulumi_policy 1.21.0) keeps only the tags of that
message, and the environment variable PULUMI_STACK is set for packs without a language host alone. So the message is
looked at here, on its way to the SDK's servicer; a test holds this against the pinned SDK.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Final

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import policy as sdk

from policies import pack
from policies.rules import BY_NAME

_READING: Final[dict[str, Any]] = {
    "name": "reading",
    "description": "Keeps what the SDK reads",
    "enforcement_level": EnforcementLevel.ADVISORY,
}


class StackServicer(sdk._PolicyAnalyzerServicer):
    """The SDK's servicer, whose policies become those of the stack's environment once the stack is known.

    The SDK reads all properties anew for each policy, and once more for remediations: for a hundred rules and six
    hundred resources that is 6 s of a preview (2026-11). Here what rules look at is read once for all of them.
    """

    def __init__(self, name: str, version: str, policies: list[Policy], *rest: Any) -> None:
        super().__init__(name, version, policies, *rest)
        self._policies = policies
        self._asked: dict[str, list[Policy]] = {}

    def ConfigureStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Takes the levels and settings of the stack's environment; the SDK holds the same list."""
        self._policies[:] = pack.policies(request.stack)
        self._asked.clear()
        answer: analyzer_pb2.AnalyzerStackConfigureResponse = super().ConfigureStack(request, context)
        return answer

    def Analyze(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeRequest, context: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Has the SDK read the resource once, and asks the rules that look at its type; unread where there are none."""
        if request.type not in self._asked:
            self._asked[request.type] = [one for one in self._policies if self._judges(one, request.type)]
        asked = self._asked[request.type]
        if not asked:
            return analyzer_pb2.AnalyzeResponse()
        read: list[ResourceValidationArgs] = []
        reader = ResourceValidationPolicy(validate=lambda args, _: read.append(args), **_READING)
        self._with([reader]).Analyze(request, context)
        (of,) = read
        known = (of.resource_type, of.props, of.urn, of.name, of.opts, of.provider)
        return self._judged(
            ResourceValidationPolicy, asked, lambda settings: ResourceValidationArgs(*known, settings, of.stack_tags)
        )

    def Remediate(  # noqa: N802 - the name of the RPC
        self, *_: Any
    ) -> analyzer_pb2.RemediateResponse:
        """Nothing, unread: no rule of the pack changes a resource, and the engine asks for each all the same."""
        return analyzer_pb2.RemediateResponse()

    def AnalyzeStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeStackRequest, context: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Has the SDK read the stack once, and asks every rule about the same reading."""
        read: list[StackValidationArgs] = []
        reader = StackValidationPolicy(validate=lambda args, _: read.append(args), **_READING)
        self._with([reader]).AnalyzeStack(request, context)
        (of,) = read
        return self._judged(
            StackValidationPolicy,
            self._policies,
            lambda settings: StackValidationArgs(of.resources, settings, of.stack_tags),
        )

    def _judges(self, policy: Policy, type_token: str) -> bool:
        """Whether a policy says anything of one resource of a type."""
        return (
            isinstance(policy, ResourceValidationPolicy)
            and BY_NAME[policy.name].looks_at(type_token)
            and self._get_enforcement_level(policy) is not EnforcementLevel.DISABLED
        )

    def _judged(
        self, kind: type[Any], policies: list[Policy], arguments: Callable[[Any], Any]
    ) -> analyzer_pb2.AnalyzeResponse:
        """What the policies of a kind say at their levels; `arguments` takes a policy's settings."""
        response = analyzer_pb2.AnalyzeResponse()
        for policy in policies:
            level = self._get_enforcement_level(policy)
            if isinstance(policy, kind) and level is not EnforcementLevel.DISABLED:
                report = self._create_report_violation(
                    response, policy.name, policy.description, level, policy.severity
                )
                policy.validate(arguments(self._get_policy_config(policy.name)), report)
        return response

    def _with(self, policies: list[Policy]) -> Any:
        """The SDK's own servicer with other policies: requests come in several threads, so it is a copy."""
        view = copy(self)
        view.__dict__["_PolicyAnalyzerServicer__policies"] = policies
        return super(StackServicer, view)


def policies() -> list[Policy]:
    """The strictest policies, which give way to those of the stack when the engine names it."""
    sdk._PolicyAnalyzerServicer = StackServicer  # type: ignore[misc,assignment]
    return pack.policies("")
