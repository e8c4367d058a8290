"""Fixtures of rules turned into what rules, the SDK's policies and the engine's analyzer take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import date
from functools import cache
from typing import Any, Final

from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies import pack
from policies.access import UNKNOWN
from policies.fixtures import DAY, Fixture, FixtureResource
from policies.resource import Resource, Stack
from policies.rule import AnyRule, Context, ResourceRule
from policies.rules import RULES
from policies.runner import Finding, findings
from policies.suppressions import Suppressions

SECRET_SIGNATURE: Final = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""How the engine marks a secret (pulumi v3.258.0, sdk/go/common/resource/properties.go)."""
BY_NAME: Final = {rule.name: rule for rule in RULES}


def context(rule: AnyRule, environment: str = "prod", day: date = DAY) -> Context:
    return Context(settings=rule.defaults(environment), today=day)


def urn(rule: AnyRule, name: str, made: FixtureResource) -> str:
    return f"urn:pulumi:prod::slipway::{token(rule, made)}::{name}"


def token(rule: AnyRule, made: FixtureResource) -> str:
    return made.type or rule.types[0]


def resources(rule: AnyRule, fixture: Fixture) -> Stack:
    """The fixture as rules see it."""
    found = {
        name: Resource(
            type=token(rule, made),
            name=name,
            urn=urn(rule, name, made),
            read=lambda made=made: made.props,  # type: ignore[misc]
            protect=made.protect,
            ignore_changes=made.ignore_changes,
            delete_before_replace=made.delete_before_replace,
            provider=made.provider,
        )
        for name, made in fixture.items()
    }
    for name, made in fixture.items():
        found[name].sources.update(
            {key: tuple(found[one] for one in taken if one in found) for key, taken in made.takes.items()}
        )
    return Stack(tuple(found.values()))


def found_in(rule: AnyRule, fixture: Fixture, environment: str = "prod") -> list[Finding]:
    """What a rule finds, asked directly."""
    stack = resources(rule, fixture)
    subjects: Sequence[Any] = stack.resources if isinstance(rule, ResourceRule) else [stack]
    ctx = context(rule, environment)
    return [one for subject in subjects for one in findings(rule, subject, ctx, Suppressions())]


def checks(found: Iterable[Finding]) -> set[str]:
    return {finding.check for finding in found}


def policy_of(rule: AnyRule, suppressions: Suppressions | None = None) -> Policy:
    """The SDK's policy with production's settings; mandatory, since some rules are off in production."""
    policy = pack.policy(rule, "prod", suppressions or Suppressions(), lambda: DAY)
    policy.enforcement_level = EnforcementLevel.MANDATORY
    return policy


def by_validate(rule: AnyRule, fixture: Fixture) -> set[str]:
    """Checks that report something by the SDK's `validate`, behind its proxies."""
    said: list[str] = []

    def report(message: str, _urn: str | None = None) -> None:
        said.append(message)

    policy: Any = policy_of(rule)
    if isinstance(rule, ResourceRule):
        for name, made in fixture.items():
            policy.validate(_validation_args(rule, name, made), report)
    else:
        policy.validate(StackValidationArgs(_policy_resources(rule, fixture)), report)
    return {message[1:].partition("]")[0] for message in said}


def _validation_args(rule: AnyRule, name: str, made: FixtureResource) -> ResourceValidationArgs:
    return ResourceValidationArgs(
        token(rule, made), _proxied(made.props), urn(rule, name, made), name, _options(made), _provider(made)
    )


def _policy_resources(rule: AnyRule, fixture: Fixture) -> list[PolicyResource]:
    found = {
        name: PolicyResource(
            token(rule, made), _proxied(made.props), urn(rule, name, made), name, _options(made), None, None, [], {}
        )
        for name, made in fixture.items()
    }
    for name, made in fixture.items():
        taken = {key: [found[one] for one in names if one in found] for key, names in made.takes.items()}
        found[name].property_dependencies.update(taken)
    return list(found.values())


def _proxied(props: Mapping[str, Any]) -> Mapping[str, Any]:
    return unknown_checking_proxy(_on_the_wire(props))


def _on_the_wire(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_STRING_VALUE
    if isinstance(value, Mapping):
        return {key: _on_the_wire(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_on_the_wire(item) for item in value]
    return value


def _options(made: FixtureResource) -> PolicyResourceOptions:
    timeouts = PolicyCustomTimeouts(0, 0, 0)
    ignored = list(made.ignore_changes)
    return PolicyResourceOptions(made.protect, ignored, made.delete_before_replace, [], timeouts, [])


def _provider(made: FixtureResource) -> PolicyProviderResource | None:
    if not made.provider:
        return None
    return PolicyProviderResource("pulumi:providers:aws", unknown_checking_proxy(dict(made.provider)), "urn", "aws")


def analyzer(*policies: Policy) -> Any:
    """The servicer that the engine talks to."""
    return _PolicyAnalyzerServicer("slipway", "0.1.0", list(policies), EnforcementLevel.MANDATORY)


@cache
def _analyzer_of(name: str) -> Any:
    return analyzer(policy_of(BY_NAME[name]))


def by_analyzer(rule: AnyRule, fixture: Fixture) -> list[analyzer_pb2.AnalyzeDiagnostic]:
    """What the engine would be told, by its own messages."""
    servicer = _analyzer_of(rule.name)
    if isinstance(rule, ResourceRule):
        answers = [
            servicer.Analyze(analyze_request(rule, name, made), None).diagnostics for name, made in fixture.items()
        ]
        return [diagnostic for answer in answers for diagnostic in answer]
    request = analyzer_pb2.AnalyzeStackRequest(
        resources=[stack_resource(rule, fixture, name, made) for name, made in fixture.items()]
    )
    return list(servicer.AnalyzeStack(request, None).diagnostics)


def diagnosed(diagnostics: Iterable[analyzer_pb2.AnalyzeDiagnostic]) -> set[str]:
    """Checks by what diagnostics say; "can't run policy" where the SDK gave up."""
    lines = [diagnostic.message.partition("\n[") for diagnostic in diagnostics]
    return {rest.partition("]")[0] if separator else "can't run policy" for _, separator, rest in lines}


def analyze_request(rule: AnyRule, name: str, made: FixtureResource) -> analyzer_pb2.AnalyzeRequest:
    request = analyzer_pb2.AnalyzeRequest(
        type=token(rule, made),
        properties=struct(made.props),
        urn=urn(rule, name, made),
        name=name,
        options=_wire_options(made),
    )
    if made.provider:
        request.provider.CopyFrom(analyzer_pb2.AnalyzerProviderResource(properties=struct(made.provider)))
    return request


def stack_resource(rule: AnyRule, fixture: Fixture, name: str, made: FixtureResource) -> analyzer_pb2.AnalyzerResource:
    resource = analyzer_pb2.AnalyzerResource(
        type=token(rule, made),
        properties=struct(made.props),
        urn=urn(rule, name, made),
        name=name,
        options=_wire_options(made),
    )
    for key, taken in made.takes.items():
        urns = [urn(rule, one, fixture[one]) for one in taken if one in fixture]
        resource.propertyDependencies[key].urns.extend(urns)
    return resource


def _wire_options(made: FixtureResource) -> analyzer_pb2.AnalyzerResourceOptions:
    return analyzer_pb2.AnalyzerResourceOptions(
        protect=made.protect,
        ignoreChanges=made.ignore_changes,
        deleteBeforeReplace=bool(made.delete_before_replace),
        deleteBeforeReplaceDefined=made.delete_before_replace is not None,
    )


def struct(props: Mapping[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    json_format.ParseDict(_on_the_wire(props), made)
    return made


Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> list[Path]:
    """Every place below the root: maps, lists and scalars alike."""
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    inside = [place for key, item in items for place in places(item, (*path, key))]
    return [path, *inside] if path else inside


def replaced(props: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    copy: Any = deepcopy(dict(props))
    target = copy
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return dict(copy)


def removed(props: Mapping[str, Any], path: Path) -> dict[str, Any]:
    copy: Any = deepcopy(dict(props))
    target = copy
    for part in path[:-1]:
        target = target[part]
    del target[path[-1]]
    return dict(copy)


def value_at(props: Mapping[str, Any], path: Path) -> Any:
    target: Any = props
    for part in path:
        target = target[part]
    return target
