"""Tells the pack which stack it is asked about, so that a plain `--policy-pack policies` has that stack's own levels.

The engine names the stack in its `ConfigureStack` message, before it asks for the rules and their levels (pulumi
v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go). The SDK (pulumi_policy 1.21.0) keeps only the tags of that
message, and the environment variable PULUMI_STACK is set for packs without a language host alone. So the message is
looked at here, on its way to the SDK's servicer; a test holds this against the pinned SDK.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyProviderResource,
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import policy as sdk

from policies import pack
from policies.reading import Unread
from policies.rules import BY_NAME


class StackServicer(sdk._PolicyAnalyzerServicer):
    """The SDK's servicer, whose policies become those of the stack's environment once the stack is known.

    The SDK reads all properties anew for each policy, and once more for remediations: for a hundred rules and six
    hundred resources that is 6 s of a preview (2026-11). Here what rules look at is read once for all of them, and the
    tags of a stack, at which none looks, are not passed on.
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
        self, request: analyzer_pb2.AnalyzeRequest, _: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Asks the rules that look at the resource's type about one reading of it."""
        if request.type not in self._asked:
            self._asked[request.type] = [one for one in self._policies if self._judges(one, request.type)]
        asked = self._asked[request.type]
        if not asked:
            return analyzer_pb2.AnalyzeResponse()
        properties: Any = Unread(request.properties)
        options, provider = self._get_resource_options(request), self._provider(request)
        known = (request.type, properties, request.urn, request.name, options, provider)
        return self._evaluated(
            ResourceValidationPolicy, asked, lambda settings: ResourceValidationArgs(*known, settings)
        )

    def Remediate(  # noqa: N802 - the name of the RPC
        self, *_: Any
    ) -> analyzer_pb2.RemediateResponse:
        """Nothing, unread: no rule of the pack changes a resource, and the engine asks for each all the same."""
        return analyzer_pb2.RemediateResponse()

    def AnalyzeStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeStackRequest, _: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Asks every rule of stacks about one reading of the stack."""
        resources = [self._resource(one) for one in request.resources]
        by_urn = {one.urn: one for one in resources}
        for resource, message in zip(resources, request.resources, strict=True):
            for key, sources in message.propertyDependencies.items():
                resource.property_dependencies[key] = [by_urn[urn] for urn in sources.urns if urn in by_urn]
        return self._evaluated(
            StackValidationPolicy, self._policies, lambda settings: StackValidationArgs(resources, settings)
        )

    def _resource(self, message: analyzer_pb2.AnalyzerResource) -> PolicyResource:
        """A resource of a stack, without what no rule asks for: its parent, and what it depends on without a value."""
        properties: Any = Unread(message.properties)
        options, provider = self._get_resource_options(message), self._provider(message)
        return PolicyResource(message.type, properties, message.urn, message.name, options, provider, None, [], {})

    @staticmethod
    def _provider(
        message: analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource,
    ) -> PolicyProviderResource | None:
        if not message.HasField("provider"):
            return None
        found = message.provider
        return PolicyProviderResource(found.type, Unread(found.properties).values, found.urn, found.name)

    def _judges(self, policy: Policy, type_token: str) -> bool:
        """Whether a policy says anything of one resource of a type."""
        return (
            isinstance(policy, ResourceValidationPolicy)
            and BY_NAME[policy.name].looks_at(type_token)
            and self._get_enforcement_level(policy) is not EnforcementLevel.DISABLED
        )

    def _evaluated(
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


def policies() -> list[Policy]:
    """The strictest policies, which give way to those of the stack when the engine names it."""
    sdk._PolicyAnalyzerServicer = StackServicer  # type: ignore[misc,assignment]
    return pack.policies("")
