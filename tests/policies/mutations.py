"""Mutations of the production stack, one at a time: the resource, the change, and the checks that must report it.

The mutations for resource rules are derived from their fixtures; the tables here name the resource, further edits and
further checks that report them. Stack rules have explicit mutations: one change of one resource of the real program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from policies.resources.access import MISSING

Edits = Mapping[tuple[Any, ...], Any]

_CONTAINER: Final[dict[str, Any]] = {
    "name": "main",
    "image": "nvcr.io/nvidia/tritonserver:26.07-py3",
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
    "ports": [{"containerPort": 8080}],
    "readinessProbe": {},
    "livenessProbe": {},
}
_POD: Final[dict[str, Any]] = {
    "automountServiceAccountToken": False,
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "topologySpreadConstraints": [{"topologyKey": "topology.kubernetes.io/zone"}],
    "terminationGracePeriodSeconds": 120,
    "volumes": [{"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}}],
    "containers": [_CONTAINER],
}
_METADATA: Final = {"namespace": "vision-training"}
TEAM_RESOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "kubernetes:core/v1:Pod": {"metadata": _METADATA, "spec": _POD},
    "kubernetes:apps/v1:Deployment": {"metadata": _METADATA, "spec": {"replicas": 2, "template": {"spec": _POD}}},
    "kubernetes:batch/v1:Job": {
        "metadata": {
            **_METADATA,
            "labels": {"kueue.x-k8s.io/queue-name": "default", "kueue.x-k8s.io/priority-class": "experiment"},
        },
        "spec": {
            "ttlSecondsAfterFinished": 3600,
            "activeDeadlineSeconds": 86400,
            "backoffLimit": 3,
            "template": {"spec": _POD},
        },
    },
}
"""Valid resources of a team, by type; production declares none of these types."""

_CPU: Final = {("spec", "template", "metadata", "labels", "platform.slipway/role"): "training"}
_GPUS: Final = {("spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"): "8"}
_SPOT: Final = {("spec", "template", "spec", "nodeSelector", "karpenter.sh/capacity-type"): "spot"}
_OPEN: Final = {("vpcConfig", "endpointPublicAccess"): True}
MORE: Final[Mapping[str, Edits]] = {
    "eks-no-world-endpoint/anywhere": _OPEN,
    "pod-hygiene/default-account": {("automountServiceAccountToken",): True},
    "rbac-takeover/resources": {("rules", 0, "resources"): ["namespaces"], ("rules", 0, "verbs"): ["patch"]},
    "rbac-takeover/system": {("metadata", "namespace"): "kube-system", ("roleRef", "name"): "admin"},
    "rbac-reach/admission": {("rules", 0, "verbs"): ["create"]},
    "netpol-not-open/open": {("spec", "ingress"): [{}]},
    "nodegroup-autoname/name": {("nodeGroupName",): "training"},
    "node-ami-pinned/owner": {("spec", "amiSelectorTerms"): [{"name": "custom-*"}]},
    "spot-pool-diversified/types": {("capacityType",): "SPOT"},
    "spot-pool-diversified/zones": {("capacityType",): "SPOT"},
    "pool-cost-cap/cap": {("instanceTypes",): ["p5.48xlarge"]},
    "cost-tags-complete/machines": {("tagSpecifications", 2, "tags"): {"owner": "ml"}},
    "pod-restricted/non-root": {("spec", "securityContext", "runAsUser"): MISSING},
    "vpc-parts-closed/default-route": {("natGatewayId",): MISSING, ("networkInterfaceId",): "eni-1"},
    "helm-values-hardened/memory": {("values", "controllers"): [{"resources": {"requests": {"cpu": "1"}}}]},
    "karpenter-training-disruption/policy": _CPU,
    "karpenter-training-disruption/idle": _CPU,
    "karpenter-training-disruption/life": _CPU,
    "karpenter-training-disruption/drain": _CPU,
    "job-queue-and-priority/queue": _GPUS,
    "job-queue-and-priority/priority": _GPUS,
    "spot-job-checkpoints/volume": _SPOT,
    "spot-job-checkpoints/grace": _SPOT,
    "rbac-least/secrets": {("rules", 0, "resources"): ["secrets"]},
    "kueue-limits-sane/lending": {
        ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0): {
            "name": "nvidia.com/gpu",
            "nominalQuota": "0",
            "lendingLimit": "0",
        },
    },
    "kueue-limits-sane/reclaim": {("spec", "preemption", "borrowWithinCohort", "policy"): "LowerPriority"},
    "gpu-request-equals-limit/equal": {("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"): "2"},
}
"""Further edits that make the mutation a violation, by check."""

SUBJECTS: Final[Mapping[str, str]] = {
    "eks-network-policy-on/switch": "addons-early-vpc-cni",
    "efs-mounts-iam/identity": "storage-class-shared",
    "efs-mounts-iam/transport": "space-language-serving-datasets-volume",
    "helm-values-hardened/isolated": "kueue-release",
    "helm-values-hardened/user": "kueue-release",
    "helm-values-hardened/memory": "kueue-release",
    "vpc-parts-closed/default-route": "network-route-private-default-a",
    "runtime-sized/cpu": "kserve-runtime-vllm-gpu-spot",
    "runtime-sized/memory": "kserve-runtime-vllm-gpu-spot",
    "runtime-sized/memory-limit": "kserve-runtime-vllm-gpu-spot",
    "rbac-least/secrets": "team-roles-view",
    "workload-cost-labels/labels": "space-vision-training-namespace",
}
"""Name of the resource to change, by check, if it is not the first of its type."""

OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {"cost-tags-complete/tags": {"provider": {}}}
"""Further resource options, by check."""


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One change of the production stack.

    Attributes:
        name: Logical name of the resource.
        violates: The checks that must report it; no others may.
        edits: Changed properties; None if the resource is removed.
        adds: Type of a resource without properties that is added with this name.
    """

    name: str
    violates: tuple[str, ...]
    edits: Edits | None = None
    adds: str = ""


def edit(name: str, path: str, value: Any, *violates: str) -> Mutation:
    """A changed property; `MISSING` removes it."""
    return Mutation(name=name, edits={_path(path): value}, violates=violates)


def removal(name: str, *violates: str) -> Mutation:
    """A removed resource."""
    return Mutation(name=name, violates=violates)


def _path(text: str) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part.replace("|", ".") for part in text.split("."))


MUTATIONS: Final = (
    edit("addons-early-vpc-cni", "addonVersion", MISSING, "eks-core-addons-pinned/pinned"),
    edit("addons-early-kube-proxy", "addonVersion", "v1.36.0-eksbuild.1", "eks-version-skew/proxy"),
    removal("addons-late-coredns", "eks-core-addons-pinned/present"),
    edit("addons-late-ebs-csi", "podIdentityAssociations", MISSING, "eks-addon-own-role/role"),
    edit("network-subnet-private-b", "availabilityZone", "us-east-1a", "eks-private-multi-az/zones"),
    edit(
        "nodes-role-ssm",
        "policyArn",
        "arn:aws:iam::aws:policy/AmazonS3FullAccess",
        "node-role-minimal/attached",
        "iam-no-admin/managed",
    ),
    edit("storage-efs-files", "throughputMode", "bursting", "efs-throughput-backup/throughput"),
    removal("storage-efs-backup", "efs-throughput-backup/backup"),
    edit("storage-efs-datasets", "rootDirectory.path", "/", "efs-access-points/root"),
    removal("storage-efs-policy", "efs-access-points/transport"),
    removal("admission-host-access", "admission-policies-bound/installed"),
    removal("admission-host-access-binding", "admission-policies-bound/installed"),
    edit("admission-host-access-binding", "spec.validationActions", ["Warn"], "admission-policies-bound/action"),
    edit(
        "admission-host-access-binding",
        "spec.matchResources.namespaceSelector",
        {"matchLabels": {"a": "b"}},
        "admission-policies-bound/namespaces",
    ),
    edit("kubernetes", "context", "other", "provider-of-the-cluster/cluster"),
    edit("karpenter-association", "namespace", "vision-training", "pod-roles-own/role"),
    edit(
        "cluster-access-entry-on-call",
        "principalArn",
        "arn:aws:iam::444455556666:role/friend",
        "access-entries-in-stack-file/listed",
    ),
    edit(
        "space-language-training-binding-edit",
        "subjects.0.name",
        "slipway:vision:edit",
        "rbac-team-own/group",
    ),
    edit("storage-images-cache-quay", "upstreamRegistryUrl", "registry.example.com", "ecr-hardened/upstream"),
    edit("network-flow-logs-vpc", "trafficType", "ACCEPT", "vpc-baseline/rejected"),
    edit("storage-lustre-files", "deploymentType", "SCRATCH_2", "fsx-no-scratch-prod/scratch"),
    edit("storage-lustre-raw", "deleteDataInFilesystem", True, "fsx-dra-no-delete/delete"),
    removal("storage-models-access", "s3-public-block/block"),
    edit("storage-models-access", "blockPublicPolicy", False, "s3-public-block/policy"),
    removal("storage-models-policy", "s3-no-public-grants/transport"),
    removal("storage-models-ownership", "s3-no-public-grants/ownership"),
    edit("storage-models", "acl", "public-read", "s3-no-public-grants/acl"),
    edit(
        "storage-models",
        "policy",
        '{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"*"}}',
        "principals-known/anybody",
        "s3-no-public-grants/principal",
    ),
    edit(
        "storage-efs-policy",
        "policy",
        '{"Statement":[{"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:role/one"},"Action":"*","Condition":'
        '{"Bool":{"aws:SecureTransport":"false"}}}]}',
        "efs-access-points/transport",
    ),
    edit(
        "cluster-access-policy-on-call",
        "principalArn",
        "arn:aws:iam::999988887777:root",
        "principals-known/account",
        "eks-access-in-stack-file/listed",
    ),
    removal("storage-models-encryption", "s3-kms-bucket-key/declared"),
    edit("storage-models-encryption", "rules.0.bucketKeyEnabled", False, "s3-kms-bucket-key/bucket-key"),
    edit("storage-models-versioning", "versioningConfiguration.status", "Suspended", "s3-versioned-lifecycle/enabled"),
    removal("storage-models-lifecycle", "s3-versioned-lifecycle/lifecycle"),
    removal("storage-models-logging", "s3-audit-extras/logged"),
    edit("storage-mlflow-parameters", "parameters", [], "rds-parameters/tls", "rds-parameters/slow"),
    edit("storage-images-serving", "imageTagMutability", "MUTABLE", "ecr-hardened/immutable"),
    edit("bill", "bill.ceilingUsdPerHour", 10**6, "stack-cost-cap/ceiling"),
    edit("bill", "bill.floorUsdPerHour", 10**6, "stack-cost-cap/floor"),
    edit("notices-topic", "kmsMasterKeyId", MISSING, "queues-encrypted/encrypted"),
    edit("queue-language-cluster-queue", "spec.namespaceSelector", {}, "kueue-tenant-isolation/selector"),
    edit(
        "queue-language-local-queue-language-training", "spec.clusterQueue", "nobody", "kueue-tenant-isolation/target"
    ),
    removal("queue-language-local-queue-language-training", "kueue-tenant-isolation/local"),
    removal("queues-flavor-a100", "kueue-flavor-has-pool/flavor"),
    edit(
        "queues-flavor-a100",
        "spec.nodeLabels",
        {"platform.slipway/pool": "a1000"},
        "kueue-flavor-has-pool/pool",
        "kueue-flavor-has-pool/flavor",
    ),
    edit("pool-a100", "pool.max", 1, "kueue-quota-fits-pool/sum"),
    edit("pool-a100", "pool.sharing", {"mode": "mps", "replicas": 48}, "no-timeslicing-training/replicas"),
    edit("pool-a100", "pool.max", 90, "service-quota-headroom/vcpus", "subnet-ip-headroom/headroom"),
    edit("pool-cpu", "pool.max", 4000, "service-quota-headroom/vcpus", "subnet-ip-headroom/headroom"),
    edit("pool-a100", "pool.mig", {"7g.80gb": 2}, "mig-profile-fits/profiles"),
    edit(
        "karpenter-controller-policy",
        "policy",
        '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:TerminateInstances","Resource":'
        '"arn:aws:ec2:us-east-1:*:instance/*","Condition":{"StringEquals":{"ec2:ResourceTag/ours":"yes"}}}]}',
        "identity-instance-tags/tags",
    ),
    edit("pool-a100-launch-template", "userData", MISSING, "mig-before-kubelet/nodes"),
    edit("gpu-operator-release", "values.migManager.enabled", True, "mig-before-kubelet/manager"),
    edit("addons-early-node-monitoring-agent", "configurationValues", MISSING, "daemonset-tolerates-pools/addon"),
    edit("addons-late-s3-csi", "configurationValues", MISSING, "daemonset-tolerates-pools/addon"),
    edit("gpu-operator-release", "values.daemonsets.tolerations", [], "daemonset-tolerates-pools/release"),
    edit("kueue-release", "values.managerConfig.controllerManagerConfigYaml", "{}", "kueue-gang-safe/wait"),
    edit("budgets-environment", "notifications", [], "budget-alarm-exists/percents", "budget-alarm-exists/forecast"),
    Mutation(
        name="unattached",
        adds="aws:ec2/securityGroup:SecurityGroup",
        violates=("sg-attached/used", "sg-least-open/description"),
    ),
    removal("space-vision-training-quota", "namespace-quota/quota"),
    removal("space-vision-training-limits", "namespace-quota/range"),
    removal("space-vision-training-network-default-deny", "netpol-default-deny/ingress", "netpol-default-deny/egress"),
    removal("network-flow-logs-vpc", "vpc-baseline/flow-logs"),
    removal("network-default-group", "vpc-baseline/default-group"),
    edit("kube-prometheus-stack-rules-records", "spec.groups", [], "alerts-kept/filled"),
    removal("kube-prometheus-stack-rules-alerts", "alerts-kept/alerts"),
    edit("mlflow-database-user", "stringData.password", "it", "secret-values-elsewhere/value"),
    edit("network-default-group", "ingress", [{"protocol": "-1", "self": True}], "vpc-baseline/default-rules"),
    removal("network-endpoint-s3", "vpc-shape/endpoints"),
    removal("pool-h100-fabric-from-itself", "efa-pool-complete/group"),
    removal("cluster-api-from-corporate", "eks-private-reachable/admitted"),
    removal("karpenter-spot", "spot-interruption-handling/events"),
    removal("addons-early-node-monitoring-agent", "gpu-node-repair/agent"),
    edit("pool-h100-launch-template", "instanceMarketOptions", MISSING, "capacity-block-wired/market"),
    edit("leader-worker-set-budget", "spec.maxUnavailable", 0, "serving-pdb/blocking"),
)
WITHOUT_MUTATION: Final[Mapping[str, str]] = {
    "gpu-premium-approval": "off in production",
    "service-account-own": "production declares no pod outside the namespaces of teams",
    "gpu-pod-schedulable": "production declares no pod that names a pool",
    "lb-tls-internal": "a controller creates load balancers from Services and Ingresses",
    "lb-public-filtered": "a controller creates load balancers from Services and Ingresses",
    "secret-stores-encrypted": "production declares no secrets or parameters of AWS",
}
"""Stack rules without a mutation, with the reason."""
