"""Checks of names and keys: lengths of AWS names that contain a pool's name, reserved labels and taints."""

from collections.abc import Iterator, Mapping
from typing import Final

from spec.catalog import names as limits
from spec.naming import physical_length
from spec.settings.checks.base import Context
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem

LONGEST: Final[Mapping[str, str]] = {"iam-role": "addons-early-role-vpc-cni", "event-rule": "karpenter-state-change"}
"""The longest logical name of each kind with a short limit, for any settings; tests compare it with the program."""
NODE_GROUP: Final = "pool-{pool}-node-group"
TAINT_KEY: Final = 63
"""Maximum length of a taint's key in a node group (botocore, eks CreateNodegroup, `taint.key`)."""
LABEL_KEY: Final = 128 - len("k8s.io/cluster-autoscaler/node-template/label/")
"""Maximum length of a label's key, which is part of a tag's key: 128 characters (botocore, autoscaling, `Tag.Key`) less
the prefix that Cluster Autoscaler looks for."""
PROJECT: Final = "slipway"
RESERVED_DOMAINS: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "karpenter.k8s.aws",
    "eks.amazonaws.com",
    "k8s.amazonaws.com",
    "nvidia.com",
    "platform.slipway",
)
RESERVED_KEYS: Final = ("accelerator", "gpu-count", "dedicated")


def lengths(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """The longest AWS names that contain the stack's name, and a pool's, are within their limits."""
    over = {logical: _excess(context.stack, kind, logical) for kind, logical in LONGEST.items()}
    worst = max(over, key=lambda logical: over[logical])
    if over[worst] > 0:
        rule = f"the stack's name is too long for AWS names such as {_spelled(context.stack, worst)}"
        yield Problem("environment.name", rule, context.stack, f"Shorten the stack's name by {over[worst]}.")
        return
    for name, pool in pools.items():
        logical = NODE_GROUP.format(pool=name)
        excess = _excess(context.stack, "eks-node-group", logical)
        if pool.provisioner is Provisioner.MANAGED and excess > 0:
            longest = limits.limit("eks-node-group").longest
            rule = f"its node group's name, {_spelled(context.stack, logical)}, has at most {longest} characters"
            fix = f"Shorten the pool's or the stack's name by {excess}."
            yield Problem(f"pools.{name}", rule, longest + excess, fix)


def _spelled(stack: str, logical: str) -> str:
    return f"{PROJECT}-{stack}-{logical}-<7 digits>"


def _excess(stack: str, kind: str, logical: str) -> int:
    return physical_length(PROJECT, stack, logical) - limits.limit(kind).longest


def keys_of_managed_pools(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Keys that are too long for EKS, or for the tags from which Cluster Autoscaler learns them."""
    for name, pool in pools.items():
        if pool.provisioner is not Provisioner.MANAGED:
            continue
        for kind, keys, longest in (("labels", pool.labels, LABEL_KEY), ("taints", pool.taints, TAINT_KEY)):
            for key in keys:
                if len(key) > longest:
                    rule = f"a key of a managed pool's {kind} has at most {longest} characters"
                    yield Problem(f"pools.{name}.{kind}.{key}", rule, len(key), f"Shorten it by {len(key) - longest}.")


def labels_and_taints(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Keys that Kubernetes, AWS, Karpenter, NVIDIA or Slipway set themselves."""
    for name, pool in pools.items():
        for kind, keys in (("labels", pool.labels), ("taints", pool.taints)):
            for key in keys:
                if _reserved(key):
                    fix = f"Use a domain of your own: `example.com/{key.rpartition('/')[2]}`."
                    yield Problem(f"pools.{name}.{kind}.{key}", "the key must not be reserved", key, fix)


def _reserved(key: str) -> bool:
    domain = key.rpartition("/")[0]
    owned = any(domain == reserved or domain.endswith(f".{reserved}") for reserved in RESERVED_DOMAINS)
    return owned or key in RESERVED_KEYS
