"""Checks of where a model is: in S3, or in an image that the kubelet mounts and keeps on the node."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from components.workloads.checks.pods import image_problems, uri_problems
from components.workloads.pods import Pod
from components.workloads.target import Target
from spec.catalog import kubernetes
from spec.pools.pool_spec import PoolSpec
from spec.settings.checks.addons import IMAGES_SINCE
from spec.settings.problems import Problem

IMAGE: Final = "oci+native://"
"""Beginning of the address of an image of which the kubelet mounts the folder `/models` at `/mnt/models` (kserve
v0.20.0, pkg/utils/storage.go, `ConfigureOciNativeToContainer`)."""
FOLDER_SINCE: Final = "20260403"
"""First release of AL2023 AMIs with containerd 2.2 (awslabs/amazon-eks-ami, CHANGELOG.md, read 2026-11). Earlier ones
ignore which folder of an image is wanted, and mount all of it (containerd/containerd#11580)."""
_AL2023: Final = re.compile(r"(1\.\d+\.\d+-|v)(?P<day>\d{8})")


def model_pools(runtime: Pod | str, target: Target) -> Sequence[PoolSpec]:
    """Pools on which the pods of a runtime may run; those without GPUs for a runtime of the platform for CPUs."""
    if isinstance(runtime, Pod):
        return [target.pools[name] for name in runtime.pools if name in target.pools]
    known = (target.runtimes or {}).get(runtime)
    if known is None:
        return []
    return [known.place.spec] if known.place else [pool for pool in target.pools.values() if pool.plain]


def model_problems(path: str, uri: str, pools: Sequence[PoolSpec]) -> Iterator[Problem]:
    """The address of a model that a server of KServe can't load on these pools."""
    scheme, _, image = uri.partition("://")
    if not scheme.startswith("oci"):
        for problem in uri_problems(path, uri):
            yield replace(problem, fix=f"{problem.fix} Or build an image with it: {IMAGE}REGISTRY/NAME:TAG.")
        return
    if not uri.startswith(IMAGE):
        # KServe v0.20.0, pkg/utils/storage.go, `CreateModelcarContainer`; of other schemes it knows none.
        rule = (
            "the kubelet mounts a model's image; for oci:// KServe runs the image as a second container, which needs a "
            "shell, changes the server's user and is refused by the Pod Security level restricted"
        )
        yield Problem(path, rule, uri, f"Write {IMAGE}{image}.")
    yield from image_problems(path, image)
    for pool in pools:
        minor = kubernetes.minor(pool.kubernetes)
        release = _AL2023.fullmatch(pool.ami_release or "")
        if minor is not None and minor < IMAGES_SINCE:
            rule = f"nodes mount images from Kubernetes 1.{IMAGES_SINCE} on, and those of pool {pool.name} are older"
            fix = f"Use s3://BUCKET/FOLDER, or set the version of the cluster and its pools to 1.{IMAGES_SINCE}."
            yield Problem(path, rule, pool.kubernetes, fix)
        elif release is not None and release["day"] < FOLDER_SINCE:
            rule = f"the AMI of pool {pool.name} has containerd before 2.2, which mounts no folder of an image"
            fix = f"Use s3://BUCKET/FOLDER, or an amiRelease from {FOLDER_SINCE} on."
            yield Problem(path, rule, pool.ami_release, fix)
