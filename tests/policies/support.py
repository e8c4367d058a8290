"""Fixtures converted to inputs of rules, and to messages of the engine for the SDK's analyzer."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any, Final

from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies import pack
from policies.resources.access import UNKNOWN
from policies.resources.resource import Resource, Stack
from policies.rule import AnyRule, Context, ResourceRule
from policies.rules import RULES
from policies.runner import Finding, Run, findings
from policies.suppressions import Suppressions
from tests.policies.build import Fixture, FixtureResource, PropertyPath
from tests.policies.given import stack_file
from tests.support.day import TODAY

SECRET_SIGNATURE: Final = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""How the engine marks a secret (pulumi v3.258.0, sdk/go/common/resource/properties.go)."""
BY_NAME: Final = {rule.name: rule for rule in RULES}


def context(rule: AnyRule, environment: str = "prod", day: date = TODAY) -> Context:
    return Context(settings=rule.defaults(environment), today=day, stack_file=stack_file())


def urn(rule: AnyRule, name: str, resource: FixtureResource) -> str:
    return f"urn:pulumi:prod::slipway::{token(rule, resource)}::{name}"


def token(rule: AnyRule, resource: FixtureResource) -> str:
    return resource.type or rule.types[0]


def resources(rule: AnyRule, fixture: Fixture) -> Stack:
    """The fixture as a stack for rules."""
    by_name = {
        name: Resource(
            type=token(rule, resource),
            name=name,
            urn=urn(rule, name, resource),
            read=lambda resource=resource: resource.props,  # type: ignore[misc]
            protect=resource.protect,
            ignore_changes=resource.ignore_changes,
            delete_before_replace=resource.delete_before_replace,
            provider=resource.provider,
        )
        for name, resource in fixture.items()
    }
    for name, resource in fixture.items():
        by_name[name].sources.update(
            {key: tuple(by_name[one] for one in taken if one in by_name) for key, taken in resource.takes.items()}
        )
    return Stack(tuple(by_name.values()))


def findings_in(rule: AnyRule, fixture: Fixture, environment: str = "prod") -> list[Finding]:
    """Findings of a rule, without the SDK."""
    stack = resources(rule, fixture)
    subjects: Sequence[Any] = stack.resources if isinstance(rule, ResourceRule) else [stack]
    ctx = context(rule, environment)
    return [finding for subject in subjects for finding in findings(rule, subject, ctx, Suppressions())]


def checks(findings: Iterable[Finding]) -> set[str]:
    return {finding.check for finding in findings}


def policy_of(rule: AnyRule, suppressions: Suppressions | None = None) -> Policy:
    """The SDK's policy with production's settings; mandatory, since some rules are off in production."""
    run = Run(suppressions=suppressions or Suppressions(), today=lambda: TODAY, stack_file=stack_file())
    policy = pack.policy(rule, "prod", run)
    policy.enforcement_level = EnforcementLevel.MANDATORY
    return policy


def _on_the_wire(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_STRING_VALUE
    if isinstance(value, Mapping):
        return {key: _on_the_wire(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_on_the_wire(item) for item in value]
    return value


def analyzer(*policies: Policy) -> Any:
    """The servicer that the engine talks to."""
    return _PolicyAnalyzerServicer("slipway", "0.1.0", list(policies), EnforcementLevel.MANDATORY)


@cache
def _analyzer_of(name: str) -> Any:
    return analyzer(policy_of(BY_NAME[name]))


def by_analyzer(rule: AnyRule, fixture: Fixture) -> list[analyzer_pb2.AnalyzeDiagnostic]:
    """Diagnostics that the engine gets in response to its messages."""
    servicer = _analyzer_of(rule.name)
    if isinstance(rule, ResourceRule):
        responses = [
            servicer.Analyze(analyze_request(rule, name, resource), None).diagnostics
            for name, resource in fixture.items()
        ]
        return [diagnostic for response in responses for diagnostic in response]
    request = analyzer_pb2.AnalyzeStackRequest(
        resources=[stack_resource(rule, fixture, name, resource) for name, resource in fixture.items()]
    )
    return list(servicer.AnalyzeStack(request, None).diagnostics)


def diagnosed(diagnostics: Iterable[analyzer_pb2.AnalyzeDiagnostic]) -> set[str]:
    """Checks in diagnostics; "can't run policy" if the SDK reports a failure."""
    lines = [diagnostic.message.partition("\n[") for diagnostic in diagnostics]
    return {rest.partition("]")[0] if separator else "can't run policy" for _, separator, rest in lines}


def analyze_request(rule: AnyRule, name: str, resource: FixtureResource) -> analyzer_pb2.AnalyzeRequest:
    request = analyzer_pb2.AnalyzeRequest(
        type=token(rule, resource),
        properties=struct(resource.props),
        urn=urn(rule, name, resource),
        name=name,
        options=_wire_options(resource),
    )
    _with_provider(request, resource)
    return request


def stack_resource(
    rule: AnyRule, fixture: Fixture, name: str, resource: FixtureResource
) -> analyzer_pb2.AnalyzerResource:
    message = analyzer_pb2.AnalyzerResource(
        type=token(rule, resource),
        properties=struct(resource.props),
        urn=urn(rule, name, resource),
        name=name,
        options=_wire_options(resource),
    )
    _with_provider(message, resource)
    for key, taken in resource.takes.items():
        urns = [urn(rule, one, fixture[one]) for one in taken if one in fixture]
        message.propertyDependencies[key].urns.extend(urns)
    return message


def _with_provider(
    message: analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource, resource: FixtureResource
) -> None:
    if resource.provider:
        message.provider.CopyFrom(analyzer_pb2.AnalyzerProviderResource(properties=struct(resource.provider)))


def _wire_options(resource: FixtureResource) -> analyzer_pb2.AnalyzerResourceOptions:
    return analyzer_pb2.AnalyzerResourceOptions(
        protect=resource.protect,
        ignoreChanges=resource.ignore_changes,
        deleteBeforeReplace=bool(resource.delete_before_replace),
        deleteBeforeReplaceDefined=resource.delete_before_replace is not None,
    )


def struct(props: Mapping[str, Any]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    json_format.ParseDict(_on_the_wire(props), message)
    return message


def paths(value: Any, path: PropertyPath = ()) -> list[PropertyPath]:
    """Every path below the root, of maps, lists and scalars."""
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    inside = [nested for key, item in items for nested in paths(item, (*path, key))]
    return [path, *inside] if path else inside


def value_at(props: Mapping[str, Any], path: PropertyPath) -> Any:
    target: Any = props
    for part in path:
        target = target[part]
    return target
