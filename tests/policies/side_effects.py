"""Checks that a mutation for a resource rule violates besides its own, and checks that report nothing in production."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SKEW: Final = ("eks-version-skew/nodes", "eks-version-skew/proxy")
_PARTITIONED: Final = ("mig-profile-fits/layout",)
_UNCOVERED: Final = ("serving-pdb/budget",)
ALSO_REPORTED: Final[Mapping[str, tuple[str, ...]]] = {
    "eks-no-world-endpoint/ranges": ("eks-private-endpoint/private", "eks-private-endpoint/public"),
    "eks-no-world-endpoint/anywhere": ("eks-private-endpoint/public",),
    # The launch template of the mutation is that of the pool with MIG.
    "node-userdata-clean/credentials": ("mig-before-kubelet/nodes",),
    "node-userdata-clean/kubelet": ("mig-before-kubelet/nodes",),
    "node-userdata-clean/fetched": ("mig-before-kubelet/nodes",),
    # The fixture's role is in the account of another stack.
    "iam-scoped-writes/pass-role": ("accounts-known/account",),
    # The subject is the role of a pod, whose trust names its namespace.
    "iam-trust-scoped/anybody": ("pod-roles-own/role",),
    "iam-trust-scoped/issuer": ("pod-roles-own/role",),
    "iam-trust-scoped/pod-identity": ("pod-roles-own/role",),
    "rbac-least/webhooks": ("rbac-reach/admission",),
    "eks-supported-version/known": _SKEW,
    "eks-supported-version/support": ("eks-upgrade-due/support", *_SKEW),
    "eks-upgrade-due/support": ("eks-supported-version/support", *_SKEW),
    "eks-network-policy-on/switch": ("subnet-ip-headroom/prefixes",),
    "node-ami-pinned/supported": ("node-ami-pinned/driver",),
    "gpu-pool-max-bounded/set": ("pool-cost-cap/bound",),
    "gpu-pool-max-bounded/maximum": ("pool-cost-cap/cap",),
    # Production's inference pool is in one zone, the only one that offers its type.
    "no-spot-prod-inference/role": ("spot-pool-diversified/types", "spot-pool-diversified/zones"),
    "spot-pool-diversified/types": ("no-spot-prod-inference/role", "spot-pool-diversified/zones", *_PARTITIONED),
    "spot-pool-diversified/zones": ("no-spot-prod-inference/role", "spot-pool-diversified/types"),
    # The subject is a pool for CPU work, which consolidates and drains for two days.
    "karpenter-training-disruption/policy": ("karpenter-training-disruption/drain",),
    "karpenter-training-disruption/idle": (
        "karpenter-training-disruption/drain",
        "karpenter-training-disruption/policy",
    ),
    "karpenter-training-disruption/life": (
        "karpenter-training-disruption/drain",
        "karpenter-training-disruption/policy",
    ),
    "karpenter-training-disruption/drain": ("karpenter-training-disruption/policy",),
    "gpu-type-allowed/allowed": _PARTITIONED,
    # The provider of the mutation has no default tags either.
    "gpu-type-allowed/region": ("accounts-known/account", "cost-tags-complete/tags"),
    "pool-cost-cap/bound": ("gpu-pool-max-bounded/set",),
    "pool-cost-cap/priced": ("gpu-type-allowed/region", *_PARTITIONED),
    "workload-cost-labels/labels": ("pss-enforced/level",),
    "pod-isolated/sysctl": ("pod-restricted/non-root", "pod-restricted/seccomp"),
    "pod-isolated/apparmor": ("pod-restricted/non-root", "pod-restricted/seccomp"),
    # A second container without any field but its GPU limit.
    "gpu-request-equals-limit/one": (
        "pod-read-only-root/read-only",
        "pod-restricted/capabilities",
        "pod-restricted/escalation",
        "pod-sized/cpu",
        "pod-sized/memory",
        "pod-sized/memory-limit",
    ),
    "serving-ha/spread": _UNCOVERED,
    "serving-probes/ready": _UNCOVERED,
    "serving-probes/alive": _UNCOVERED,
    # Policies of resources have their own rule for principals, besides that of the service.
    "kms-key-safe/principal": ("principals-known/anybody",),
    "principals-known/anybody": ("kms-key-safe/principal",),
    "queues-encrypted/principal": ("principals-known/anybody",),
    "queues-encrypted/account": ("principals-known/account",),
    # The account of the fixture is not production's.
    "iam-trust-scoped/account": ("pod-roles-own/role", "principals-known/account"),
    "iam-trust-scoped/service-account": ("pod-roles-own/role", "principals-known/account"),
    "iam-trust-scoped/repository": ("pod-roles-own/role", "principals-known/account"),
    "iam-no-admin/actions": ("iam-scoped-writes/pass-role",),
    "iam-no-admin/s3": ("iam-scoped-writes/exfiltration", "iam-scoped-writes/permissions"),
    "vpc-parts-closed/acl": ("vpc-baseline/acl",),
    # An instance and a launch configuration without any property.
    "node-no-public-ip/pool": (
        "node-ebs-encrypted-cmk/mapped",
        "node-imds-hop-limit/hops",
        "node-imdsv2-required/tokens",
    ),
}
"""Further checks that the same mutation violates."""

NOT_REPORTED: Final[Mapping[str, str]] = {
    "gpu-pool-idle-zero/size": "off in production",
    "node-ami-pinned/pinned": "suppressed in production",
    "queues-encrypted/key": "suppressed for Karpenter's queue, which is the only one",
}
"""Checks that report nothing in production, with the reason."""
