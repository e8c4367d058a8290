"""Checks of names and keys: lengths of what AWS names after a pool, labels and taints that belong to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from infra.config.checks.base import Context
from infra.config.pools import Pool
from infra.config.problems import Problem
from infra.naming import physical_length

NODE_GROUP_LENGTH: Final = 63
"""Characters of an EKS node group's name (EKS User Guide, "Create a managed node group")."""
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
    """The longest AWS name that is made of a pool's name."""
    for name in pools:
        length = physical_length("slipway", context.stack, f"pool-{name}")
        if length > NODE_GROUP_LENGTH:
            rule = f"its node group's name, slipway-{context.stack}-pool-{name}-<7 digits>, has at most {NODE_GROUP_LENGTH}"
            mend = f"Shorten the pool's or the stack's name by {length - NODE_GROUP_LENGTH}."
            yield Problem(f"pools.{name}", f"{rule} characters", length, mend)


def labels_and_taints(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Keys that Kubernetes, AWS, Karpenter, NVIDIA or Slipway set themselves."""
    for name, pool in pools.items():
        for kind, keys in (("labels", pool.labels), ("taints", pool.taints)):
            for key in keys:
                if _reserved(key):
                    mend = f"Use a domain of yours: `example.com/{key.rpartition('/')[2]}`."
                    yield Problem(f"pools.{name}.{kind}.{key}", "the key must not be a reserved one", key, mend)


def _reserved(key: str) -> bool:
    domain = key.rpartition("/")[0]
    owned = any(domain == reserved or domain.endswith(f".{reserved}") for reserved in RESERVED_DOMAINS)
    return owned or key in RESERVED_KEYS
