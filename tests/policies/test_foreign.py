"""Programs of others get the rules that are true of any program, and no list of what the platform declares."""

from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from policies.pack import identities
from policies.resources.resource import Resource, Stack
from policies.rule import STRICTEST, Context, ResourceRule
from policies.rules import BY_NAME, RULES
from policies.runner import OF_PLATFORM, findings
from policies.suppressions import Suppressions
from tests.policies.fixtures import load, plain
from tests.support.day import TODAY

PROGRAMS: Final = load(Path(__file__).with_name("foreign.yaml"))[0]
PROVIDER: Final = {"region": "us-west-2"}


def stack_of(program: dict[str, Any]) -> Stack:
    """The resources of a program, below no component of Slipway."""
    found: dict[str, Resource] = {}
    for name, case in program.items():
        (kind,) = (key for key in case if ":" in key)
        urn = f"urn:pulumi:dev::website::{kind}::{name}"
        provider = PROVIDER if kind.startswith("aws:") else {}
        read = partial(plain, case[kind])
        found[name] = Resource(type=kind, name=name, urn=urn, read=read, provider=provider)
    for name, case in program.items():
        for key, taken in case.get("takes", {}).items():
            found[name].sources[key] = tuple(found[one] for one in taken)
    return Stack(tuple(found.values()))


def mandatory(program: dict[str, Any]) -> list[str]:
    """What fails a run, with the strictest levels."""
    stack = stack_of(program)
    lines = []
    for rule in RULES:
        if rule.levels.of(STRICTEST).value != "mandatory":
            continue
        context = Context(settings=rule.defaults(STRICTEST), today=TODAY)
        for subject in stack.resources if isinstance(rule, ResourceRule) else [stack]:
            found = findings(rule, subject, context, Suppressions())
            lines += [f"{one.id} {one.urn.rpartition('::')[2]}: {one.path} {one.value}".strip() for one in found]
    return sorted(lines)


TRUE: Final = {
    "eks-access-entries-only", "eks-control-plane-logs", "eks-deletion-protection", "eks-private-endpoint",
    "eks-private-multi-az", "eks-secrets-cmk", "eks-supported-version", "node-ami-pinned", "nodegroup-desired-ignored",
    "nodegroup-safe-update", "rds-closed", "rds-kept", "rds-parameters", "rds-watched", "s3-kms-bucket-key",
    "s3-no-public-grants", "s3-versioned-lifecycle", "serving-ha", "stateful-protected", "vpc-baseline", "vpc-shape",
}  # fmt: skip
"""Rules that are true of any program: what these leave at the defaults of AWS is so."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_finding_of_another_program_is_false(name: str) -> None:
    assert [line for line in mandatory(PROGRAMS[name]) if line.partition("/")[0] not in TRUE] == []


def test_a_weakness_in_another_program_is_found() -> None:
    everything = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"], "description": "all"}
    opened = {"group": {"aws:ec2/securityGroup:SecurityGroup": {"ingress": [everything]}}}
    assert any(line.startswith("sg-least-open/") for line in mandatory(opened))


def test_lists_bind_what_is_below_a_component_of_the_platform() -> None:
    context = Context(settings={"types": []}, today=TODAY)
    below = Resource(
        type="aws:lambda/function:Function", name="it", read=dict,
        urn="urn:pulumi:dev::website::slipway:queues:Queues$aws:lambda/function:Function::it",
    )  # fmt: skip
    (one,) = findings(BY_NAME["resource-type-reviewed"], below, context, Suppressions())
    assert one.check == "type"


def test_what_binds_the_platform_alone_names_rules_and_checks() -> None:
    assert identities() >= OF_PLATFORM
