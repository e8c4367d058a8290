"""What the pack judges before an update: also values that a preview does not know."""

import json
from collections.abc import Callable
from importlib import import_module

import pulumi
import pulumi_aws as aws
import pytest

from policies.suppressions import Suppressions
from slipway.render.evaluation import check, judge
from slipway.render.recorder import record
from slipway.render.recording import Recording
from tests.support.day import TODAY


def recorded(program: Callable[[], None]) -> Callable[[bool], Recording]:
    return lambda preview: record(program, project="slipway", stack="prod", preview=preview)


def bucket_for(principal: str) -> Callable[[], None]:
    def document(arn: str) -> str:
        statement = {"Effect": "Allow", "Principal": principal, "Action": "s3:GetObject", "Resource": f"{arn}/*"}
        return json.dumps({"Statement": [statement]})

    def program() -> None:
        provider = aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"])
        options = pulumi.ResourceOptions(provider=provider)
        bucket = aws.s3.Bucket("data", opts=options)
        aws.s3.BucketPolicy("policy", bucket=bucket.bucket, policy=bucket.arn.apply(document), opts=options)

    return program


@pytest.mark.parametrize(
    ("principal", "reported"), [("*", True), ("arn:aws:iam::111122223333:role/reader", False)], ids=["all", "one"]
)
def test_a_policy_with_an_arn_that_a_preview_does_not_know_is_judged(principal: str, reported: bool) -> None:
    record_as = recorded(bucket_for(principal))
    public = "s3-no-public-grants/principal"
    assert public not in {one.id for one in check(record_as(True), TODAY, Suppressions())}
    judgement = judge(record_as, TODAY, Suppressions())
    assert (public in {one.id for one in judgement.findings}) is reported
    assert not judgement.undecided


def test_what_only_a_preview_does_is_judged_too() -> None:
    def program() -> None:
        provider = aws.Provider("aws", region="us-east-1")
        if pulumi.runtime.is_dry_run():
            aws.cloudwatch.LogGroup("logs", opts=pulumi.ResourceOptions(provider=provider))

    record_as = recorded(program)
    expected = {(one.id, one.urn) for one in check(record_as(True), TODAY, Suppressions()) if one.urn.endswith("logs")}
    assert expected
    assert expected <= {(one.id, one.urn) for one in judge(record_as, TODAY, Suppressions()).findings}


def test_a_finding_of_both_runs_is_listed_once() -> None:
    def program() -> None:
        provider = aws.Provider("aws", region="us-east-1")
        aws.cloudwatch.LogGroup("logs", opts=pulumi.ResourceOptions(provider=provider))

    found = [(one.id, one.urn, one.path) for one in judge(recorded(program), TODAY, Suppressions()).findings]
    assert len(found) == len(set(found))


def test_an_input_without_even_a_sample_is_undecided() -> None:
    def program() -> None:
        provider = aws.Provider("aws", region="us-east-1")
        options = pulumi.ResourceOptions(provider=provider)
        # No other module uses this service, so the type checker doesn't read it.
        one = import_module("pulumi_aws.iot").Thing("thing", opts=options)
        aws.cloudwatch.LogGroup("logs", name=one.default_client_id, opts=options)

    (undecided,) = judge(recorded(program), TODAY, Suppressions()).undecided
    assert undecided[0].endswith("::logs")
    assert undecided[1] == "name"
