"""Every type of AWS resource that the program may create: its services on the bill, or why it is free.

A test compares both tables with the stacks.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spec.pricing import services

PRICED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "aws:cloudwatch/logGroup:LogGroup": (services.CLOUDWATCH,),
        "aws:ec2/eip:Eip": (services.ADDRESSES,),
        "aws:ec2/flowLog:FlowLog": (services.CLOUDWATCH,),
        "aws:ec2/launchTemplate:LaunchTemplate": (services.EBS, services.CLOUDWATCH),
        "aws:ec2/natGateway:NatGateway": (services.NAT,),
        "aws:ec2/vpc:Vpc": (services.TRANSFER,),
        "aws:ec2/vpcEndpoint:VpcEndpoint": (services.ENDPOINTS,),
        "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": (services.ECR,),
        "aws:ecr/repository:Repository": (services.ECR,),
        "aws:efs/fileSystem:FileSystem": (services.EFS,),
        "aws:eks/cluster:Cluster": (services.EKS,),
        "aws:eks/nodeGroup:NodeGroup": (services.EC2, services.EBS),
        "aws:fsx/lustreFileSystem:LustreFileSystem": (services.FSX,),
        "aws:kms/key:Key": (services.KMS,),
        "aws:rds/instance:Instance": (services.RDS, services.SECRETS),
        "aws:s3/bucket:Bucket": (services.S3,),
        "aws:s3/bucketObjectv2:BucketObjectv2": (services.S3,),
        "aws:sns/topic:Topic": (services.MESSAGES,),
        "aws:sqs/queue:Queue": (services.MESSAGES,),
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": (services.EBS, services.CLOUDWATCH),
        "kubernetes:karpenter.sh/v1:NodePool": (services.EC2, services.EBS),
    }
)
"""Billable types, with the services of the bill on which they appear."""

_MOUNT: Final = "mount targets are free; data between zones is billed (aws.amazon.com/efs/pricing)"
_ADDON: Final = "AWS's own add-ons are free; their nodes are billed (EKS User Guide, Amazon EKS add-ons)"
_LINK: Final = "requests to S3 are billed (aws.amazon.com/fsx/lustre/pricing)"
_RULE: Final = "a rule or link; its target is billed"
_NETWORK: Final = "parts of a VPC are free; data transfer is billed (aws.amazon.com/vpc/pricing)"
_IDENTITY: Final = "IAM is free (aws.amazon.com/iam)"
_BUCKET: Final = "a setting of a bucket; objects and requests are billed"
_SCALING: Final = "EC2 Auto Scaling is free; its machines are billed (aws.amazon.com/ec2/autoscaling/pricing)"
_WATCH: Final = (
    "budgets without actions, anomaly detection and allocation tags are free (aws.amazon.com/aws-cost-management)"
)
_EVENTS: Final = "events of AWS services on the default bus are free (aws.amazon.com/eventbridge/pricing)"

FREE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "aws:autoscaling/schedule:Schedule": _SCALING,
        "aws:autoscaling/tag:Tag": _SCALING,
        "aws:budgets/budget:Budget": _WATCH,
        "aws:cloudwatch/eventRule:EventRule": _EVENTS,
        "aws:cloudwatch/eventTarget:EventTarget": _EVENTS,
        "aws:costexplorer/anomalyMonitor:AnomalyMonitor": _WATCH,
        "aws:costexplorer/anomalySubscription:AnomalySubscription": _WATCH,
        "aws:costexplorer/costAllocationTag:CostAllocationTag": _WATCH,
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _NETWORK,
        "aws:ec2/internetGateway:InternetGateway": _NETWORK,
        "aws:ec2/placementGroup:PlacementGroup": "placement groups are free (EC2 User Guide, Placement groups)",
        "aws:ec2/route:Route": _NETWORK,
        "aws:ec2/routeTable:RouteTable": _NETWORK,
        "aws:ec2/routeTableAssociation:RouteTableAssociation": _NETWORK,
        "aws:ec2/securityGroup:SecurityGroup": _NETWORK,
        "aws:ec2/subnet:Subnet": _NETWORK,
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": _NETWORK,
        "aws:ecr/lifecyclePolicy:LifecyclePolicy": _RULE,
        "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate": _RULE,
        "aws:efs/accessPoint:AccessPoint": "files are billed (aws.amazon.com/efs/pricing)",
        "aws:efs/backupPolicy:BackupPolicy": "a setting; the storage of AWS Backup is a separate line",
        "aws:efs/fileSystemPolicy:FileSystemPolicy": _RULE,
        "aws:efs/mountTarget:MountTarget": _MOUNT,
        "aws:eks/accessEntry:AccessEntry": _IDENTITY,
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _IDENTITY,
        "aws:eks/addon:Addon": _ADDON,
        "aws:eks/podIdentityAssociation:PodIdentityAssociation": _IDENTITY,
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": _LINK,
        "aws:iam/instanceProfile:InstanceProfile": _IDENTITY,
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _IDENTITY,
        "aws:iam/role:Role": _IDENTITY,
        "aws:iam/rolePolicy:RolePolicy": _IDENTITY,
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _IDENTITY,
        "aws:kms/alias:Alias": "aliases are free; keys and requests are billed (aws.amazon.com/kms/pricing)",
        "aws:rds/parameterGroup:ParameterGroup": _RULE,
        "aws:rds/subnetGroup:SubnetGroup": _RULE,
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _BUCKET,
        "aws:s3/bucketLogging:BucketLogging": _BUCKET,
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _BUCKET,
        "aws:s3/bucketPolicy:BucketPolicy": _BUCKET,
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _BUCKET,
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _BUCKET,
        "aws:s3/bucketVersioning:BucketVersioning": _BUCKET,
        "aws:sns/topicPolicy:TopicPolicy": _RULE,
        "aws:sns/topicSubscription:TopicSubscription": "notifications that it delivers are billed with the topic",
        "aws:sqs/queuePolicy:QueuePolicy": _RULE,
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _NETWORK,
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _NETWORK,
    }
)
"""Types that are free, and the reason."""
