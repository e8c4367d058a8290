"""Type tokens of the resources that rules evaluate.

An import of `pulumi_aws` for its classes takes 2 s of CPU (2026-11, pulumi-aws 7.51.1), as much as the whole pack may
add to a preview, so this module repeats the tokens; a test compares them with `pulumi_type` of the classes.
"""

import keyword
from collections.abc import Mapping
from typing import Final

from spec.jobs import KUEUE_API

ADDON: Final = "aws:eks/addon:Addon"
ACCESS_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"

INSTANCE: Final = "aws:ec2/instance:Instance"
LAUNCH_CONFIGURATION: Final = "aws:ec2/launchConfiguration:LaunchConfiguration"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
AUTO_SCALING_GROUP: Final = "aws:autoscaling/group:Group"
VOLUME: Final = "aws:ebs/volume:Volume"
PLACEMENT_GROUP: Final = "aws:ec2/placementGroup:PlacementGroup"

VPC: Final = "aws:ec2/vpc:Vpc"
DEFAULT_VPC: Final = "aws:ec2/defaultVpc:DefaultVpc"
VPC_RANGE: Final = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
VPC_PEERING: Final = "aws:ec2/vpcPeeringConnection:VpcPeeringConnection"
VPC_ENDPOINT: Final = "aws:ec2/vpcEndpoint:VpcEndpoint"
SUBNET: Final = "aws:ec2/subnet:Subnet"
FLOW_LOG: Final = "aws:ec2/flowLog:FlowLog"
NETWORK_ACL: Final = "aws:ec2/networkAcl:NetworkAcl"
NETWORK_ACL_RULE: Final = "aws:ec2/networkAclRule:NetworkAclRule"
DEFAULT_NETWORK_ACL: Final = "aws:ec2/defaultNetworkAcl:DefaultNetworkAcl"
EIP: Final = "aws:ec2/eip:Eip"
NAT_GATEWAY: Final = "aws:ec2/natGateway:NatGateway"
INTERNET_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
ROUTE_TABLE: Final = "aws:ec2/routeTable:RouteTable"
ROUTE: Final = "aws:ec2/route:Route"
ROUTE_ASSOCIATION: Final = "aws:ec2/routeTableAssociation:RouteTableAssociation"

SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
SECURITY_GROUP_RULE: Final = "aws:ec2/securityGroupRule:SecurityGroupRule"
DEFAULT_SECURITY_GROUP: Final = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
INGRESS_RULE: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS_RULE: Final = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"

KEY: Final = "aws:kms/key:Key"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"
EVENT_RULE: Final = "aws:cloudwatch/eventRule:EventRule"
EVENT_TARGET: Final = "aws:cloudwatch/eventTarget:EventTarget"
QUEUE: Final = "aws:sqs/queue:Queue"
QUEUE_POLICY: Final = "aws:sqs/queuePolicy:QueuePolicy"
TOPIC_SUBSCRIPTION: Final = "aws:sns/topicSubscription:TopicSubscription"
TOPIC: Final = "aws:sns/topic:Topic"
TOPIC_POLICY: Final = "aws:sns/topicPolicy:TopicPolicy"

BUCKET: Final = "aws:s3/bucket:Bucket"
BUCKET_OBJECT: Final = "aws:s3/bucketObjectv2:BucketObjectv2"
BUCKET_ACL: Final = "aws:s3/bucketAcl:BucketAcl"
BUCKET_BLOCK: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
BUCKET_ENCRYPTION: Final = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
BUCKET_LIFECYCLE: Final = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
BUCKET_LOCK: Final = "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration"
BUCKET_LOGGING: Final = "aws:s3/bucketLogging:BucketLogging"
BUCKET_NOTIFICATION: Final = "aws:s3/bucketNotification:BucketNotification"
BUCKET_OWNERSHIP: Final = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
BUCKET_POLICY: Final = "aws:s3/bucketPolicy:BucketPolicy"
BUCKET_REPLICATION: Final = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"
BUCKET_VERSIONING: Final = "aws:s3/bucketVersioning:BucketVersioning"
S3_ACCESS_POINT: Final = "aws:s3/accessPoint:AccessPoint"
EFS: Final = "aws:efs/fileSystem:FileSystem"
EFS_ACCESS_POINT: Final = "aws:efs/accessPoint:AccessPoint"
EFS_BACKUP: Final = "aws:efs/backupPolicy:BackupPolicy"
EFS_POLICY: Final = "aws:efs/fileSystemPolicy:FileSystemPolicy"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
OPEN_ZFS: Final = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
ONTAP: Final = "aws:fsx/ontapFileSystem:OntapFileSystem"
DATA_LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
BACKUP_VAULT: Final = "aws:backup/vault:Vault"
DATABASE: Final = "aws:rds/instance:Instance"
DATABASE_CLUSTER: Final = "aws:rds/cluster:Cluster"
PARAMETER_GROUP: Final = "aws:rds/parameterGroup:ParameterGroup"
REPOSITORY: Final = "aws:ecr/repository:Repository"
REPOSITORY_POLICY: Final = "aws:ecr/repositoryPolicy:RepositoryPolicy"
PULL_THROUGH_CACHE: Final = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REPOSITORY_LIFECYCLE: Final = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
STORED_SECRET: Final = "aws:secretsmanager/secret:Secret"  # noqa: S105 - a type
SECRET_ROTATION: Final = "aws:secretsmanager/secretRotation:SecretRotation"  # noqa: S105 - a type
PARAMETER: Final = "aws:ssm/parameter:Parameter"
BUDGET: Final = "aws:budgets/budget:Budget"
LOAD_BALANCER: Final = "aws:lb/loadBalancer:LoadBalancer"
LISTENER: Final = "aws:lb/listener:Listener"
TARGET_GROUP: Final = "aws:lb/targetGroup:TargetGroup"
WEB_ACL_ASSOCIATION: Final = "aws:wafv2/webAclAssociation:WebAclAssociation"

ROLE: Final = "aws:iam/role:Role"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
ROLE_ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
POLICY: Final = "aws:iam/policy:Policy"
GROUP_POLICY: Final = "aws:iam/groupPolicy:GroupPolicy"
POLICY_ATTACHMENT: Final = "aws:iam/policyAttachment:PolicyAttachment"
USER: Final = "aws:iam/user:User"
USER_POLICY: Final = "aws:iam/userPolicy:UserPolicy"
USER_ATTACHMENT: Final = "aws:iam/userPolicyAttachment:UserPolicyAttachment"
OIDC_PROVIDER: Final = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
ACCESS_KEY: Final = "aws:iam/accessKey:AccessKey"

CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105 - a type
RELEASE: Final = "kubernetes:helm.sh/v3:Release"


def package(token: str) -> str:
    """The SDK's package of a type; `lambda` is a word of Python, so its package is `lambda_`."""
    name = token.split(":")[1].partition("/")[0]
    return f"{name}_" if keyword.iskeyword(name) else name


SDK: Final[Mapping[str, str]] = {
    token: f"pulumi_aws.{package(token)}.{token.rpartition(':')[2]}"
    for name, token in dict(globals()).items()
    if name.isupper() and isinstance(token, str) and token.startswith("aws:")
} | {
    CONFIG_MAP: "pulumi_kubernetes.core.v1.ConfigMap",
    SECRET: "pulumi_kubernetes.core.v1.Secret",
    RELEASE: "pulumi_kubernetes.helm.v3.Release",
}
"""Class of the SDK by token."""

STACK: Final = "pulumi:pulumi:Stack"
AWS_PROVIDER: Final = "pulumi:providers:aws"
KUBERNETES_PROVIDER: Final = "pulumi:providers:kubernetes"

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
PERSISTENT_VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
POD: Final = "kubernetes:core/v1:Pod"
SERVICE: Final = "kubernetes:core/v1:Service"
SERVICE_ACCOUNT: Final = "kubernetes:core/v1:ServiceAccount"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
NETWORK_POLICY: Final = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
INGRESS: Final = "kubernetes:networking.k8s.io/v1:Ingress"
ADMISSION_POLICY: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
ADMISSION_BINDING: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
MUTATING_POLICY: Final = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
MUTATING_BINDING: Final = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicyBinding"
INGRESS_PARAMS: Final = "kubernetes:elbv2.k8s.aws/v1beta1:IngressClassParams"
GATEWAY_BALANCER: Final = "kubernetes:gateway.k8s.aws/v1:LoadBalancerConfiguration"
PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
POD_MONITOR: Final = "kubernetes:monitoring.coreos.com/v1:PodMonitor"
SERVICE_MONITOR: Final = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
PROMETHEUS_RULE: Final = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
STATEFUL_SET: Final = "kubernetes:apps/v1:StatefulSet"
DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
REPLICA_SET: Final = "kubernetes:apps/v1:ReplicaSet"
JOB: Final = "kubernetes:batch/v1:Job"
CRON_JOB: Final = "kubernetes:batch/v1:CronJob"
POD_DISRUPTION_BUDGET: Final = "kubernetes:policy/v1:PodDisruptionBudget"
CLUSTER_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
NAMESPACE_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:Role"
CLUSTER_ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
JOB_SET: Final = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
WORKER_SET: Final = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
TRAIN_JOB: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:TrainJob"
TRAINING_RUNTIME: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
TEAM_TRAINING_RUNTIME: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:TrainingRuntime"
PYTORCH_JOB: Final = "kubernetes:kubeflow.org/v1:PyTorchJob"
MPI_JOB: Final = "kubernetes:kubeflow.org/v2beta1:MPIJob"
RAY_CLUSTER: Final = "kubernetes:ray.io/v1:RayCluster"
RAY_JOB: Final = "kubernetes:ray.io/v1:RayJob"
RAY_SERVICE: Final = "kubernetes:ray.io/v1:RayService"
WORKFLOW: Final = "kubernetes:argoproj.io/v1alpha1:Workflow"
WORKFLOW_TEMPLATE: Final = "kubernetes:argoproj.io/v1alpha1:WorkflowTemplate"
CRON_WORKFLOW: Final = "kubernetes:argoproj.io/v1alpha1:CronWorkflow"
POD_AUTOSCALER: Final = "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"
SCALED_OBJECT: Final = "kubernetes:keda.sh/v1alpha1:ScaledObject"
INFERENCE_GRAPH: Final = "kubernetes:serving.kserve.io/v1alpha1:InferenceGraph"
INFERENCE_SERVICE: Final = "kubernetes:serving.kserve.io/v1beta1:InferenceService"
SERVING_RUNTIME: Final = "kubernetes:serving.kserve.io/v1alpha1:ClusterServingRuntime"
TEAM_SERVING_RUNTIME: Final = "kubernetes:serving.kserve.io/v1alpha1:ServingRuntime"
CLUSTER_QUEUE: Final = f"kubernetes:{KUEUE_API}:ClusterQueue"
LOCAL_QUEUE: Final = f"kubernetes:{KUEUE_API}:LocalQueue"
RESOURCE_FLAVOR: Final = f"kubernetes:{KUEUE_API}:ResourceFlavor"
COHORT: Final = f"kubernetes:{KUEUE_API}:Cohort"
WORKLOAD_PRIORITY: Final = f"kubernetes:{KUEUE_API}:WorkloadPriorityClass"
TOPOLOGY: Final = f"kubernetes:{KUEUE_API}:Topology"
ADMISSION_CHECK: Final = f"kubernetes:{KUEUE_API}:AdmissionCheck"
MULTI_KUEUE_CONFIG: Final = f"kubernetes:{KUEUE_API}:MultiKueueConfig"
MULTI_KUEUE_CLUSTER: Final = f"kubernetes:{KUEUE_API}:MultiKueueCluster"

LONG_RUNNING: Final = (DEPLOYMENT, STATEFUL_SET, DAEMON_SET, REPLICA_SET)
RAY: Final = (RAY_CLUSTER, RAY_JOB, RAY_SERVICE)
JOBS: Final = (JOB, JOB_SET, PYTORCH_JOB, MPI_JOB, TRAIN_JOB)
WORKLOADS: Final = (
    POD,
    *LONG_RUNNING,
    JOB,
    CRON_JOB,
    JOB_SET,
    WORKER_SET,
    TRAINING_RUNTIME,
    TEAM_TRAINING_RUNTIME,
    PYTORCH_JOB,
    MPI_JOB,
    *RAY,
    WORKFLOW,
    WORKFLOW_TEMPLATE,
    CRON_WORKFLOW,
    INFERENCE_SERVICE,
    SERVING_RUNTIME,
    TEAM_SERVING_RUNTIME,
)
"""Kinds that contain pod specs."""
RUNTIMES: Final = (TRAINING_RUNTIME, TEAM_TRAINING_RUNTIME, SERVING_RUNTIME, TEAM_SERVING_RUNTIME)
COMPLETE: Final = tuple(token for token in WORKLOADS if token not in RUNTIMES)
"""Kinds whose pods run as declared; a runtime is completed by the job or service that refers to it."""

NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
"""Custom resources: their type token consists of API version and kind."""

MANAGED_POOL: Final = "slipway:pools:ManagedPool"
KARPENTER_POOL: Final = "slipway:pools:KarpenterPool"
POOLS: Final = (MANAGED_POOL, KARPENTER_POOL)
"""Components with the output `pool`: the pool in plain values, which a preview knows."""
BILL: Final = "slipway:cost:Bill"
"""A component with the output `bill`: the estimate of the program and the limits of its stack file, in plain values."""
