"""The tables know every input of every type that the stacks use, and say why one is not a member of AWS's model."""

from collections import Counter

import pytest

from sandbox.aws.client import Aws
from sandbox.aws.limits import values
from sandbox.aws.limits.members import Member, Tree, tree
from sandbox.aws.limits.values import CODES
from sandbox.aws.mapping import EVERYWHERE, Reason
from sandbox.aws.types import MAPPINGS, OPERATIONS, RECORDS
from tests.support.stacks import recorded

STACK_NAMES = ("dev", "staging", "prod")

EACH = pytest.mark.parametrize("type_token", sorted(OPERATIONS))


def members(aws: Aws, type_token: str) -> Tree:
    known = tree(aws, type_token)
    assert known is not None
    return known


def test_every_type_in_moto_and_every_known_record_is_in_the_tables() -> None:
    assert {*MAPPINGS, *RECORDS} <= set(OPERATIONS)


@EACH
def test_every_input_is_a_member_or_has_a_reason(aws: Aws, type_token: str) -> None:
    forgotten = [one.path for one in members(aws, type_token).all() if one.shape is None and one.reason is None]
    assert forgotten == [], "map them in sandbox/aws/limits/tables, or give a reason"


@EACH
def test_an_entry_names_only_inputs_of_its_type_and_members_of_its_operations(aws: Aws, type_token: str) -> None:
    one, known = OPERATIONS[type_token], members(aws, type_token)
    paths = {member.path: member for member in known.all()}
    assert {*one.members, *one.unmapped} <= set(paths)
    assert all(paths[path].shape is not None for path in one.members)
    assert one.service in CODES
    used = {member.operation for member in known.all()} - {""}
    assert used <= set(one.operations)


def test_what_is_not_mapped_is_counted(aws: Aws) -> None:
    """A new release of pulumi-aws or botocore may change these numbers: check the new inputs, then write them here."""
    unmapped = [one for token in OPERATIONS for one in members(aws, token).all() if one.reason is not None]
    everywhere = [one for one in unmapped if one.path in EVERYWHERE]
    assert Counter(one.reason for one in unmapped if one not in everywhere) == {
        Reason.PROVIDER: 25, Reason.OUTPUT: 3, Reason.ATTRIBUTE: 50, Reason.OTHER_TYPE: 13, Reason.RENDERED: 8,
    }  # fmt: skip
    assert sum(1 for token in OPERATIONS for one in members(aws, token).all() if one.shape is not None) > 1250


def test_every_pattern_is_understood(aws: Aws) -> None:
    found = {_pattern(one) for token in OPERATIONS for one in members(aws, token).all()} - {None}
    assert len(found) > 40
    for pattern in found:
        values.compiled(str(pattern))


def _pattern(one: Member) -> str | None:
    return None if one.shape is None else one.shape.metadata.get("pattern")


@pytest.mark.parametrize("stack", STACK_NAMES)
def test_every_aws_type_of_the_stacks_is_in_the_tables(stack: str) -> None:
    used = {one.type for one in recorded(stack) if one.type.startswith("aws:")}
    assert len(used) > 40
    assert used <= set(OPERATIONS)
