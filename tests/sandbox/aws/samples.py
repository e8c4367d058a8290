"""One object of every row: what it needs, its inputs, an update, and a change made behind the program's back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.lifecycle import Lifecycle
from slipway.sandbox.aws.rows import ROWS
from slipway.sandbox.aws.schema import schema

Made = tuple[str, dict[str, Any]]


class World:
    """An account in the test's moto, and short ways to make what a sample needs, each time another object."""

    def __init__(self, aws: Aws) -> None:
        self.aws = aws
        self.count = 0

    def unique(self, name: str) -> str:
        self.count += 1
        return f"{name}-{self.aws.account[-3:]}-{self.count}"

    def lifecycle(self, type_token: str) -> Lifecycle:
        known = schema(type_token)
        assert known is not None, type_token
        return Lifecycle(self.aws, known, ROWS[type_token])

    def make(self, type_token: str, **inputs: Any) -> Made:
        return self.lifecycle(type_token).create(inputs)

    def vpc(self) -> str:
        return self.make("aws:ec2/vpc:Vpc", cidrBlock="10.1.0.0/16")[0]

    def subnets(self, count: int = 2) -> list[str]:
        vpc = self.vpc()
        zones = [f"{self.aws.region}{letter}" for letter in "abc"]
        return [
            self.make(
                "aws:ec2/subnet:Subnet",
                vpcId=vpc, cidrBlock=f"10.1.{index}.0/24", availabilityZone=zones[index],
            )[0]
            for index in range(count)
        ]  # fmt: skip

    def group(self) -> str:
        return self.make("aws:ec2/securityGroup:SecurityGroup", name=self.unique("group"), vpcId=self.vpc())[0]

    def table(self) -> str:
        return self.make("aws:ec2/routeTable:RouteTable", vpcId=self.vpc())[0]

    def gateway_of(self, table: str) -> str:
        found = self.aws.call("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"][0]
        return self.make("aws:ec2/internetGateway:InternetGateway", vpcId=found["VpcId"])[0]

    def nat(self) -> str:
        eip = self.make("aws:ec2/eip:Eip", domain="vpc")[0]
        return self.make("aws:ec2/natGateway:NatGateway", allocationId=eip, subnetId=self.subnets(1)[0])[0]

    def role(self) -> dict[str, Any]:
        return self.make("aws:iam/role:Role", name=self.unique("role"), assumeRolePolicy=TRUST)[1]

    def cluster(self) -> str:
        inputs = {"name": self.unique("cluster"), "roleArn": self.role()["arn"], "vpcConfig": {"subnetIds": self.subnets()}}
        return self.make("aws:eks/cluster:Cluster", **inputs)[0]

    def bucket(self) -> str:
        return self.make("aws:s3/bucket:Bucket", bucket=self.unique("bucket"))[0]

    def queue(self) -> dict[str, Any]:
        return self.make("aws:sqs/queue:Queue", name=self.unique("queue"))[1]

    def key(self) -> dict[str, Any]:
        return self.make("aws:kms/key:Key", description="key")[1]

    def file_system(self) -> str:
        return self.make("aws:efs/fileSystem:FileSystem", creationToken=self.unique("token"))[0]


def document(action: str, resource: str = "*", **more: Any) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource, **more}]}
    )


TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
        ],
    }
)
OTHER_TRUST = TRUST.replace("ec2.amazonaws", "eks.amazonaws")


@dataclass(frozen=True)
class Sample:
    """`inputs` of the object; `update` inputs over them; `behind` changes the live object, which must show as `shows`.

    `stays`: AWS never lets the object go.
    """

    inputs: Callable[[World], dict[str, Any]]
    update: Mapping[str, Any] = field(default_factory=dict)
    behind: Callable[[Aws, str, Mapping[str, Any]], None] | None = None
    shows: tuple[str, ...] = ()
    stays: bool = False


def _call(service: str, operation: str, **parameters: Any) -> Callable[[Aws, str, Mapping[str, Any]], None]:
    """A change behind the program's back; ID stands for the object's id, $name for an output."""

    def change(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
        def fill(value: Any) -> Any:
            if isinstance(value, list):
                return [fill(item) for item in value]
            if isinstance(value, dict):
                return {key: fill(item) for key, item in value.items()}
            if value == "ID":
                return id
            return outputs[value[1:]] if isinstance(value, str) and value.startswith("$") else value

        aws.call(service, operation, **fill(parameters))

    return change


TAGGED = {"tags": {"team": "a"}}
RETAGGED = {"tags": {"owner": "b"}}
_EC2_TAG = _call("ec2", "create_tags", Resources=["ID"], Tags=[{"Key": "team", "Value": "z"}])
_HTTPS = {"protocol": "tcp", "fromPort": 443, "toPort": 443, "cidrBlocks": ["10.0.0.0/8", "192.168.0.0/16"]}
_ALL = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}


def _open_ssh(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    ssh = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    aws.call("ec2", "authorize_security_group_ingress", GroupId=id, IpPermissions=ssh)


def _rule_port(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "CidrIpv4": "10.0.0.0/8"}
    aws.call(
        "ec2", "modify_security_group_rules", GroupId=outputs["securityGroupId"],
        SecurityGroupRules=[{"SecurityGroupRuleId": id, "SecurityGroupRule": rule}],
    )  # fmt: skip


def _scale(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    sizes = {"minSize": 1, "maxSize": 9, "desiredSize": 7}
    cluster, group = id.split(":")
    aws.call("eks", "update_nodegroup_config", clusterName=cluster, nodegroupName=group, scalingConfig=sizes)


def _new_version(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    aws.call(
        "ec2", "create_launch_template_version", LaunchTemplateId=id,
        LaunchTemplateData={"ImageId": "ami-99999999", "InstanceType": "p5.48xlarge"},
    )  # fmt: skip


def _node_group(world: World) -> dict[str, Any]:
    template, outputs = world.make("aws:ec2/launchTemplate:LaunchTemplate", name=world.unique("nodes"), instanceType="p5.48xlarge")
    return {
        "clusterName": world.cluster(),
        "nodeGroupName": "gpu",
        "nodeRoleArn": world.role()["arn"],
        "subnetIds": world.subnets(),
        "scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 2},
        "launchTemplate": {"id": template, "version": str(outputs["latestVersion"])},
        "labels": {"pool": "gpu", "old": "1"},
        "taints": [{"key": "nvidia.com/gpu", "value": "1", "effect": "NO_SCHEDULE"}],
        "updateConfig": {"maxUnavailable": 1},
        **TAGGED,
    }


def _rule(world: World) -> dict[str, Any]:
    rule = {"ipProtocol": "tcp", "fromPort": 988, "toPort": 1023, "cidrIpv4": "10.0.0.0/8", "description": "lustre"}
    return {"securityGroupId": world.group(), **rule, **TAGGED}


def _endpoint(world: World) -> dict[str, Any]:
    subnets = world.subnets()
    vpc = world.aws.call("ec2", "describe_subnets", SubnetIds=subnets)["Subnets"][0]["VpcId"]
    group = world.make("aws:ec2/securityGroup:SecurityGroup", name="endpoint", vpcId=vpc)[0]
    return {
        "vpcId": vpc,
        "serviceName": f"com.amazonaws.{world.aws.region}.ecr.api",
        "vpcEndpointType": "Interface",
        "subnetIds": subnets,
        "securityGroupIds": [group],
        "privateDnsEnabled": True,
        **TAGGED,
    }


def _flow_log(world: World) -> dict[str, Any]:
    logs = world.make("aws:cloudwatch/logGroup:LogGroup", name=world.unique("/vpc/flow"))[1]
    return {
        "vpcId": world.vpc(),
        "trafficType": "ALL",
        "logDestinationType": "cloud-watch-logs",
        "logDestination": logs["arn"],
        "iamRoleArn": world.role()["arn"],
        "maxAggregationInterval": 60,
        **TAGGED,
    }


def _cluster(world: World) -> dict[str, Any]:
    return {
        "name": "main",
        "roleArn": world.role()["arn"],
        "version": "1.34",
        "vpcConfig": {"subnetIds": world.subnets(), "endpointPrivateAccess": True, "endpointPublicAccess": False},
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        "enabledClusterLogTypes": ["api", "audit"],
        "encryptionConfig": {"provider": {"keyArn": world.key()["arn"]}, "resources": ["secrets"]},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"},
        **TAGGED,
    }


def _lustre(world: World) -> dict[str, Any]:
    return {
        "subnetIds": world.subnets(1)[0],
        "storageCapacity": 1200,
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250,
        "securityGroupIds": [world.group()],
        "fileSystemTypeVersion": "2.15",
        **TAGGED,
    }


_LIFECYCLE_TEXT = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 5},
                "action": {"type": "expire"},
            }
        ]
    }
)

SAMPLES: dict[str, Sample] = {
    "aws:ec2/vpc:Vpc": Sample(
        lambda world: {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, **TAGGED},
        {"enableDnsHostnames": False, **RETAGGED},
        _EC2_TAG, ("tags",),
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": Sample(
        lambda world: {"vpcId": world.vpc(), "cidrBlock": "100.64.0.0/16"}
    ),
    "aws:ec2/subnet:Subnet": Sample(
        lambda world: {
            "vpcId": world.vpc(), "cidrBlock": "10.1.1.0/24", "availabilityZone": "us-west-2b",
            "mapPublicIpOnLaunch": True, **TAGGED,
        },
        {"mapPublicIpOnLaunch": False, **RETAGGED},
        _call("ec2", "modify_subnet_attribute", SubnetId="ID", MapPublicIpOnLaunch={"Value": True}),
        ("mapPublicIpOnLaunch",),
    ),
    "aws:ec2/internetGateway:InternetGateway": Sample(
        lambda world: {"vpcId": world.vpc(), **TAGGED}, RETAGGED, _EC2_TAG, ("tags",)
    ),
    "aws:ec2/eip:Eip": Sample(lambda world: {"domain": "vpc", **TAGGED}, RETAGGED, _EC2_TAG, ("tags",)),
    "aws:ec2/natGateway:NatGateway": Sample(
        lambda world: {
            "allocationId": world.make("aws:ec2/eip:Eip", domain="vpc")[0], "subnetId": world.subnets(1)[0], **TAGGED
        },
        RETAGGED, _EC2_TAG, ("tags",),
    ),
    "aws:ec2/routeTable:RouteTable": Sample(
        lambda world: {"vpcId": world.vpc(), "routes": [], **TAGGED}, RETAGGED, _EC2_TAG, ("tags",)
    ),
    "aws:ec2/route:Route": Sample(
        lambda world: (
            lambda table: {
                "routeTableId": table, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": world.gateway_of(table)
            }
        )(world.table())
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Sample(
        lambda world: {"routeTableId": world.table(), "subnetId": world.subnets(1)[0]}
    ),
    "aws:ec2/securityGroup:SecurityGroup": Sample(
        lambda world: {
            "name": "web", "vpcId": world.vpc(), "description": "d", "ingress": [_HTTPS], "egress": [_ALL], **TAGGED
        },
        {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}], "egress": [], **RETAGGED},
        _open_ssh, ("ingress",),
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": Sample(
        lambda world: {"vpcId": world.vpc(), **TAGGED}, {"ingress": [_HTTPS], **RETAGGED}, _open_ssh, ("ingress",),
        stays=True,
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Sample(
        _rule, {"toPort": 1000, "description": "other", **RETAGGED}, _rule_port, ("fromPort", "toPort")
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Sample(
        _rule, {"cidrIpv4": "10.2.0.0/16"}, _rule_port, ("fromPort", "toPort", "cidrIpv4")
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Sample(
        _endpoint, RETAGGED, _call("ec2", "modify_vpc_endpoint", VpcEndpointId="ID", RemoveSubnetIds="$subnetIds"),
        ("subnetIds",),
    ),
    "aws:ec2/flowLog:FlowLog": Sample(_flow_log, RETAGGED, _EC2_TAG, ("tags",)),
    "aws:ec2/launchTemplate:LaunchTemplate": Sample(
        lambda world: {
            "name": "gpu", "imageId": "ami-12345678", "instanceType": "p5.48xlarge", "updateDefaultVersion": True,
            "userData": "IyEvYmluL3No", "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 500, "encrypted": "true"}}],
            "networkInterfaces": [
                {"deviceIndex": 0, "networkCardIndex": 0, "interfaceType": "efa", "securityGroups": [world.group()]}
            ],
            "tagSpecifications": [{"resourceType": "instance", "tags": {"a": "b"}}],
            **TAGGED,
        },
        {"instanceType": "p5e.48xlarge", **RETAGGED}, _new_version, ("imageId", "instanceType", "userData"),
    ),
    "aws:iam/role:Role": Sample(
        lambda world: {"name": "role", "assumeRolePolicy": TRUST, "description": "d", **TAGGED},
        {"assumeRolePolicy": OTHER_TRUST, "maxSessionDuration": 7200, "description": "e", **RETAGGED},
        _call("iam", "update_assume_role_policy", RoleName="ID", PolicyDocument=TRUST), ("assumeRolePolicy",),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Sample(
        lambda world: {
            "role": world.role()["name"], "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
        }
    ),
    "aws:iam/rolePolicy:RolePolicy": Sample(
        lambda world: {"role": world.role()["name"], "name": "inline", "policy": document("s3:Get*")},
        {"policy": document("s3:*")},
        _call("iam", "put_role_policy", RoleName="$role", PolicyName="inline", PolicyDocument=document("ec2:*")),
        ("policy",),
    ),
    "aws:iam/instanceProfile:InstanceProfile": Sample(
        lambda world: {"name": "profile", "role": world.role()["name"], **TAGGED}, RETAGGED,
        _call("iam", "remove_role_from_instance_profile", InstanceProfileName="ID", RoleName="$role"), ("role",),
    ),
    "aws:iam/policy:Policy": Sample(
        lambda world: {"name": "policy", "policy": document("s3:Get*"), **TAGGED},
        {"policy": document("s3:*"), **RETAGGED},
        _call("iam", "create_policy_version", PolicyArn="ID", PolicyDocument=document("ec2:*"), SetAsDefault=True),
        ("policy",),
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Sample(
        lambda world: {
            "url": "https://oidc.example.com/id/1", "clientIdLists": ["sts.amazonaws.com"],
            "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"], **TAGGED,
        },
        {"thumbprintLists": ["1e99a48a9960b14926bb7f3b02e22da2b0ab7280"], **RETAGGED},
        _call(
            "iam", "update_open_id_connect_provider_thumbprint", OpenIDConnectProviderArn="ID",
            ThumbprintList=["2e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
        ),
        ("thumbprintLists",),
    ),
    "aws:kms/key:Key": Sample(
        lambda world: {"description": "k", "enableKeyRotation": True, "deletionWindowInDays": 7, **TAGGED},
        {"description": "other", "enableKeyRotation": False, **RETAGGED},
        _call("kms", "enable_key_rotation", KeyId="ID"), ("enableKeyRotation",),
    ),
    "aws:kms/alias:Alias": Sample(
        lambda world: {"name": "alias/key", "targetKeyId": world.key()["keyId"]}
    ),
    "aws:cloudwatch/logGroup:LogGroup": Sample(
        lambda world: {"name": "/eks/logs", "retentionInDays": 30, **TAGGED}, {"retentionInDays": 90, **RETAGGED},
        _call("logs", "put_retention_policy", logGroupName="ID", retentionInDays=1), ("retentionInDays",),
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": Sample(
        lambda world: {
            "name": "alarm", "comparisonOperator": "GreaterThanThreshold", "evaluationPeriods": 1, "metricName": "m",
            "namespace": "n", "period": 60, "statistic": "Average", "threshold": 1, "dimensions": {"a": "b"},
        },
        {"threshold": 2},
    ),
    "aws:sqs/queue:Queue": Sample(
        lambda world: {
            "name": "interruptions", "messageRetentionSeconds": 300, "sqsManagedSseEnabled": True, **TAGGED
        },
        {"messageRetentionSeconds": 600, "visibilityTimeoutSeconds": 60, **RETAGGED},
        _call("sqs", "set_queue_attributes", QueueUrl="ID", Attributes={"MessageRetentionPeriod": "900"}),
        ("messageRetentionSeconds",),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Sample(
        lambda world: (
            lambda queue: {
                "queueUrl": queue["url"],
                "policy": document("sqs:SendMessage", queue["arn"], Principal={"Service": "events.amazonaws.com"}),
            }
        )(world.queue())
    ),
    "aws:cloudwatch/eventRule:EventRule": Sample(
        lambda world: {"name": "spot", "eventPattern": json.dumps({"source": ["aws.ec2"]}), **TAGGED},
        {"eventPattern": json.dumps({"source": ["aws.health"]}), "description": "d", **RETAGGED},
        _call("events", "put_rule", Name="ID", Description="d", EventPattern=json.dumps({"source": ["aws.s3"]})),
        ("eventPattern",),
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Sample(
        lambda world: {
            "rule": world.make(
                "aws:cloudwatch/eventRule:EventRule", name=world.unique("rule"), eventPattern=json.dumps({"source": ["aws.ec2"]})
            )[1]["name"],
            "targetId": "queue", "arn": world.queue()["arn"],
        },
        {"input": '{"a": 1}'},
    ),
    "aws:eks/cluster:Cluster": Sample(
        _cluster,
        {"version": "1.35", "enabledClusterLogTypes": ["api"], **RETAGGED},
        _call(
            "eks", "update_cluster_config", name="ID",
            logging={"clusterLogging": [{"types": ["scheduler"], "enabled": True}]},
        ),
        ("enabledClusterLogTypes",),
    ),
    "aws:eks/nodeGroup:NodeGroup": Sample(
        _node_group,
        {
            "scalingConfig": {"minSize": 1, "maxSize": 8, "desiredSize": 4}, "labels": {"pool": "gpu", "new": "1"},
            "taints": [{"key": "a", "effect": "NO_EXECUTE"}], **RETAGGED,
        },
        _scale, ("scalingConfig",),
    ),
    "aws:s3/bucket:Bucket": Sample(
        lambda world: {"bucket": world.unique("models"), "forceDestroy": True, **TAGGED}, RETAGGED,
        _call("s3", "put_bucket_tagging", Bucket="ID", Tagging={"TagSet": [{"Key": "team", "Value": "z"}]}), ("tags",),
    ),
    "aws:s3/bucketVersioning:BucketVersioning": Sample(
        lambda world: {"bucket": world.bucket(), "versioningConfiguration": {"status": "Enabled"}},
        {"versioningConfiguration": {"status": "Suspended"}},
        _call("s3", "put_bucket_versioning", Bucket="ID", VersioningConfiguration={"Status": "Enabled"}),
        ("versioningConfiguration",), stays=True,
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": Sample(
        lambda world: {
            "bucket": world.bucket(),
            "rules": [
                {
                    "applyServerSideEncryptionByDefault": {
                        "sseAlgorithm": "aws:kms", "kmsMasterKeyId": world.key()["arn"]
                    },
                    "bucketKeyEnabled": True,
                }
            ],
        },
        {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]},
    ),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Sample(
        lambda world: {"bucket": world.bucket(), "blockPublicAcls": True, "blockPublicPolicy": True},
        {"ignorePublicAcls": True},
        _call(
            "s3", "put_public_access_block", Bucket="ID",
            PublicAccessBlockConfiguration={"BlockPublicAcls": False, "BlockPublicPolicy": True,
                                            "IgnorePublicAcls": True},
        ),
        ("blockPublicAcls",),
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Sample(
        lambda world: {
            "bucket": world.bucket(),
            "rules": [
                {"id": "old", "status": "Enabled", "filter": {"prefix": "checkpoints/"}, "expiration": {"days": 30}}
            ],
        },
        {"rules": [{"id": "old", "status": "Disabled", "filter": {"prefix": "a/"}, "expiration": {"days": 9}}]},
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": Sample(
        lambda world: {"bucket": world.bucket(), "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        {"rule": {"objectOwnership": "ObjectWriter"}},
    ),
    "aws:s3/bucketPolicy:BucketPolicy": Sample(
        lambda world: {
            "bucket": (bucket := world.bucket()),
            "policy": document("s3:GetObject", f"arn:aws:s3:::{bucket}/*", Principal="*"),
        },
        {"policy": document("s3:PutObject", "arn:aws:s3:::x/*", Principal="*")},
    ),
    "aws:efs/fileSystem:FileSystem": Sample(
        lambda world: {
            "creationToken": "home", "encrypted": True, "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
            **TAGGED,
        },
        {"lifecyclePolicies": [{"transitionToIa": "AFTER_60_DAYS"}], **RETAGGED},
        _call("efs", "put_lifecycle_configuration", FileSystemId="ID", LifecyclePolicies=[]), ("lifecyclePolicies",),
    ),
    "aws:efs/mountTarget:MountTarget": Sample(
        lambda world: {
            "fileSystemId": world.file_system(), "subnetId": world.subnets(1)[0], "securityGroups": [world.group()]
        }
    ),
    "aws:efs/accessPoint:AccessPoint": Sample(
        lambda world: {
            "fileSystemId": world.file_system(), "posixUser": {"uid": 1000, "gid": 1000},
            "rootDirectory": {"path": "/home"}, **TAGGED,
        },
        RETAGGED, _call("efs", "tag_resource", ResourceId="ID", Tags=[{"Key": "team", "Value": "z"}]), ("tags",),
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Sample(
        _lustre, {"storageCapacity": 2400, **RETAGGED},
        _call("fsx", "tag_resource", ResourceARN="$arn", Tags=[{"Key": "team", "Value": "z"}]), ("tags",),
    ),
    "aws:sns/topic:Topic": Sample(
        lambda world: {"name": "alerts", "displayName": "Alerts", **TAGGED}, {"displayName": "Other", **RETAGGED},
        _call("sns", "set_topic_attributes", TopicArn="ID", AttributeName="DisplayName", AttributeValue="z"),
        ("displayName",),
    ),
    "aws:sns/topicPolicy:TopicPolicy": Sample(
        lambda world: (
            lambda arn: {"arn": arn, "policy": document("SNS:Publish", arn, Principal="*", Sid="a")}
        )(world.make("aws:sns/topic:Topic", name=world.unique("topic"))[0]),
        stays=True,
    ),
    "aws:sns/topicSubscription:TopicSubscription": Sample(
        lambda world: {
            "topic": world.make("aws:sns/topic:Topic", name=world.unique("topic"))[0], "protocol": "sqs",
            "endpoint": world.queue()["arn"],
        }
    ),
    "aws:ecr/repository:Repository": Sample(
        lambda world: {
            "name": "train", "imageTagMutability": "IMMUTABLE", "imageScanningConfiguration": {"scanOnPush": True},
            "encryptionConfigurations": [{"encryptionType": "KMS"}], "forceDelete": True, **TAGGED,
        },
        {"imageTagMutability": "MUTABLE", **RETAGGED},
        _call("ecr", "put_image_tag_mutability", repositoryName="ID", imageTagMutability="IMMUTABLE"),
        ("imageTagMutability",),
    ),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": Sample(
        lambda world: {
            "repository": world.make("aws:ecr/repository:Repository", name=world.unique("serve"))[0], "policy": _LIFECYCLE_TEXT
        },
        {"policy": _LIFECYCLE_TEXT.replace("5", "9")},
    ),
    "aws:rds/subnetGroup:SubnetGroup": Sample(
        lambda world: {"name": "tracking", "subnetIds": world.subnets(), **TAGGED}, RETAGGED
    ),
    "aws:rds/instance:Instance": Sample(
        lambda world: {
            "identifier": "tracking", "instanceClass": "db.t4g.medium", "engine": "postgres", "allocatedStorage": 20,
            "username": "mlflow", "password": "very-secret", "skipFinalSnapshot": True, **TAGGED,
        },
        {"instanceClass": "db.t4g.large", **RETAGGED},
    ),
    "aws:autoscaling/schedule:Schedule": Sample(
        lambda world: {
            "autoscalingGroupName": "eks-gpu", "scheduledActionName": "off", "minSize": 0, "maxSize": 0,
            "desiredCapacity": 0, "recurrence": "0 20 * * *",
        },
        {"recurrence": "0 22 * * *"},
    ),
    "aws:budgets/budget:Budget": Sample(
        lambda world: {
            "name": "team", "budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": "100", "limitUnit": "USD"
        }
    ),
}  # fmt: skip
