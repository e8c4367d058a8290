"""Tags that EKS and Karpenter set on the instances of nodes, by which IAM policies recognize them."""

from typing import Final

MANAGED: Final = frozenset({"eks:cluster-name", "eks:nodegroup-name"})
"""Set by EKS on the instances of managed node groups (EKS User Guide, "Tagging your resources", tags of managed node
groups; the instances' `eks:cluster-name` is also the condition of AmazonEBSCSIDriverEKSClusterScopedPolicy)."""
KARPENTER: Final = frozenset(
    {
        "eks:eks-cluster-name",
        "karpenter.k8s.aws/ec2nodeclass",
        "karpenter.sh/nodeclaim",
        "karpenter.sh/nodepool",
        "name",
    }
)
"""Set by Karpenter (karpenter-provider-aws v1.14.1, pkg/utils/utils.go, GetTags; `Name` and the NodeClaim by
pkg/controllers/nodeclaim/tagging). `eks:eks-cluster-name` can't be set in an EC2NodeClass: its CRD refuses that."""
OWNER: Final = "kubernetes.io/cluster/"  # begins the key of a tag that both set, with the cluster's name


def carried(key: str, *, managed: bool, elastic: bool) -> bool:
    """Whether instances carry a tag, in lower case, without the program's doing.

    Args:
        key: Key of the tag.
    """
    by_either = key.startswith(OWNER) and (managed or elastic)
    return by_either or (managed and key in MANAGED) or (elastic and key in KARPENTER)
