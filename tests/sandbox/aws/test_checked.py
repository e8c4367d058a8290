import pytest

from sandbox.aws import rules, validators
from sandbox.aws.checked import DOCUMENTATION, Limit, limits, summary
from sandbox.aws.types import OPERATIONS


@pytest.fixture(scope="module")
def found() -> list[Limit]:
    return list(limits())


def test_every_type_is_listed_with_its_rules(found: list[Limit]) -> None:
    assert {one.type for one in found} == set(OPERATIONS)
    said = [one for one in found if one.source == DOCUMENTATION]
    rows = sum(len(each) for token in OPERATIONS for each in validators.paths(token).values())
    assert sum(1 for one in found if one.source) == sum(len(one.types) for one in rules.ALL) + len(said) + rows
    assert rows > 250
    assert len(said) > 100
    deletion = [one.limits for one in said if (one.type, one.input) == ("aws:kms/key:Key", "deletionWindowInDays")]
    assert deletion == ["the provider's documentation: 'must be between `7` and `30`, inclusive'"]
    assert all(one.limits for one in found if not one.mapped), "what is not mapped has a reason"


@pytest.mark.parametrize(
    ("type_token", "name", "parameter", "words"),
    [
        ("aws:iam/role:Role", "name", "create_role.RoleName", r"required, 1 to 64 characters, matches [\w+=,.@-]+"),
        ("aws:iam/role:Role", "maxSessionDuration", "create_role.MaxSessionDuration", "3600 to 43200"),
        ("aws:eks/cluster:Cluster", "vpcConfig.subnetIds", "create_cluster.resourcesVpcConfig.subnetIds", ""),
        ("aws:eks/nodeGroup:NodeGroup", "labels", "create_nodegroup.labels",
         "key 1 to 63 characters, value 1 to 63 characters"),
        ("aws:ec2/launchTemplate:LaunchTemplate", "instanceType",
         "create_launch_template.LaunchTemplateData.InstanceType", ""),
        ("aws:eks/nodeGroup:NodeGroup", "taints.effect", "create_nodegroup.taints.effect",
         "one of NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE"),
        ("aws:s3/bucket:Bucket", "region", "", "an argument of the AWS provider; AWS has no such parameter"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_input(found: list[Limit], type_token: str, name: str, parameter: str, words: str) -> None:
    one = next(one for one in found if (one.type, one.input) == (type_token, name) and not one.source)
    assert (one.parameter, one.limits) == (parameter, words)


def test_a_type_is_found_by_a_part_of_its_token(found: list[Limit]) -> None:
    assert {one.type for one in limits("NODEgroup")} == {"aws:eks/nodeGroup:NodeGroup"}
    assert list(limits("nothing like it")) == []
    some = [one for one in found if one.type == "aws:cloudwatch/logGroup:LogGroup"]
    assert summary(some) == (
        "1 types, 9 inputs: 6 are members of AWS's models, 4 of them with limits; 3 are not mapped; "
        "5 rules and statements of the provider"
    )
