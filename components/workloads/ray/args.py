"""Inputs of Ray workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.workloads.pods import Pod
from components.workloads.target import Target

MINIMUM_VERSION: Final = (2, 52, 0)
"""First version of Ray with token authentication (kuberay v1.6.1, ValidateRayClusterSpec)."""


@dataclass(frozen=True, kw_only=True)
class RayWorkers:
    """A group of equal workers.

    Attributes:
        pod: The worker; its number of CPUs and GPUs, and its memory, are what Ray schedules on. Without
            `shared_memory` a third of its memory is in /dev/shm, for Ray's object store.
        replicas: Number of workers.
    """

    pod: Pod
    replicas: int = 1


@dataclass(frozen=True, kw_only=True)
class RayClusterArgs:
    """Inputs of `RayCluster`.

    Attributes:
        target: The target platform and namespace.
        head: The head, on a pool without GPUs that is not Spot. Ray runs no tasks on it.
        workers: Groups of workers by name, on the pools of their pods, Spot included.
        ray_version: Version of Ray in the images: `"2.52.0"`.
        token: Whether the dashboard, which runs code, and the clients need the token that KubeRay creates in a Secret
            of the cluster's name; Ray supports it from 2.52 on.
        priority: Priority class.
        suspend: Create it suspended; the queue starts all pods together or none.
    """

    target: Target
    head: Pod
    workers: Mapping[str, RayWorkers]
    ray_version: str
    token: bool = True
    priority: str = "interactive"
    suspend: bool = True


@dataclass(frozen=True, kw_only=True)
class RayJobArgs(RayClusterArgs):
    """Inputs of `RayJob`.

    Attributes:
        entrypoint: Shell command of the driver, which runs on the head: `"python train.py"`.
        runtime_env: Runtime environment of the job: `{"working_dir": "s3://bucket/code.zip"}`.
        deadline_seconds: Maximum duration of each attempt, from its start by the queue.
        retries: Attempts after the first; each has a new cluster.
        ttl_seconds: How long the cluster of a finished job is kept. It holds its nodes, outside the quota.
        priority: Priority class.
    """

    entrypoint: str
    runtime_env: Mapping[str, Any] | None = None
    deadline_seconds: int | None = None
    retries: int | None = 3
    ttl_seconds: int = 0
    priority: str = "production-training"


@dataclass(frozen=True, kw_only=True)
class RayServiceArgs(RayClusterArgs):
    """Inputs of `RayService`.

    Attributes:
        serve: Ray Serve's configuration: `{"applications": [...]}`. A change of it is applied without a restart; one
            of the cluster needs a new service.
        priority: Priority class.
    """

    serve: Mapping[str, Any]
    priority: str = "production-inference"
