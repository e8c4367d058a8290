"""Sets the levels of the stack's environment, so that `--policy-pack policies` needs no configuration.

The engine sends the name of the stack in its `ConfigureStack` message, before it requests the policies and their levels
(pulumi v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go). The SDK (pulumi_policy 1.21.0) keeps only the tags
of that message, and sets the environment variable PULUMI_STACK only for packs without a language host. So this servicer
reads the message before it passes it on; a test compares it with the pinned SDK.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyPack,
    PolicyProviderResource,
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import policy as sdk

from policies import pack
from policies.resources.reading import Unread
from policies.rules import BY_NAME
from policies.stack_file import from_configuration
from policies.suppressions import FILE


class StackServicer(sdk._PolicyAnalyzerServicer):
    """The SDK's servicer, with the policies of the stack's environment once the stack is known.

    The SDK parses all properties again for each policy, and for remediations: for a hundred rules and six hundred
    resources that takes 6 s of a preview (2026-11). This servicer parses them once for all rules, and drops the tags of
    a stack, which no rule uses.

    Attributes:
        suppressions: The file of the suppressions.
    """

    suppressions = FILE

    def __init__(self, name: str, version: str, policies: list[Policy], *rest: Any) -> None:
        super().__init__(name, version, policies, *rest)
        self._policies = policies
        self._applicable: dict[str, list[Policy]] = {}

    def ConfigureStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, context: Any
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Set the levels and settings of the stack's environment, in the list that the SDK holds as well, and read the
        stack file's settings."""
        stack_file = from_configuration(request.config, request.stack)
        self._policies[:] = pack.policies(request.stack, stack_file=stack_file, file=self.suppressions)
        self._applicable.clear()
        answer: analyzer_pb2.AnalyzerStackConfigureResponse = super().ConfigureStack(request, context)
        return answer

    def Analyze(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeRequest, _: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Evaluate the rules for the resource's type on one parsed copy of it."""
        if request.type not in self._applicable:
            self._applicable[request.type] = [one for one in self._policies if self._applies(one, request.type)]
        policies = self._applicable[request.type]
        if not policies:
            return analyzer_pb2.AnalyzeResponse()
        properties: Any = Unread(request.properties)
        options, provider = self._get_resource_options(request), self._provider(request)
        arguments = (request.type, properties, request.urn, request.name, options, provider)
        return self._evaluated(
            ResourceValidationPolicy, policies, lambda settings: ResourceValidationArgs(*arguments, settings)
        )

    def Remediate(  # noqa: N802 - the name of the RPC
        self, *_: Any
    ) -> analyzer_pb2.RemediateResponse:
        """Return no remediation: no rule of the pack changes resources, but the engine sends a request for each."""
        return analyzer_pb2.RemediateResponse()

    def AnalyzeStack(  # noqa: N802 - the name of the RPC
        self, request: analyzer_pb2.AnalyzeStackRequest, _: Any
    ) -> analyzer_pb2.AnalyzeResponse:
        """Evaluate every stack rule on one parsed copy of the stack."""
        resources = [self._resource(one) for one in request.resources]
        by_urn = {one.urn: one for one in resources}
        for resource, message in zip(resources, request.resources, strict=True):
            for key, sources in message.propertyDependencies.items():
                resource.property_dependencies[key] = [by_urn[urn] for urn in sources.urns if urn in by_urn]
        return self._evaluated(
            StackValidationPolicy, self._policies, lambda settings: StackValidationArgs(resources, settings)
        )

    def _resource(self, message: analyzer_pb2.AnalyzerResource) -> PolicyResource:
        """A resource of a stack, without the parent and the explicit dependencies, which no rule uses."""
        properties: Any = Unread(message.properties)
        options, provider = self._get_resource_options(message), self._provider(message)
        return PolicyResource(message.type, properties, message.urn, message.name, options, provider, None, [], {})

    @staticmethod
    def _provider(
        message: analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource,
    ) -> PolicyProviderResource | None:
        if not message.HasField("provider"):
            return None
        provider = message.provider
        return PolicyProviderResource(provider.type, Unread(provider.properties).values, provider.urn, provider.name)

    def _applies(self, policy: Policy, type_token: str) -> bool:
        """Whether an enabled resource policy applies to a type."""
        return (
            isinstance(policy, ResourceValidationPolicy)
            and BY_NAME[policy.name].looks_at(type_token)
            and self._get_enforcement_level(policy) is not EnforcementLevel.DISABLED
        )

    def _evaluated(
        self, kind: type[Any], policies: list[Policy], arguments: Callable[[Any], Any]
    ) -> analyzer_pb2.AnalyzeResponse:
        """The violations of policies of a kind, with their levels; `arguments` takes the settings of a policy."""
        response = analyzer_pb2.AnalyzeResponse()
        for policy in policies:
            level = self._get_enforcement_level(policy)
            if isinstance(policy, kind) and level is not EnforcementLevel.DISABLED:
                report = self._create_report_violation(
                    response, policy.name, policy.description, level, policy.severity
                )
                policy.validate(arguments(self._get_policy_config(policy.name)), report)
        return response


def policies(suppressions: Path = FILE) -> list[Policy]:
    """The policies of the strictest environment, until the engine sends the name of the stack."""
    StackServicer.suppressions = suppressions
    sdk._PolicyAnalyzerServicer = StackServicer  # type: ignore[misc,assignment]
    return pack.policies("", file=suppressions)


def serve(suppressions: Path = FILE) -> NoReturn:  # type: ignore[misc]
    """Serve the pack; the constructor starts the server and never returns.

    Args:
        suppressions: The file of the suppressions: the platform's, or that of `slipway policies --pack`.
    """
    PolicyPack(pack.NAME, policies=policies(suppressions))
