"""The pack on inputs as the engine sends them: with what a provider fills in when it checks them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from policies.resources.tokens import RELEASE
from policies.rule import ENVIRONMENTS
from policies.rules.helm import PINNED
from policies.runner import Finding
from sandbox.aws import naming
from sandbox.aws.schema import schema
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.values import normalized
from sandbox.rpc.hooks import Resource
from slipway.render.evaluation import check
from slipway.render.recording import RecordedResource, Recording
from tests.support.day import TODAY
from tests.support.stacks import recorded

environments = pytest.mark.parametrize("stack", ENVIRONMENTS)


def filled(one: RecordedResource) -> Mapping[str, Any]:
    """Inputs of a resource after the check of its provider: every argument of a release, names of AWS."""
    inputs = dict(one.inputs.plain)
    if one.type == RELEASE:
        return normalized(inputs, Charts(None))
    known = schema(one.type) if one.type.startswith("aws:") else None
    if known is None:
        return inputs
    named = naming.with_name(known, Resource(one.urn, one.type, one.name), inputs, {}, b"seed")
    # The engine leaves out internal keys (pulumi v3.258.0, plugin/analyzer_plugin.go, SkipInternalKeys).
    return {key: value for key, value in named.items() if not key.startswith("__")}


@cache
def sent(stack: str) -> Recording:
    """The recording of a stack, with the inputs that the engine sends to the pack."""
    recording = recorded(stack)
    resources = {
        one.urn: replace(one, inputs=replace(one.inputs, plain=filled(one)), outputs=one.outputs) for one in recording
    }
    return replace(recording, resources=resources)


def reported(findings: list[Finding]) -> set[tuple[str, str, str]]:
    return {(one.id, one.urn, one.value) for one in findings}


@environments
def test_what_a_provider_fills_in_changes_no_finding(stack: str) -> None:
    assert reported(check(sent(stack), TODAY)) == reported(check(recorded(stack), TODAY))


@environments
def test_providers_fill_in_something(stack: str) -> None:
    """Otherwise the test above compares a stack with itself."""
    releases = [one for one in sent(stack) if one.type == RELEASE]
    assert releases
    assert all(one.inputs.plain["postrender"] == "" for one in releases)
    named = [one for one in sent(stack) if one.inputs.plain != recorded(stack).resources[one.urn].inputs.plain]
    assert {one.type.partition(":")[0] for one in named} == {"aws", "kubernetes"}


def test_a_violation_in_filled_in_inputs_is_found() -> None:
    stack = sent("prod")
    one = next(one for one in stack if one.type == RELEASE)
    loose = replace(one, inputs=replace(one.inputs, plain={**one.inputs.plain, "version": ""}))
    changed = replace(stack, resources={**stack.resources, one.urn: loose})
    assert (PINNED.name, one.urn) in {(finding.rule, finding.urn) for finding in check(changed, TODAY)}
