"""Samples have the form of real values, and follow from names only."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from slipway.render.samples import SAMPLES, Facts, answer


def facts(type_: str, name: str = "thing", region: str = "eu-west-1", **inputs: Any) -> Facts:
    return Facts(
        urn=f"urn:pulumi:dev::slipway::{type_}::{name}",
        type=type_,
        logical_name=name,
        inputs=inputs,
        project="slipway",
        stack="dev",
        account="111122223333",
        region=region,
    )


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, str) else []


def test_every_sample_is_for_a_type_of_the_sdk_and_fills_its_templates() -> None:
    inputs = {"clusterName": "c", "role": "r", "policyArn": "p", "principalArn": "u", "addonName": "a", "rule": "e"}
    for type_ in SAMPLES:
        identity, outputs = answer(facts(type_, namespace="ns", **inputs))
        assert re.fullmatch(r"aws:[a-z0-9]+/[a-zA-Z0-9]+:[A-Z]\w+|kubernetes:[a-z.0-9/]+:[A-Z]\w+", type_)
        for text in [identity, *leaves(outputs)]:
            assert text, f"{type_}: a sample must not be empty"
            assert not set(text) & set("{}"), (type_, text)


@pytest.mark.parametrize(
    ("type_", "key", "form"),
    [
        ("aws:ec2/vpc:Vpc", "arn", r"arn:aws:ec2:eu-west-1:111122223333:vpc/vpc-[0-9a-f]{17}"),
        ("aws:iam/role:Role", "arn", r"arn:aws:iam::111122223333:role/slipway-dev-thing-[0-9a-f]{7}"),
        (
            "aws:sqs/queue:Queue",
            "url",
            r"https://sqs\.eu-west-1\.amazonaws\.com/111122223333/slipway-dev-thing-[0-9a-f]{7}",
        ),
        ("aws:kms/key:Key", "arn", r"arn:aws:kms:eu-west-1:111122223333:key/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("aws:eks/cluster:Cluster", "endpoint", r"https://[0-9A-F]{32}\.gr7\.eu-west-1\.eks\.amazonaws\.com"),
    ],
)
def test_samples_have_the_form_of_aws_values(type_: str, key: str, form: str) -> None:
    assert re.fullmatch(form, answer(facts(type_))[1][key])


def test_a_cluster_has_the_outputs_that_a_program_reads() -> None:
    _, outputs = answer(facts("aws:eks/cluster:Cluster", name="cluster"))
    assert base64.b64decode(outputs["certificateAuthority"]["data"]).startswith(b"-----BEGIN CERTIFICATE-----")
    assert re.fullmatch(
        r"https://oidc\.eks\.eu-west-1\.amazonaws\.com/id/[0-9A-F]{32}", outputs["identities"][0]["oidcs"][0]["issuer"]
    )
    assert outputs["vpcConfig"]["clusterSecurityGroupId"].startswith("sg-")


def test_a_node_group_has_an_auto_scaling_group_name() -> None:
    identity, outputs = answer(facts("aws:eks/nodeGroup:NodeGroup", clusterName="slipway-dev"))
    assert identity.startswith("slipway-dev:slipway-dev-thing-")
    assert outputs["resources"][0]["autoscalingGroups"][0]["name"].startswith("eks-slipway-dev-thing-")


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_arns_are_in_the_partition_of_their_region(region: str, partition: str) -> None:
    assert answer(facts("aws:iam/role:Role", region=region))[1]["arn"].startswith(f"arn:{partition}:iam::")


def test_an_explicit_name_is_the_physical_name() -> None:
    assert answer(facts("aws:iam/role:Role", name_="x"))[0] != "mine"
    named = Facts(**{**vars(facts("aws:iam/role:Role")), "inputs": {"name": "mine"}})
    assert answer(named)[1]["arn"] == "arn:aws:iam::111122223333:role/mine"


def test_ids_depend_only_on_the_urn() -> None:
    first, again, other = (answer(facts("aws:ec2/vpc:Vpc", name=name))[0] for name in ("a", "a", "b"))
    assert first == again != other


def test_the_id_of_a_kubernetes_object_is_its_namespace_and_name() -> None:
    token = "kubernetes:core/v1:ConfigMap"
    assert answer(facts(token, metadata={"name": "n", "namespace": "ns"}))[0] == "ns/n"
    assert answer(facts(token, metadata={"name": "n"}))[0] == "n"
    identity, outputs = answer(facts(token))
    assert re.fullmatch(r"thing-[0-9a-f]{8}", identity)
    assert outputs == {"metadata": {"name": identity}}


def test_a_type_without_a_sample_has_a_name_and_no_outputs() -> None:
    identity, outputs = answer(facts("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"))
    assert re.fullmatch(r"slipway-dev-thing-[0-9a-f]{7}", identity)
    assert outputs == {}
