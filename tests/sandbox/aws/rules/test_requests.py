# ruff: noqa: E501 - a row of the table is a line
"""What the account refuses of a request is refused of any client; and at preview, if nothing can change until `up`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.aws import rules
from sandbox.aws.client import Aws, AwsError, Clients
from sandbox.aws.client import World as Shared
from sandbox.aws.limits.values import CODES
from sandbox.aws.provider import AwsProvider
from sandbox.aws.rules import requests
from sandbox.aws.rules.policies import admits
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import World
from tests.sandbox.aws.samples.world import PROCESSES, document, known

PLACE = {"account": "123456789012", "region": "us-west-2"}
LUSTRE = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"]}
DATABASE = {"DBInstanceIdentifier": "d", "DBInstanceClass": "db.m7g.large", "AllocatedStorage": 20}


def expiry(**selection: Any) -> dict[str, Any]:
    return {"repositoryName": "r", "lifecyclePolicyText": json.dumps({"rules": [{"selection": selection}]})}


def records(zone: str, **record: Any) -> dict[str, Any]:
    return {"HostedZoneId": zone, "ChangeBatch": {"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]}}


def lustre(deployment: str, storage: str = "SSD", *, capacity: int | None = None, **more: Any) -> dict[str, Any]:
    version = more.pop("FileSystemTypeVersion", None)
    return {**LUSTRE, "StorageType": storage, **({"StorageCapacity": capacity} if capacity else {}),
            **({"FileSystemTypeVersion": version} if version else {}),
            "LustreConfiguration": {"DeploymentType": deployment, **more}}  # fmt: skip


def notified(unit: str, kind: str) -> dict[str, Any]:
    return {
        "Budget": {"TimeUnit": unit},
        "NotificationsWithSubscribers": [{"Notification": {"NotificationType": kind}}],
    }


def aged(days: int) -> dict[str, Any]:
    return {"BackupPlan": {"Rules": [{"Lifecycle": {"MoveToColdStorageAfterDays": 30, "DeleteAfterDays": days}}]}}


# Operation, wrong parameters, right ones.
PARAMETERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ec2.create_volume", {"VolumeType": "gp3", "Size": 8, "Iops": 16000}, {"VolumeType": "gp3", "Size": 32, "Iops": 16000}),
    ("ec2.create_volume", {"VolumeType": "gp3", "Iops": 3000, "Throughput": 1000}, {"VolumeType": "gp3", "Iops": 4000, "Throughput": 1000}),
    ("ec2.create_volume", {"VolumeType": "io1", "Size": 10, "Iops": 600}, {"VolumeType": "io2", "Size": 10, "Iops": 600}),
    ("ec2.create_volume", {"VolumeType": "gp2", "Iops": 3000}, {"VolumeType": "gp3", "Size": 1, "Iops": 3000}),
    ("ec2.create_capacity_reservation", {"EndDateType": "limited"}, {"EndDateType": "limited", "EndDate": "2027-01-01"}),
    ("ec2.create_nat_gateway", {"ConnectivityType": "private", "AllocationId": "eipalloc-1"}, {"ConnectivityType": "private"}),
    ("efs.create_file_system", {"AvailabilityZoneName": "us-west-2a", "PerformanceMode": "maxIO"}, {"PerformanceMode": "maxIO"}),
    ("efs.create_file_system", {"ThroughputMode": "provisioned"}, {"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 64}),
    ("fsx.create_file_system", lustre("PERSISTENT_2", "INTELLIGENT_TIERING"), lustre("PERSISTENT_2", "INTELLIGENT_TIERING", ThroughputCapacity=4000)),
    ("fsx.create_file_system", lustre("PERSISTENT_2", "INTELLIGENT_TIERING", ThroughputCapacity=4100), lustre("PERSISTENT_2", "INTELLIGENT_TIERING", ThroughputCapacity=8000)),
    ("fsx.create_file_system", lustre("PERSISTENT_2", FileSystemTypeVersion="2.10"), lustre("PERSISTENT_1", FileSystemTypeVersion="2.10", PerUnitStorageThroughput=50)),
    ("fsx.create_file_system", lustre("PERSISTENT_2", MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 2000}), lustre("PERSISTENT_2", MetadataConfiguration={"Mode": "USER_PROVISIONED", "Iops": 24000}, PerUnitStorageThroughput=125)),
    ("fsx.create_file_system", lustre("PERSISTENT_2", capacity=2400, EfaEnabled=True, PerUnitStorageThroughput=1000), lustre("PERSISTENT_2", capacity=4800, EfaEnabled=True, PerUnitStorageThroughput=1000)),
    ("ec2.create_managed_prefix_list", {"MaxEntries": 1, "Entries": [{"Cidr": "10.0.0.0/8"}, {"Cidr": "192.0.2.0/24"}]}, {"MaxEntries": 1, "Entries": [{"Cidr": "10.0.0.0/8"}]}),
    ("ec2.create_managed_prefix_list", {"AddressFamily": "IPv6", "Entries": [{"Cidr": "10.0.0.0/8"}]}, {"AddressFamily": "IPv6", "Entries": [{"Cidr": "2001:db8::/32"}]}),
    ("kms.create_key", {"KeyUsage": "SIGN_VERIFY"}, {"KeyUsage": "SIGN_VERIFY", "KeySpec": "ECC_NIST_P256"}),
    ("kms.create_key", {"KeySpec": "HMAC_256"}, {"KeySpec": "HMAC_256", "KeyUsage": "GENERATE_VERIFY_MAC"}),
    ("rds.create_db_instance", {**DATABASE, "MultiAZ": True, "AvailabilityZone": "us-west-2a"}, {**DATABASE, "MultiAZ": True}),
    ("rds.create_db_instance", {"Engine": "postgres", "MasterUsername": "admin"}, {"Engine": "mysql", "MasterUsername": "admin"}),
    ("rds.create_db_instance", {"Engine": "postgres", "EnableCloudwatchLogsExports": ["slowquery"]}, {"Engine": "mysql", "EnableCloudwatchLogsExports": ["slowquery"]}),
    ("ecr.put_lifecycle_policy", expiry(tagStatus="tagged"), expiry(tagStatus="tagged", tagPatternList=["v*"])),
    ("budgets.create_budget", notified("DAILY", "FORECASTED"), notified("MONTHLY", "FORECASTED")),
    ("eks.create_cluster", {"computeConfig": {"enabled": True}, "bootstrapSelfManagedAddons": True}, {"computeConfig": {"enabled": True}}),
    ("eks.create_cluster", {"remoteNetworkConfig": {"remoteNodeNetworks": [{"cidrs": ["8.8.0.0/16"]}]}}, {"remoteNetworkConfig": {"remotePodNetworks": [{"cidrs": ["172.20.0.0/16", "100.64.0.0/16"]}]}}),
    ("eks.create_access_entry", {"principalArn": "arn:aws:sts::123456789012:assumed-role/a/b"}, {"principalArn": "arn:aws:iam::123456789012:role/a"}),
    ("acm.request_certificate", {"DomainName": "*.*.example.com"}, {"DomainName": "*.example.com"}),
    ("ecr.put_lifecycle_policy", expiry(tagStatus="untagged", tagPrefixList=["v"]), expiry(tagStatus="any", tagPrefixList=["v"])),
    ("fsx.create_file_system", lustre("PERSISTENT_1", "INTELLIGENT_TIERING", ThroughputCapacity=4000), {"FileSystemType": "OPENZFS", "StorageType": "INTELLIGENT_TIERING"}),
    ("backup.create_backup_plan", aged(60), aged(120)),
    ("backup.create_backup_plan", aged(60), aged(-1)),
    ("ec2.authorize_security_group_ingress", {"IpPermissions": [{"IpProtocol": "tcp", "FromPort": 500, "ToPort": 400}]}, {"IpPermissions": [{"IpProtocol": "icmp", "FromPort": 8, "ToPort": -1}]}),
    ("iam.create_open_id_connect_provider", {"Url": "http://a.example"}, {"Url": "https://a.example"}),
    ("kms.schedule_key_deletion", {"PendingWindowInDays": 3}, {"PendingWindowInDays": 7}),
    ("logs.put_retention_policy", {"retentionInDays": 42}, {"retentionInDays": 400}),
    ("sqs.create_queue", {"Attributes": {"VisibilityTimeout": "43201"}}, {"Attributes": {"VisibilityTimeout": "43200", "MessageRetentionPeriod": "60"}}),
    ("sns.subscribe", {"Protocol": "https", "Endpoint": "http://a.example"}, {"Protocol": "http", "Endpoint": "http://a.example"}),
    ("events.put_rule", {"ScheduleExpression": "rate(1 minutes)"}, {"ScheduleExpression": "rate(10 minutes)"}),
    ("cloudwatch.put_metric_alarm", {"MetricName": "m"}, {"Metrics": []}),
    ("ssm.put_parameter", {"Value": "v" * 4097}, {"Value": "v" * 4097, "Tier": "Advanced"}),
    ("rds.create_db_instance", {"MasterUserPassword": "abc/defgh"}, {"MasterUserPassword": "abc-defgh"}),
    ("budgets.create_budget", {"Budget": {"BudgetType": "COST"}}, {"Budget": {"BudgetType": "RI_UTILIZATION"}}),
    ("route53.change_resource_record_sets", records("Z", Type="A", Name="a.example.com", ResourceRecords=[{"Value": "foo"}]), records("Z", Type="A", Name="a.example.com", ResourceRecords=[{"Value": "192.0.2.1"}])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "right"), PARAMETERS, ids=[f"{i}-{row[0]}" for i, row in enumerate(PARAMETERS)])  # fmt: skip
def test_parameters_that_a_service_refuses(aws: Aws, name: str, wrong: Any, right: Any) -> None:
    service, _, operation = name.partition(".")
    (problem, *_) = requests.problems(aws, service, operation, wrong, planned=True)
    assert problem[0] == next(row.code for row in requests.rows()[service, operation] if row.code == problem[0])
    assert list(requests.problems(aws, service, operation, right, planned=True)) == []
    unknown = json.loads(json.dumps(wrong), object_hook=lambda one: {key: value if str(value)[:2] in ("{'", "[{") else UNKNOWN for key, value in one.items()})  # fmt: skip
    assert list(requests.problems(aws, service, operation, unknown, planned=True)) == [], "not known yet"


def test_a_node_group_has_50_taints_at_most(aws: Aws) -> None:
    taints = [{"key": f"k{index}", "effect": "NO_SCHEDULE"} for index in range(51)]
    for count, codes in ((50, []), (51, ["InvalidParameterException"])):
        found = requests.problems(
            aws, "eks", "update_nodegroup_config", {"taints": {"addOrUpdateTaints": taints[:count]}}
        )
        assert [code for code, _ in found] == codes


@pytest.fixture
def outside(world: World) -> Aws:
    return Aws(Clients(world.aws.clients.endpoint), world.aws.region, world.aws.account)


def code(call: Callable[[], Any]) -> str:
    with pytest.raises(AwsError) as raised:
        call()
    return raised.value.code


def preview(world: World, token: str, **inputs: Any) -> str:
    """The code with which the preview of a creation is refused; empty if it isn't."""
    resource = Resource(f"urn:pulumi:s::p::{token}::thing", token, "thing")
    try:
        AwsProvider(Shared(world.aws.clients, processes=PROCESSES)).preview_create(world.aws, resource, inputs)
    except AwsError as error:
        return error.code
    return ""


def vpc_of(world: World, subnet: str) -> str:
    return str(world.aws.call("ec2", "describe_subnets", SubnetIds=[subnet])["Subnets"][0]["VpcId"])


def test_objects_of_two_vpcs_are_refused_whoever_asks_and_at_preview(world: World, outside: Aws) -> None:
    first, second = world.subnets()
    ours = world.make(
        "aws:ec2/securityGroup:SecurityGroup",
        name="ours",
        vpcId=(far := world.make("aws:ec2/vpc:Vpc", cidrBlock="10.2.0.0/16")[0]),
    )[0]
    beside = world.make("aws:ec2/securityGroup:SecurityGroup", name="beside", vpcId=vpc_of(world, first))[0]
    table, role = world.make("aws:ec2/routeTable:RouteTable", vpcId=far)[0], world.role()["arn"]
    pair = {"IpPermissions": [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": beside}]}]}
    place = {"subnetIds": [first, second], "securityGroupIds": [ours]}
    assert code(lambda: outside.call("ec2", "authorize_security_group_ingress", GroupId=ours, **pair)) == (
        "InvalidGroup.NotFound")  # fmt: skip
    assert code(lambda: outside.call("ec2", "associate_route_table", RouteTableId=table, SubnetId=first)) == (
        "InvalidParameterValue")  # fmt: skip
    cluster = {"name": "two", "roleArn": role}
    assert code(lambda: outside.call("eks", "create_cluster", **cluster, resourcesVpcConfig=place)) == CODES["eks"]
    # The same at preview, before anything exists.
    assert preview(world, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", securityGroupId=ours,
                   referencedSecurityGroupId=beside, ipProtocol="-1") == "InvalidGroup.NotFound"  # fmt: skip
    assert preview(world, "aws:ec2/routeTableAssociation:RouteTableAssociation", routeTableId=table, subnetId=first)
    assert preview(world, "aws:eks/cluster:Cluster", **cluster, vpcConfig=place) == CODES["eks"]
    assert preview(world, "aws:efs/mountTarget:MountTarget", fileSystemId=world.file_system(), subnetId=first,
                   securityGroups=[ours])  # fmt: skip
    # Right ones, and what is not known yet.
    assert preview(world, "aws:eks/cluster:Cluster", **cluster, vpcConfig={**place, "securityGroupIds": [beside]}) == ""
    assert (
        preview(world, "aws:eks/cluster:Cluster", **cluster, vpcConfig={**place, "securityGroupIds": [UNKNOWN]}) == ""
    )
    outside.call("ec2", "create_tags", Resources=[ours, first], Tags=[{"Key": "a", "Value": "b"}])
    outside.call("ec2", "create_vpc_peering_connection", VpcId=vpc_of(world, first), PeerVpcId=far)
    outside.call("ec2", "authorize_security_group_ingress", GroupId=ours, **pair)


def test_a_group_of_a_foreign_subnet_is_refused(world: World, outside: Aws) -> None:
    group = {"nodegroupName": "g", "nodeRole": world.role()["arn"], "clusterName": world.cluster()}
    assert (
        code(lambda: outside.call("eks", "create_nodegroup", **group, subnets=world.subnets(vpc=world.vpc())))
        == CODES["eks"]
    )


def test_gateways_and_addresses(world: World, outside: Aws) -> None:
    vpc = world.vpc()
    made = [outside.call("ec2", "create_internet_gateway")["InternetGateway"]["InternetGatewayId"] for _ in range(2)]
    subnet = outside.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
    address = world.address()
    nat = {"SubnetId": subnet, "AllocationId": address}
    assert code(lambda: outside.call("ec2", "create_nat_gateway", **nat)) == "Gateway.NotAttached"
    outside.call("ec2", "attach_internet_gateway", InternetGatewayId=made[0], VpcId=vpc)
    second = {"InternetGatewayId": made[1], "VpcId": vpc}
    assert code(lambda: outside.call("ec2", "attach_internet_gateway", **second)) == "InvalidParameterValue"
    gateway = outside.call("ec2", "create_nat_gateway", **nat)["NatGateway"]["NatGatewayId"]
    assert code(lambda: outside.call("ec2", "release_address", AllocationId=address)) == "InvalidIPAddress.InUse"
    outside.call("ec2", "delete_nat_gateway", NatGatewayId=gateway)
    outside.call("ec2", "release_address", AllocationId=address)


def test_a_log_group_needs_a_key_that_admits_logs(world: World, outside: Aws) -> None:
    key = world.key()
    group = {"logGroupName": world.unique("/a"), "kmsKeyId": key["arn"]}
    assert code(lambda: outside.call("logs", "create_log_group", **group)) == "InvalidParameterException"
    root = {"AWS": f"arn:aws:iam::{world.aws.account}:root"}
    both = json.loads(document("kms:*", Principal=root))
    service = {"Service": f"logs.{world.aws.region}.amazonaws.com"}
    both["Statement"] += json.loads(document("kms:Encrypt*", Principal=service))["Statement"]
    outside.call("kms", "put_key_policy", KeyId=key["keyId"], PolicyName="default", Policy=json.dumps(both))
    outside.call("logs", "create_log_group", **group)


def test_updates_that_a_service_refuses(world: World, outside: Aws) -> None:
    name = world.cluster()
    back = {"name": name, "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"}}
    assert code(lambda: outside.call("eks", "update_cluster_config", **back)) == CODES["eks"]
    database = {**DATABASE, "DBInstanceIdentifier": world.unique("d"), "Engine": "postgres", "EngineVersion": "17.4",
                "MasterUsername": "tracker", "MasterUserPassword": "secret-of-tests"}  # fmt: skip
    outside.call("rds", "create_db_instance", **database)
    target = {"DBInstanceIdentifier": database["DBInstanceIdentifier"]}
    for change in ({"AllocatedStorage": 10}, {"EngineVersion": "16.4"}):
        assert code(lambda change=change: outside.call("rds", "modify_db_instance", **target, **change)) == (  # type: ignore[misc]
            "InvalidParameterCombination")  # fmt: skip
    outside.call("rds", "modify_db_instance", **target, AllocatedStorage=40)


@pytest.mark.parametrize(("principal", "more", "admitted"), [
    ({"Service": "logs.us-west-2.amazonaws.com"}, {}, True),
    ({"Service": ["ec2.amazonaws.com", "logs.amazonaws.com"]}, {}, True),
    ({"Service": "logs.eu-west-1.amazonaws.com"}, {}, False),
    ({"AWS": "arn:aws:iam::123456789012:root"}, {}, False),
    ("*", {"Condition": {"StringEquals": {"aws:SourceAccount": "123456789012"}}}, True),
    ("*", {"Condition": {"StringEquals": {"aws:SourceAccount": "210987654321"}}}, False),
    ("*", {"Condition": {"StringEquals": {"AWS:SourceOwner": "123456789012"}}}, False),
    ("*", {"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:*"}}}, True),
])  # fmt: skip
def test_whom_a_policy_admits(principal: Any, more: dict[str, Any], admitted: bool) -> None:
    policy = json.loads(document("kms:GenerateDataKey*", Principal=principal, **more))
    assert admits(policy, "logs", "kms:Encrypt kms:GenerateDataKey", PLACE) is admitted


def test_rules_have_a_source_and_are_of_operations_and_inputs_that_exist() -> None:
    """Another name in a later version would refuse nothing."""
    nowhere, found = Clients("http://127.0.0.1:9"), dict(requests.rows())
    for one in rules.ALL:
        assert len(one.source) > 20
        found |= {tuple(name.split(".")): () for name in one.on}  # type: ignore[misc]
    for (service, operation), each in found.items():
        assert all(len(row.source) > 20 and row.code for row in each)
        if operation:
            assert hasattr(nowhere.get(service, "us-west-2"), operation)
        else:
            assert all(row.fields & set(known(service).inputs) for row in each)
