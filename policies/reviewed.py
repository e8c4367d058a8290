"""Resource types that somebody has reviewed: those that rules evaluate, and those that the program declares.

A type is added here when a component declares it, after a review of what it can do: run a command, grant access, open a
network, or hide other resources from the rules (as `*List` and `*Patch` kinds, and charts rendered by the SDK, do). A
test compares the list with the program. The types are spelled out, because a prefix such as `slipway:` or
`kubernetes:core/v1:` includes types that nobody has reviewed.
"""

from typing import Final

from policies.resources import tokens

_EVALUATED: Final = frozenset(
    value for name, value in vars(tokens).items() if name.isupper() and isinstance(value, str)
)
DECLARED: Final = frozenset(
    {
        "aws:autoscaling/schedule:Schedule",
        "aws:autoscaling/tag:Tag",
        "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
        "aws:costexplorer/anomalySubscription:AnomalySubscription",
        "aws:costexplorer/costAllocationTag:CostAllocationTag",
        "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate",
        "aws:efs/mountTarget:MountTarget",
        "aws:iam/instanceProfile:InstanceProfile",
        "aws:kms/alias:Alias",
        "aws:rds/subnetGroup:SubnetGroup",
        "kubernetes:autoscaling.x-k8s.io/v1beta1:CapacityBuffer",
        "kubernetes:core/v1:PersistentVolumeClaim",
        # No controller makes pods of it; Karpenter reads the size of an idle node.
        "kubernetes:core/v1:PodTemplate",
        "kubernetes:gateway.k8s.aws/v1:TargetGroupConfiguration",
        "kubernetes:gateway.networking.k8s.io/v1:Gateway",
        "kubernetes:gateway.networking.k8s.io/v1:GatewayClass",
        "kubernetes:karpenter.sh/v1alpha1:NodeOverlay",
        # Its overrides are those of the component; members create none.
        "kubernetes:mlops.seldon.io/v1alpha1:SeldonRuntime",
        "kubernetes:networking.k8s.io/v1:IngressClass",
        "kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule",
        "kubernetes:operator.knative.dev/v1beta1:KnativeServing",
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue",
        "slipway:addons:ClusterAutoscaler",
        "slipway:addons:GpuSoftware",
        "slipway:addons:Karpenter",
        "slipway:addons:Namespaces",
        "slipway:addons:SeldonSpace",
        "slipway:addons:Software",
        "slipway:admission:Admission",
        "slipway:cluster:AccessEntries",
        "slipway:cluster:ControlPlane",
        "slipway:cluster:ManagedAddons",
        "slipway:cost:Budgets",
        "slipway:cost:CostGuards",
        "slipway:cost:Evenings",
        "slipway:cost:Notices",
        "slipway:cost:Schedules",
        "slipway:network:Endpoints",
        "slipway:network:FlowLogs",
        "slipway:network:Network",
        "slipway:network:Routing",
        "slipway:network:Subnets",
        "slipway:platform:Priorities",
        "slipway:pools:CapacityBuffer",
        "slipway:pools:Fabric",
        "slipway:pools:NodeRole",
        "slipway:queues:Queues",
        "slipway:queues:TeamQueue",
        "slipway:storage:Buckets",
        "slipway:storage:ContainerLogs",
        "slipway:storage:Database",
        "slipway:storage:Drivers",
        "slipway:storage:Images",
        "slipway:storage:ModelStorage",
        "slipway:storage:ParallelFiles",
        "slipway:storage:SharedFiles",
        "slipway:storage:Storage",
        "slipway:tenancy:QueuedTeam",
        "slipway:tenancy:Space",
        "slipway:tenancy:Team",
        "slipway:tenancy:TeamRoles",
        "slipway:workloads:DistributedTraining",
        "slipway:workloads:ModelDeployment",
        "slipway:workloads:ModelServer",
        "slipway:workloads:Notebook",
        "slipway:workloads:Pipeline",
        "slipway:workloads:RayCluster",
        "slipway:workloads:RayJob",
        "slipway:workloads:RayService",
        "slipway:workloads:Sweep",
        "slipway:workloads:TrainingJob",
    }
)
"""Types that the program declares and that no rule names."""

REVIEWED: Final = _EVALUATED | DECLARED  # all reviewed types
