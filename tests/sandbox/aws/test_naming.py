"""Names that a program omits."""

from typing import Any

import pytest

from sandbox.aws import naming
from sandbox.rpc.hooks import Resource
from tests.sandbox.aws.samples.world import known

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ROLE = "aws:iam/role:Role"
BUCKET = "aws:s3/bucket:Bucket"


def named(kind: str, proposed: str = "", olds: dict[str, Any] | None = None, **news: Any) -> dict[str, Any]:
    resource = Resource(f"urn:pulumi:s::p::{kind}::a-thing", kind, "a-thing", proposed)
    return naming.with_name(known(kind), resource, news, olds or {}, b"seed")


@pytest.mark.parametrize(("kind", "key"), [(ROLE, "name"), (NODE_GROUP, "nodeGroupName"), (BUCKET, "bucket")])
def test_the_engines_proposal_is_used(kind: str, key: str) -> None:
    assert named(kind, "slipway-dev-a-thing-0a1b2c3")[key] == "slipway-dev-a-thing-0a1b2c3"


def test_a_proposal_is_truncated_and_lower_case_for_buckets() -> None:
    assert len(named(ROLE, "x" * 200)["name"]) == 64
    assert named(BUCKET, "Slipway-Dev")["bucket"] == "slipway-dev"


def test_the_key_of_an_object_is_the_logical_name() -> None:
    assert named("aws:s3/bucketObjectv2:BucketObjectv2", "slipway-dev-a-thing-0a1b2c3")["key"] == "a-thing"


def test_a_generated_name_is_kept_despite_a_later_proposal() -> None:
    first = named(ROLE, "slipway-dev-a-thing-0a1b2c3")
    assert named(ROLE, "slipway-dev-a-thing-fffffff", olds=first)["name"] == first["name"]


def test_the_programs_own_name_is_kept() -> None:
    assert named(ROLE, "slipway-dev-a-thing-0a1b2c3", name="mine")["name"] == "mine"


@pytest.mark.parametrize(("kind", "fifo"), [("aws:sqs/queue:Queue", "fifoQueue"), ("aws:sns/topic:Topic", "fifoTopic")])
def test_the_name_of_a_fifo_queue_or_topic_ends_so(kind: str, fifo: str) -> None:
    first: dict[str, Any] = {fifo: True}
    assert named(kind, **first)["name"].endswith(".fifo")
    assert not named(kind)["name"].endswith(".fifo")
