from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.aws import drift
from slipway.sandbox.aws.kinds import Kind, ListOf, MapOf, Scalar
from slipway.sandbox.aws.schema import schema

TEXT, NUMBER, TRUTH = Scalar("str"), Scalar("int"), Scalar("bool")


def kind(type_token: str, name: str) -> Kind:
    known = schema(type_token)
    assert known is not None
    return known.inputs[name].kind


VPC_CONFIG = kind("aws:eks/cluster:Cluster", "vpcConfig")
TAINTS = kind("aws:eks/nodeGroup:NodeGroup", "taints")


@pytest.mark.parametrize(
    ("of", "wanted", "live", "is_same"),
    [
        (NUMBER, 30, "30", True),
        (TRUTH, "true", True, True),
        (TEXT, "a", "b", False),
        (TEXT, None, "", True),
        (TEXT, '{"Action": "s3:*"}', '{ "Action": ["s3:*"] }', True),
        (TEXT, '{"Action": ["a", "b"]}', {"Action": ["b", "a"]}, True),
        (TEXT, '{"Action": "s3:*"}', '{"Action": "ec2:*"}', False),
        (TEXT, "{broken", "{broken ", False),
        (MapOf(TEXT), {"a": 1}, {"a": "1"}, True),
        (MapOf(TEXT), {}, {"a": "1"}, False),
        (ListOf(TEXT), ["a", "b"], ["b", "a"], True),
        (ListOf(TEXT), ["a"], ["a", "a"], False),
        (VPC_CONFIG, {"subnetIds": ["a"]}, {"subnetIds": ["a"], "vpcId": "vpc-1"}, True),
        (VPC_CONFIG, {"subnetIds": ["a"]}, {"subnetIds": ["b"], "vpcId": "vpc-1"}, False),
        (TAINTS, [{"key": "a", "effect": "e"}], [{"key": "a", "effect": "e", "value": "x"}], True),
        (TAINTS, [{"key": "a", "effect": "e"}], [], False),
    ],
)
def test_only_what_differs_in_meaning_is_drift(of: Kind, wanted: Any, live: Any, is_same: bool) -> None:
    assert drift.same(of, wanted, live) is is_same


def test_only_properties_that_the_program_set_are_shown() -> None:
    live = {"subnetIds": ["b"], "endpointPublicAccess": True, "vpcId": "vpc-1"}
    wanted = {"subnetIds": ["a"], "endpointPublicAccess": True}
    assert drift.drifted(VPC_CONFIG, wanted, live) == {"subnetIds": ["b"], "endpointPublicAccess": True}
