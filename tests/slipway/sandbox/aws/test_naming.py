"""Names that a program leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.aws import naming
from slipway.sandbox.aws.mappings import MAPPINGS
from slipway.sandbox.aws.schema import schema
from slipway.sandbox.rpc.hooks import Resource

ROLE = "aws:iam/role:Role"
BUCKET = "aws:s3/bucket:Bucket"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


def named(kind: str, proposed: str = "", olds: dict[str, Any] | None = None, **news: Any) -> dict[str, Any]:
    known = schema(kind)
    assert known is not None
    resource = Resource(f"urn:pulumi:s::p::{kind}::a-thing", kind, "a-thing", proposed)
    return naming.with_name(known, MAPPINGS[kind], resource, news, olds or {}, b"seed")


def test_without_a_proposal_the_name_is_the_logical_one_with_digits() -> None:
    assert named(ROLE)["name"].startswith("a-thing-")
    assert len(named(ROLE)["name"]) == len("a-thing-") + naming.DIGITS


@pytest.mark.parametrize(("kind", "key"), [(ROLE, "name"), (NODE_GROUP, "nodeGroupName"), (BUCKET, "bucket")])
def test_what_the_engine_proposes_is_taken(kind: str, key: str) -> None:
    assert named(kind, "slipway-dev-a-thing-0a1b2c3")[key] == "slipway-dev-a-thing-0a1b2c3"


def test_a_proposal_is_cut_to_what_the_service_takes_and_lowered_for_buckets() -> None:
    assert len(named(ROLE, "x" * 200)["name"]) == MAPPINGS[ROLE].name_limit
    assert named(BUCKET, "Slipway-Dev")["bucket"] == "slipway-dev"


def test_a_name_made_once_is_kept_whatever_is_proposed_later() -> None:
    first = named(ROLE, "slipway-dev-a-thing-0a1b2c3")
    assert named(ROLE, "slipway-dev-a-thing-fffffff", olds=first)["name"] == first["name"]


def test_a_name_of_the_programs_own_is_left_alone() -> None:
    assert named(ROLE, "slipway-dev-a-thing-0a1b2c3", name="mine")["name"] == "mine"
