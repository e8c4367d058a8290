"""What AWS refuses because of other objects is refused at `up`, with the service's code."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from moto.core.utils import utcnow

from sandbox.aws.client import AwsError
from sandbox.aws.client import World as Shared
from sandbox.aws.moto import clusters
from sandbox.aws.provider import AwsProvider
from sandbox.aws.rules import requests
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import PROCESSES, code_of, document

CLUSTER, NODES, ADDON = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
ENTRY, POD = "aws:eks/accessEntry:AccessEntry", "aws:eks/podIdentityAssociation:PodIdentityAssociation"
SUBNET, GROUP = "aws:ec2/subnet:Subnet", "aws:ec2/securityGroup:SecurityGroup"
INLINE, ATTACHMENT = "aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"


@pytest.fixture
def provider(world: World) -> AwsProvider:
    return AwsProvider(Shared(world.aws.clients, processes=PROCESSES))


def of(type_token: str) -> Resource:
    return Resource(f"urn:pulumi:s::p::{type_token}::thing", type_token, "thing")


def create(provider: AwsProvider, world: World, type_token: str, **inputs: Any) -> tuple[str, dict[str, Any]]:
    """As the engine does it: checked first."""
    checked, failures = provider.check(world.aws, of(type_token), inputs, {}, b"seed")
    assert failures == []
    return provider.create(world.aws, of(type_token), checked)


def refused(provider: AwsProvider, world: World, type_token: str, **inputs: Any) -> str:
    """The code with which a creation is refused; nothing is left of it."""
    with pytest.raises(ProviderError) as raised:
        create(provider, world, type_token, **inputs)
    return code_of(raised.value)


def sample(world: World, type_token: str, **changes: Any) -> dict[str, Any]:
    return {**SAMPLES[type_token].inputs(world), **changes}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.aws.terraform.objects.PATIENCE", 0)


# -- order of deletion


def _mount_target(world: World, subnet: str, group: str) -> tuple[str, dict[str, Any]]:
    names = {"fileSystemId": world.file_system(), "subnetId": subnet, "securityGroups": [group]}
    return world.make("aws:efs/mountTarget:MountTarget", **names)


def _place(world: World) -> tuple[str, str]:
    subnet = world.subnets(1)[0]
    vpc = world.aws.call("ec2", "describe_subnets", SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    return subnet, world.make(GROUP, name=world.unique("group"), vpcId=vpc)[0]


def _delete(provider: AwsProvider, world: World, type_token: str, id: str) -> None:
    provider.delete(world.aws, of(type_token), id, {}, {})


def test_a_subnet_and_a_group_under_a_mount_target_stay(provider: AwsProvider, world: World) -> None:
    subnet, group = _place(world)
    id, outputs = _mount_target(world, subnet, group)
    for type_token, one in ((SUBNET, subnet), (GROUP, group)):
        with pytest.raises(ProviderError) as raised:
            _delete(provider, world, type_token, one)
        assert code_of(raised.value) == "DependencyViolation"
    world.objects("aws:efs/mountTarget:MountTarget").delete(id, outputs)
    _delete(provider, world, GROUP, group)
    _delete(provider, world, SUBNET, subnet)


def test_a_subnet_of_a_cluster_or_a_file_system_stays(provider: AwsProvider, world: World) -> None:
    subnets = world.subnets()
    world.make(CLUSTER, name=world.unique("c"), roleArn=world.role()["arn"], vpcConfig={"subnetIds": subnets})
    with pytest.raises(ProviderError, match="has dependencies and cannot be deleted: cluster c-"):
        _delete(provider, world, SUBNET, subnets[1])
    lustre = SAMPLES["aws:fsx/lustreFileSystem:LustreFileSystem"].inputs(world)
    world.make("aws:fsx/lustreFileSystem:LustreFileSystem", **lustre)
    with pytest.raises(ProviderError, match="cannot be deleted: file system fs-"):
        _delete(provider, world, SUBNET, lustre["subnetIds"])


NAT, ENDPOINT = "aws:ec2/natGateway:NatGateway", "aws:ec2/vpcEndpoint:VpcEndpoint"


@pytest.mark.parametrize("type_token", [NAT, ENDPOINT])
def test_a_subnet_is_free_once_what_had_an_interface_in_it_is_deleted(
    provider: AwsProvider, world: World, type_token: str
) -> None:
    inputs = sample(world, type_token)
    subnet = inputs["subnetId"] if type_token == NAT else inputs["subnetIds"][0]
    id, outputs = create(provider, world, type_token, **inputs)
    with pytest.raises(ProviderError, match="DependencyViolation"):
        _delete(provider, world, SUBNET, subnet)
    provider.delete(world.aws, of(type_token), id, outputs, inputs)
    _delete(provider, world, SUBNET, subnet)


def test_a_group_that_is_the_source_of_another_groups_rule_stays(provider: AwsProvider, world: World) -> None:
    _, source = _place(world)
    vpc = world.aws.call("ec2", "describe_security_groups", GroupIds=[source])["SecurityGroups"][0]["VpcId"]
    other = world.make(GROUP, name=world.unique("other"), vpcId=vpc)[0]
    allow = {"securityGroupId": other, "referencedSecurityGroupId": source, "ipProtocol": "-1"}
    rule, outputs = world.make("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", **allow)
    with pytest.raises(ProviderError, match=f"DependencyViolation.*a rule of {other}"):
        _delete(provider, world, GROUP, source)
    world.objects("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule").delete(rule, outputs)
    _delete(provider, world, GROUP, source)


# -- keys


KEY_USERS = [
    (CLUSTER, lambda key: {"encryptionConfig": {"provider": {"keyArn": key}, "resources": ["secrets"]}},
     "InvalidRequestException"),
    ("aws:efs/fileSystem:FileSystem", lambda key: {"kmsKeyId": key}, "BadRequest"),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", lambda key: {"kmsKeyId": key}, "BadRequest"),
    ("aws:cloudwatch/logGroup:LogGroup", lambda key: {"kmsKeyId": key}, "InvalidParameterException"),
    ("aws:ecr/repository:Repository",
     lambda key: {"encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": key}]}, "KmsException"),
    ("aws:kms/alias:Alias", lambda key: {"targetKeyId": key}, "KMSInvalidStateException"),
]  # fmt: skip


@pytest.mark.parametrize(("type_token", "change", "code"), KEY_USERS)
def test_a_key_that_does_not_exist_or_is_pending_deletion_is_refused(
    provider: AwsProvider, world: World, type_token: str, change: Any, code: str
) -> None:
    key = world.key()
    world.aws.call("kms", "schedule_key_deletion", KeyId=key["keyId"], PendingWindowInDays=7)
    unknown = f"{key['arn'][:-36]}00000000-0000-0000-0000-000000000000"
    inputs = sample(world, type_token)
    for one in (key["arn"], unknown):
        assert refused(provider, world, type_token, **{**inputs, **change(one)}) == code
    usable = world.key()
    policy = document("kms:*", Principal="*")
    world.aws.call("kms", "put_key_policy", KeyId=usable["keyId"], PolicyName="default", Policy=policy)
    create(provider, world, type_token, **{**inputs, **change(usable["arn"])})


# -- clusters and node groups


def test_a_group_follows_its_cluster_and_does_not_go_ahead_or_far_back(provider: AwsProvider, world: World) -> None:
    name, inputs = world.unique("main"), sample(world, NODES)
    cluster = sample(world, CLUSTER, name=name, version="1.34")
    _, made = create(provider, world, CLUSTER, **cluster)
    inputs |= {"clusterName": name, "version": "1.34"}
    id, outputs = create(provider, world, NODES, **inputs)
    newer = {**inputs, "version": "1.35"}
    with pytest.raises(ProviderError, match=r"InvalidParameterException.*1\.35 is not supported by the version 1"):
        provider.update(world.aws, of(NODES), id, outputs, newer, inputs)
    provider.update(world.aws, of(CLUSTER), name, made, {**cluster, "version": "1.35"}, cluster)
    outputs = provider.update(world.aws, of(NODES), id, outputs, newer, inputs)
    group = world.aws.call("eks", "describe_nodegroup", clusterName=name, nodegroupName=inputs["nodeGroupName"])
    assert group["nodegroup"]["version"] == "1.35"
    with pytest.raises(ProviderError, match=r"back to 1\.33"):
        provider.update(world.aws, of(NODES), id, outputs, {**inputs, "version": "1.33"}, newer)


def test_a_control_plane_goes_back_by_one_version_after_its_nodes_and_within_seven_days(
    provider: AwsProvider, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EKS User Guide, rollback-cluster.html."""
    name, inputs = world.unique("back"), sample(world, NODES)
    before = sample(world, CLUSTER, name=name, version="1.35")
    _, made = create(provider, world, CLUSTER, **before)
    inputs |= {"clusterName": name, "version": "1.35"}
    id, outputs = create(provider, world, NODES, **inputs)

    def move(version: str, since: str) -> None:
        provider.update(
            world.aws, of(CLUSTER), name, made, {**before, "version": version}, {**before, "version": since}
        )

    with pytest.raises(ProviderError, match=r"no in-place upgrade to 1\.35 in the last 7 days"):
        move("1.34", "1.35")
    move("1.36", "1.35")
    newer = {**inputs, "version": "1.36"}
    outputs = provider.update(world.aws, of(NODES), id, outputs, newer, inputs)
    with pytest.raises(ProviderError, match=rf"node groups {inputs['nodeGroupName']} \(1\.36\)"):
        move("1.35", "1.36")
    provider.update(world.aws, of(NODES), id, outputs, inputs, newer)
    with monkeypatch.context() as later:
        later.setattr(clusters, "utcnow", lambda: utcnow() + timedelta(days=8))
        with pytest.raises(ProviderError, match="in the last 7 days"):
            move("1.35", "1.36")
    move("1.35", "1.36")
    assert world.aws.call("eks", "describe_cluster", name=name)["cluster"]["version"] == "1.35"
    with pytest.raises(ProviderError, match="in the last 7 days"):
        move("1.34", "1.35")


def test_a_control_plane_does_not_leave_its_nodes_too_far_behind(provider: AwsProvider, world: World) -> None:
    name, inputs = world.unique("far"), sample(world, NODES)
    create(provider, world, CLUSTER, **sample(world, CLUSTER, name=name, version="1.32"))
    create(provider, world, NODES, **inputs | {"clusterName": name, "version": "1.32"})
    for version in ("1.33", "1.34", "1.35"):
        world.aws.call("eks", "update_cluster_version", name=name, version=version)
    with pytest.raises(AwsError, match=rf"node groups {inputs['nodeGroupName']} \(1\.32\)"):
        world.aws.call("eks", "update_cluster_version", name=name, version="1.36")


def test_each_zone_of_a_group_offers_one_of_its_types(provider: AwsProvider, world: World) -> None:
    """p4de.24xlarge is in use1-az4 and use1-az6; in moto's us-east-1 these are the zones d and a."""
    east = World(replace(world.aws, region="us-east-1"))
    inputs = {name: value for name, value in sample(east, NODES).items() if name != "launchTemplate"}
    here, elsewhere = inputs["subnetIds"]
    with pytest.raises(ProviderError, match=r"\(p4de.24xlarge\) is not supported in your requested Availability Zone"):
        create(provider, east, NODES, **inputs, instanceTypes=["p4de.24xlarge"])
    create(provider, east, NODES, **{**inputs, "subnetIds": [here]}, instanceTypes=["p4de.24xlarge"])
    mixed = {**inputs, "subnetIds": [elsewhere], "nodeGroupName": "mixed"}
    create(provider, east, NODES, **mixed, instanceTypes=["p4de.24xlarge", "m7i.2xlarge"])


# -- what EKS has in some zones, and for some versions


def test_a_control_plane_is_in_zones_that_have_one(provider: AwsProvider, world: World) -> None:
    """By the ID of the zone, which moto names as an account may: its us-east-1e is use1-az3."""
    there = World(replace(world.aws, region="us-east-1"))
    vpc = there.vpc()
    *right, wrong = (
        there.make(SUBNET, vpcId=vpc, cidrBlock=f"10.1.{at}.0/24", availabilityZone=f"us-east-1{zone}")[0]
        for at, zone in enumerate("abcdfe")
    )
    inputs = sample(there, CLUSTER, name=there.unique("main"), vpcConfig={"subnetIds": right})
    more = {**inputs, "vpcConfig": {"subnetIds": [*right, wrong]}}
    said = "UnsupportedAvailabilityZoneException.* does not support creating control plane instances in us-east-1e, "
    with pytest.raises(ProviderError, match=said + ".*: us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1f. "):
        create(provider, there, CLUSTER, **more)
    id, outputs = create(provider, there, CLUSTER, **inputs)
    with pytest.raises(ProviderError, match="UnsupportedAvailabilityZoneException"):
        provider.update(there.aws, of(CLUSTER), id, outputs, more, inputs)


@pytest.mark.parametrize(("image", "kind"), [("AL2_x86_64_GPU", "g5.xlarge"), ("AL2_ARM_64", "m7g.large")])
def test_images_of_amazon_linux_2_end_with_a_version(
    provider: AwsProvider, world: World, image: str, kind: str
) -> None:
    inputs = sample(world, NODES, instanceTypes=[kind], amiType=image, launchTemplate=None)
    with pytest.raises(
        ProviderError, match=f"AMI Type {image} is only supported for kubernetes versions 1.32 or earlier"
    ):
        create(provider, world, NODES, **inputs)
    cluster = sample(world, CLUSTER, name=world.unique("old"), version="1.32")
    name, made = create(provider, world, CLUSTER, **cluster)
    id, outputs = create(provider, world, NODES, **(old := {**inputs, "clusterName": name, "version": "1.32"}))
    provider.update(world.aws, of(CLUSTER), name, made, {**cluster, "version": "1.33"}, cluster)
    with pytest.raises(ProviderError, match="is only supported for kubernetes versions"):
        provider.update(world.aws, of(NODES), id, outputs, {**old, "version": "1.33"}, old)
    grown = {**old, "scalingConfig": {"minSize": 1, "maxSize": 9, "desiredSize": 1}}
    provider.update(world.aws, of(NODES), id, outputs, grown, old)


# -- IAM


def test_the_inline_policies_of_a_role_are_added_up(provider: AwsProvider, world: World) -> None:
    role = world.role()["name"]
    half = {"role": role, "policy": document("s3:GetObject", f"arn:aws:s3:::{'x' * 5100}")}
    create(provider, world, INLINE, **half, name="one")
    assert refused(provider, world, INLINE, **half, name="two") == "LimitExceeded"
    small = {**half, "policy": document("s3:GetObject"), "name": "two"}
    id, outputs = create(provider, world, INLINE, **small)
    with pytest.raises(ProviderError, match="LimitExceeded: Maximum policy size of 10240 bytes"):
        provider.update(world.aws, of(INLINE), id, outputs, {**half, "name": "two"}, small)


def test_a_role_has_ten_managed_policies(provider: AwsProvider, world: World) -> None:
    role = world.role()["name"]
    for index in range(11):
        name = world.unique(f"policy-{index}")
        policy = world.make("aws:iam/policy:Policy", name=name, policy=document("s3:GetObject"))[0]
        if index < 10:
            create(provider, world, ATTACHMENT, role=role, policyArn=policy)
        else:
            assert refused(provider, world, ATTACHMENT, role=role, policyArn=policy) == "LimitExceeded"


# -- network and cluster contents


@pytest.mark.parametrize("type_token", [ADDON, ENTRY, POD])
def test_what_a_cluster_contains_exists_once(provider: AwsProvider, world: World, type_token: str) -> None:
    inputs = sample(world, type_token)
    id, outputs = create(provider, world, type_token, **inputs)
    assert refused(provider, world, type_token, **inputs) == "ResourceInUseException"
    nowhere = {**inputs, "clusterName": "nowhere"}
    assert refused(provider, world, type_token, **nowhere) == "ResourceNotFoundException"
    provider.delete(world.aws, of(type_token), id, outputs, inputs)
    create(provider, world, type_token, **inputs)


def test_a_control_plane_skips_no_version(provider: AwsProvider, world: World) -> None:
    cluster = sample(world, CLUSTER, name=world.unique("main"), version="1.33")
    id, outputs = create(provider, world, CLUSTER, **cluster)
    with pytest.raises(ProviderError, match="InvalidParameterException: Unsupported Kubernetes minor version update"):
        provider.preview_update(world.aws, of(CLUSTER), id, outputs, {**cluster, "version": "1.35"}, cluster)


IMAGE = {"imageId": "ami-12345678"}
BLOCK = {"instanceMarketOptions": {"marketType": "capacity-block"}}


@pytest.mark.parametrize(
    ("template", "group", "says"),
    [
        ({"iamInstanceProfile": {"name": "nodes"}}, {}, "instance profile"),
        ({"instanceInitiatedShutdownBehavior": "terminate"}, {}, "shutdown"),
        ({"networkInterfaces": [{"deviceIndex": 0, "subnetId": "subnet-00000001"}]}, {}, "subnets"),
        (IMAGE, {"amiType": "AL2023_x86_64_STANDARD"}, "amiType"),
        (IMAGE, {"amiType": "CUSTOM", "releaseVersion": "1.35.6-20260714"}, "releaseVersion"),
        ({}, {"capacityType": "CAPACITY_BLOCK"}, "CAPACITY_BLOCK"),
        (BLOCK, {"capacityType": "CAPACITY_BLOCK"}, "CAPACITY_BLOCK"),
        (IMAGE, {"amiType": "CUSTOM"}, ""),
        ({}, {"amiType": "AL2023_x86_64_STANDARD"}, ""),
    ],
)
def test_a_template_of_a_group_has_nothing_that_eks_sets(
    world: World, template: dict[str, Any], group: dict[str, Any], says: str
) -> None:
    id = world.make("aws:ec2/launchTemplate:LaunchTemplate", name=world.unique("nodes"), **template)[0]
    names = {"clusterName": "none", "nodegroupName": "none", "nodeRole": "arn:aws:iam::123456789012:role/nodes"}
    given = {"launchTemplate": {"id": id, "version": "1"}, **names, **group}
    found = [words for _, words in requests.problems(world.aws, "eks", "create_nodegroup", given)]
    assert says in found[0] if says and found else not found and not says
