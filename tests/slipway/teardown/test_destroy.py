"""The order of a `destroy` on AWS, what stops it before anything is removed, and what is left there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from moto import mock_aws

from sandbox.kubernetes.client import KubeClient, UnreachableError
from slipway.account.context import session
from slipway.engine.invocation import Operation, Request
from slipway.teardown import leftovers
from slipway.teardown.destroy import EXIT_LEFT, Teardown
from slipway.teardown.inside import Emptied
from slipway.teardown.leftovers import (
    BALANCER,
    INSTANCE,
    INTERFACE,
    TEMPLATE,
    VOLUME,
    Client,
    Leftover,
    LeftoverSearch,
    find,
    sweep,
    warnings,
)
from spec.errors import SlipwayError
from tests.spec.settings.stack import loaded

PLATFORM: Final = loaded({"pools.cpu.disruption.terminationGracePeriod": "1h30m"}).platform
REQUEST: Final = Request(operation=Operation.DESTROY, stack="test", yes=True)
HELD: Final = Leftover(INTERFACE, "eni-1")
KINDS: Final = (INSTANCE, BALANCER, INTERFACE, VOLUME, TEMPLATE)


@dataclass
class Aws:
    """An account and a cluster, and what is done to them in order."""

    account: str = PLATFORM.account.id
    cluster: bool = True
    answers: bool = True
    stays: bool = False
    left_inside: tuple[str, ...] = ()
    leftovers: list[Leftover] = field(default_factory=list)
    codes: list[int] = field(default_factory=lambda: [0])
    done: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    seconds: float = 0
    cleared: list[str] = field(default_factory=list)

    def client(self, service: str) -> Any:
        assert service == "sts"
        return type("Sts", (), {"get_caller_identity": lambda _: {"Account": self.account}})()

    def connect(self) -> KubeClient | None:
        return KubeClient.__new__(KubeClient) if self.cluster else None

    def empty(self, connect: Callable[[], KubeClient], say: Callable[[str], None], seconds: float) -> Emptied:
        assert isinstance(connect(), KubeClient)
        if not self.answers:
            msg = "the API server at https://x does not answer"
            raise UnreachableError(msg)
        self.seconds = seconds
        self.done.append("empty")
        return Emptied(self.left_inside, frozenset({"vol-deleted"}))

    def sweep(
        self, search: LeftoverSearch, wanted: Callable[[Leftover], bool], say: Callable[[str], None]
    ) -> list[Leftover]:
        assert search.cluster == "slipway-test"
        self.done.append("sweep " + " ".join(kind for kind in KINDS if wanted(Leftover(kind, "vol-unknown"))))
        self.leftovers = [one for one in self.leftovers if not wanted(one)]
        return self.leftovers

    def run(self, request: Request) -> int:
        self.requests.append(request)
        self.done.append("engine")
        code = self.codes.pop(0)
        self.cluster = self.cluster and (bool(code) or self.stays)
        return code

    def destroy(self, request: Request = REQUEST, *, delete_volumes: bool = False) -> int:
        return Teardown(
            platform=PLATFORM,
            client=self.client,
            connect=self.connect,
            run=self.run,
            say=self.said.append,
            delete_volumes=delete_volumes,
            empty=self.empty,
            sweep=self.sweep,
            clear=lambda _client, stack, _say: self.cleared.append(stack),
            warn=lambda _, left: [f"the key of {one}" for one in left if one.kind == VOLUME],
        ).destroy(request)


EVERYTHING: Final = "sweep instance load balancer network interface launch template"


def test_the_cluster_is_emptied_before_the_engine_and_the_rest_is_removed_after() -> None:
    aws = Aws()
    assert aws.destroy() == 0
    assert aws.done == ["empty", "sweep load balancer", "engine", EVERYTHING]
    assert not aws.requests[0].unreachable
    assert aws.cleared == [PLATFORM.environment.name]


def test_it_waits_as_long_as_the_slowest_pool_may_drain() -> None:
    """340 h of the training pools, and an hour more."""
    aws = Aws()
    aws.destroy()
    assert aws.seconds == 341 * 3600


def test_credentials_of_another_account_remove_nothing() -> None:
    aws = Aws(account="999999999999")
    with pytest.raises(SlipwayError, match="account 999999999999"):
        aws.destroy()
    assert aws.done == []


def test_a_cluster_that_still_keeps_resources_is_not_destroyed() -> None:
    aws = Aws(left_inside=("Service vision/ui",))
    with pytest.raises(SlipwayError, match="  - Service vision/ui"):
        aws.destroy()
    assert aws.done == ["empty"]


def test_a_cluster_that_does_not_answer_is_not_destroyed_unless_it_is_said_to_be_lost() -> None:
    aws = Aws(answers=False)
    with pytest.raises(SlipwayError, match="--unreachable"):
        aws.destroy()
    assert aws.done == []
    lost = Aws(answers=False)
    request = Request(operation=Operation.DESTROY, stack="test", yes=True, unreachable=True)
    assert lost.destroy(request) == 0
    assert lost.done == ["sweep instance load balancer network interface", "engine", EVERYTHING]
    assert lost.requests[0].unreachable


def test_a_cluster_that_is_gone_is_forgotten() -> None:
    gone = Aws(cluster=False)
    assert gone.destroy() == 0
    assert gone.requests[0].unreachable
    assert gone.done[0] == "sweep instance load balancer network interface"


def test_after_a_failure_the_engine_runs_again_if_something_was_in_its_way() -> None:
    aws = Aws(codes=[255, 0], leftovers=[HELD])
    assert aws.destroy() == 0
    assert aws.done.count("engine") == 2
    for_good = Aws(codes=[255])
    assert for_good.destroy() == 255
    assert for_good.done == ["empty", "sweep load balancer", "engine", "sweep "]


def test_what_a_cluster_uses_that_still_exists_is_only_listed() -> None:
    """The engine keeps it, by an argument of its own."""
    leftovers = [Leftover(INSTANCE, "i-1"), Leftover(VOLUME, "vol-deleted")]
    aws = Aws(stays=True, leftovers=list(leftovers))
    assert aws.destroy(delete_volumes=True) == EXIT_LEFT
    assert aws.leftovers == leftovers


def test_volumes_are_deleted_only_if_their_claims_asked_for_it() -> None:
    volumes = [Leftover(VOLUME, "vol-deleted", "vision/a"), Leftover(VOLUME, "vol-unknown", "vision/b", 250)]
    aws = Aws(leftovers=list(volumes))
    assert aws.destroy() == EXIT_LEFT
    assert aws.leftovers == volumes[1:]
    assert "volume vol-unknown (vision/b, 250 GiB)" in aws.said[-1]
    assert "250 GiB, 20.00 USD a month as gp3" in aws.said[-1]
    assert "--delete-volumes" in aws.said[-1]
    assert aws.said[-1].endswith("the key of volume vol-unknown (vision/b, 250 GiB)")
    lost = Aws(cluster=False, leftovers=list(volumes))
    assert lost.destroy() == EXIT_LEFT
    assert lost.leftovers == volumes
    assert Aws(leftovers=list(volumes)).destroy(delete_volumes=True) == 0


# What controllers of the cluster left in AWS.


# What controllers of a cluster leave, in moto: found by their tags, removed in an order that AWS accepts.


CLUSTER: Final = "slipway-dev"
OWNED: Final = {f"kubernetes.io/cluster/{CLUSTER}": "owned"}
OTHER: Final = {"kubernetes.io/cluster/slipway-other": "owned"}


CLIENT: Final = session("us-east-1", {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret"})
"""One for all tests: it reads each service's model once. What moto holds ends with each test."""


@pytest.fixture
def client() -> Iterator[Client]:
    with mock_aws():
        yield CLIENT


def tags(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in values.items()]


def spec(kind: str, values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tags(values)}]


class World:
    """A VPC with resources of controllers, of this cluster and of others."""

    def __init__(self, client: Client) -> None:
        self.ec2, self.elb, self.classic = client("ec2"), client("elbv2"), client("elb")
        self.vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnets = [
            self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-east-1{letter}")[
                "Subnet"
            ]["SubnetId"]
            for n, letter in enumerate("ab")
        ]

    def volume(self, values: dict[str, str], claim: str = "home-ada") -> str:
        named = {"kubernetes.io/created-for/pvc/name": claim, "kubernetes.io/created-for/pvc/namespace": "vision"}
        made = self.ec2.create_volume(
            AvailabilityZone="us-east-1a", Size=1, TagSpecifications=spec("volume", {**values, **named})
        )
        return str(made["VolumeId"])

    def interface(self, cluster: str) -> str:
        values = {"cluster.k8s.amazonaws.com/name": cluster}
        made = self.ec2.create_network_interface(
            SubnetId=self.subnets[0], TagSpecifications=spec("network-interface", values)
        )
        return str(made["NetworkInterface"]["NetworkInterfaceId"])

    def group(self, name: str, values: dict[str, str]) -> str:
        made = self.ec2.create_security_group(
            GroupName=name, Description=name, VpcId=self.vpc, TagSpecifications=spec("security-group", values)
        )
        return str(made["GroupId"])

    def balancer(self, name: str, cluster: str, group: str) -> str:
        made = self.elb.create_load_balancer(
            Name=name, Subnets=self.subnets, SecurityGroups=[group], Tags=tags({"elbv2.k8s.aws/cluster": cluster})
        )
        return str(made["LoadBalancers"][0]["LoadBalancerArn"])

    def targets(self, name: str, cluster: str) -> str:
        made = self.elb.create_target_group(
            Name=name, Protocol="HTTP", Port=80, VpcId=self.vpc, Tags=tags({"elbv2.k8s.aws/cluster": cluster})
        )
        return str(made["TargetGroups"][0]["TargetGroupArn"])

    def classic_balancer(self, name: str, values: dict[str, str]) -> str:
        listener = {"Protocol": "TCP", "LoadBalancerPort": 80, "InstancePort": 30080}
        self.classic.create_load_balancer(
            LoadBalancerName=name, Listeners=[listener], Subnets=self.subnets, Tags=tags(values)
        )
        return name

    def instance(self, values: dict[str, str]) -> str:
        made = self.ec2.run_instances(
            ImageId="ami-12c6146b", MinCount=1, MaxCount=1, TagSpecifications=spec("instance", values)
        )
        return str(made["Instances"][0]["InstanceId"])

    def template(self, name: str, cluster: str) -> str:
        made = self.ec2.create_launch_template(
            LaunchTemplateName=name,
            LaunchTemplateData={"InstanceType": "m7i.large"},
            TagSpecifications=spec("launch-template", {"karpenter.k8s.aws/cluster": cluster}),
        )
        return str(made["LaunchTemplate"]["LaunchTemplateId"])


def everything(world: World) -> set[tuple[str, str]]:
    """One of each kind for this cluster, and the like for another one, and what EKS and the stack own."""
    group = world.group("k8s-models", {"elbv2.k8s.aws/cluster": CLUSTER})
    world.group("eks-cluster-sg", {**OWNED, "aws-eks": "x"})
    other = world.group("k8s-other", {"elbv2.k8s.aws/cluster": "slipway-other"})
    world.balancer("other", "slipway-other", other)
    world.targets("other", "slipway-other")
    world.classic_balancer("other", OTHER)
    world.volume(OTHER)
    world.interface("slipway-other")
    world.instance({**OTHER, "karpenter.sh/nodepool": "cpu"})
    world.instance(OWNED)  # of a managed node group: EKS terminates it
    world.template("other", "slipway-other")
    return {
        (leftovers.INSTANCE, world.instance({**OWNED, "karpenter.sh/nodepool": "cpu"})),
        (leftovers.BALANCER, world.balancer("models", CLUSTER, group)),
        (leftovers.CLASSIC, world.classic_balancer("legacy", {**OWNED, "kubernetes.io/service-name": "vision/ui"})),
        (leftovers.TARGETS, world.targets("models", CLUSTER)),
        (leftovers.INTERFACE, world.interface(CLUSTER)),
        (leftovers.GROUP, group),
        (leftovers.VOLUME, world.volume(OWNED)),
        (leftovers.VOLUME, world.volume({"ebs.csi.aws.com/cluster-name": CLUSTER}, "home-bob")),
        (leftovers.TEMPLATE, world.template("Karpenter-1", CLUSTER)),
    }


def without_cluster_group(found: list[Leftover]) -> list[Leftover]:
    """moto refuses tags that begin with `aws:`, so the group that EKS tags so can't be recognised there."""
    return [one for one in found if one.name != "eks-cluster-sg"]


def test_each_kind_is_found_by_its_tags_and_nothing_of_others(client: Client) -> None:
    expected = everything(World(client))
    found = without_cluster_group(find(LeftoverSearch(client, CLUSTER)))
    assert {(one.kind, one.id) for one in found} == expected
    assert [one.kind for one in found] == sorted((one.kind for one in found), key=leftovers.ORDER.index)
    volumes = {(one.name, one.gib) for one in found if one.kind == leftovers.VOLUME}
    assert volumes == {("vision/home-ada", 1), ("vision/home-bob", 1)}


def test_the_log_group_that_eks_made_again_is_removed_and_a_programs_own_stays(client: Client) -> None:
    logs, name = client("logs"), f"/aws/eks/{CLUSTER}/cluster"
    logs.create_log_group(logGroupName=name)
    logs.create_log_group(logGroupName=f"{name}-of-mine")
    assert sweep(LeftoverSearch(client, CLUSTER), lambda _: True, lambda _: None, sleep=lambda _: None) == []
    assert [one["logGroupName"] for one in logs.describe_log_groups()["logGroups"]] == [f"{name}-of-mine"]
    logs.create_log_group(logGroupName=name)
    logs.put_retention_policy(logGroupName=name, retentionInDays=7)
    assert find(LeftoverSearch(client, CLUSTER)) == []


def test_the_group_that_eks_owns_is_not_a_leftover() -> None:
    class Ec2:
        def get_paginator(self, operation: str) -> Any:
            key = "SecurityGroups" if operation == "describe_security_groups" else ""
            owned = {"GroupId": "sg-1", "GroupName": "eks", "Tags": tags({**OWNED, "aws:eks:cluster-name": CLUSTER})}
            return type("Pages", (), {"paginate": lambda _, **__: [Page({key: [owned]})]})()

    class Page(dict[str, Any]):
        def __missing__(self, _: str) -> list[Any]:
            return []

    assert list(leftovers._of_ec2(Ec2(), CLUSTER)) == []


def test_volumes_that_the_cluster_named_are_found_without_tags(client: Client) -> None:
    world = World(client)
    untagged = world.ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    tagged = world.volume(OWNED)
    assert {one.id for one in find(LeftoverSearch(client, CLUSTER))} == {tagged}
    assert {one.id for one in find(LeftoverSearch(client, CLUSTER, frozenset({untagged, tagged})))} == {
        untagged,
        tagged,
    }


def test_many_load_balancers_are_described_in_batches(client: Client) -> None:
    world = World(client)
    names = {world.classic_balancer(f"lb-{number}", OWNED) for number in range(25)}
    assert {one.id for one in find(LeftoverSearch(client, CLUSTER))} == names


def test_a_sweep_removes_what_is_wanted_and_lists_the_rest(client: Client) -> None:
    expected = everything(World(client))
    said: list[str] = []
    left = sweep(
        LeftoverSearch(client, CLUSTER), lambda one: one.kind != leftovers.VOLUME, said.append, sleep=lambda _: None
    )
    volumes = {each for each in expected if each[0] == leftovers.VOLUME}
    assert {(one.kind, one.id) for one in without_cluster_group(left)} == volumes
    for kind, key in expected - volumes:
        assert any(text.startswith(f"removing {kind} {key}") for text in said), kind


def test_what_aws_refuses_to_remove_is_tried_again_and_then_reported(client: Client) -> None:
    world = World(client)
    instance, volume = world.instance({"Name": "user"}), world.volume(OWNED)
    world.ec2.attach_volume(InstanceId=instance, VolumeId=volume, Device="/dev/sdf")
    said: list[str] = []
    left = sweep(LeftoverSearch(client, CLUSTER), lambda _: True, said.append, seconds=0, sleep=lambda _: None)
    assert [one.id for one in left] == [volume]
    assert "VolumeInUse" in said[-1]
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            world.ec2.detach_volume(VolumeId=volume, InstanceId=instance)

    assert sweep(LeftoverSearch(client, CLUSTER), lambda _: True, lambda _: None, sleep=sleep) == []
    assert len(waited) == 3


# Volumes that are left, and the deletion of their key, in moto.


def volume(client: Client, key: str | None) -> Leftover:
    encryption = {"Encrypted": True, "KmsKeyId": key} if key else {}
    return Leftover(
        VOLUME, client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=1, **encryption)["VolumeId"]
    )


def test_a_key_that_is_about_to_be_deleted_is_named_with_the_commands_that_keep_it(client: Client) -> None:
    kms = client("kms")
    key, other = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    left = [volume(client, key), volume(client, key), volume(client, other), volume(client, None)]
    assert warnings(client, left) == []
    id = key.rpartition("/")[2]
    kms.schedule_key_deletion(KeyId=id, PendingWindowInDays=7)
    (line,) = warnings(client, left)
    assert line.startswith("2 of the volumes can't be read after 20")
    assert line.endswith(f"aws kms cancel-key-deletion --key-id {id} && aws kms enable-key --key-id {id}")


def test_those_commands_make_the_key_usable_again(client: Client) -> None:
    kms = client("kms")
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    left = [volume(client, key)]
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
    kms.cancel_key_deletion(KeyId=key)
    kms.enable_key(KeyId=key)
    assert warnings(client, left) == []
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Enabled"


def test_without_volumes_aws_is_not_asked(client: Client) -> None:
    def refuse(service: str) -> Client:
        raise AssertionError(service)

    assert warnings(refuse, []) == warnings(refuse, [Leftover(TEMPLATE, "lt-1")]) == []


@mock_aws
def test_only_buckets_of_the_stack_without_files_are_emptied() -> None:
    client = session("us-east-1", {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"})
    s3, said = client("s3"), list[str]()
    kept = {"slipway-dev-storage-raw-1": b"", "slipway-dev-storage-models-2": b"x", "slipway-prod-storage-raw-3": b""}
    for name, content in kept.items():
        s3.create_bucket(Bucket=name)
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        for key in ("vision/", "language/", *(["vision/model"] if content else [])):
            s3.put_object(Bucket=name, Key=key, Body=content if key == "vision/model" else b"")
        s3.delete_object(Bucket=name, Key="language/")
    leftovers.clear_directories(client, "dev", said.append)
    assert said == ["emptying bucket slipway-dev-storage-raw-1, which has directories of teams and no files"]
    left = {name: len(s3.list_object_versions(Bucket=name).get("Versions", ())) for name in kept}
    assert left == {"slipway-dev-storage-raw-1": 0, "slipway-dev-storage-models-2": 3, "slipway-prod-storage-raw-3": 2}
    s3.delete_bucket(Bucket="slipway-dev-storage-raw-1")
