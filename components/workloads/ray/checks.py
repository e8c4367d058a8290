"""Checks of Ray workloads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from components.workloads.checks.bounds import count_problems, served_problems, suspended_problems
from components.workloads.checks.need import choice
from components.workloads.checks.pods import SPOT_NOTICE_SECONDS, pod_problems
from components.workloads.pods import Pod
from components.workloads.ray.args import MINIMUM_VERSION, RayClusterArgs
from components.workloads.ray.groups import head, worker
from spec.settings.addons.batch import Kuberay
from spec.settings.capacity import Market
from spec.settings.problems import Problem

MOST_GROUPS: Final = 16
"""A Workload of Kueue has at most 18 pod sets (v0.19.2, jobframework.MaxPodSets): head, submitter and groups."""
_GROUP: Final = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


def cluster_problems(kind: str, args: RayClusterArgs, *, serves: bool = False) -> Iterator[Problem]:
    """Problems of the cluster: its pods, their number and places."""
    yield from served_problems(args.target, kind, Kuberay)
    yield from suspended_problems(args.suspend, args.target, kind)
    yield from _version_problems(args)
    yield from _head_problems(args, head("check", args, serves=serves)["spec"])
    if not args.workers or len(args.workers) > MOST_GROUPS:
        rule = f"a Ray cluster has from 1 to {MOST_GROUPS} groups of workers, because its head runs no tasks"
        yield Problem("workers", rule, sorted(args.workers), "Add a group, or join equal ones.")
    for name, group in sorted(args.workers.items()):
        path = f"workers.{name}"
        spec = worker("check", args, group.pod, serves=serves)["spec"]
        if not _GROUP.fullmatch(name) or name in ("head", "submitter"):
            rule = (
                "a group's name has at most 20 lowercase letters, digits and hyphens, and head and submitter are taken"
            )
            yield Problem("workers", rule, name, "Rename it.")
        yield from count_problems(f"{path}.replicas", group.replicas, 1, 1000)
        yield from _command_problems(f"{path}.pod", group.pod)
        yield from pod_problems(f"{path}.pod", spec, args.target, at_once=group.replicas)
        yield from _grace_problems(f"{path}.pod", group.pod, spec, args)


def _version_problems(args: RayClusterArgs) -> Iterator[Problem]:
    match = _VERSION.fullmatch(args.ray_version)
    if match is None:
        yield Problem("ray_version", "it must be a version of Ray", args.ray_version, "Write it like 2.52.0.")
    elif args.token and tuple(map(int, match.groups())) < MINIMUM_VERSION:
        least = ".".join(map(str, MINIMUM_VERSION))
        rule = f"token authentication needs Ray {least}"
        fix = "Use a newer image, or token=False: every pod of the team can then run code on the cluster."
        yield Problem("ray_version", rule, args.ray_version, fix)


def _head_problems(args: RayClusterArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    yield from _command_problems("head", args.head)
    if args.head.resources.gpus or args.head.resources.mig:
        rule = "the head runs no tasks, so it needs no GPU"
        yield Problem("head.resources", rule, args.head.resources.gpus or "mig", "Request GPUs for the workers.")
    spot = [name for name, pool in choice(spec, args.target).pools.items() if pool.market is Market.SPOT]
    if spot:
        rule = f"the whole cluster is lost with its head, and nodes of pool {spot[0]} are Spot"
        yield Problem("head.pools", rule, spot, "Use a pool that is not Spot, like the general CPU pool.")
    yield from pod_problems("head", spec, args.target)


def _command_problems(path: str, pod: Pod) -> Iterator[Problem]:
    if pod.command or pod.args:
        rule = "KubeRay sets the command, `ray start`, and would run another one first, without end"
        yield Problem(f"{path}.command", rule, [*pod.command, *pod.args], "Remove it; a RayJob has an `entrypoint`.")


def _grace_problems(path: str, pod: Pod, spec: dict[str, Any], args: RayClusterArgs) -> Iterator[Problem]:
    spot = any(pool.market is Market.SPOT for pool in choice(spec, args.target).pools.values())
    if spot and pod.grace_seconds > SPOT_NOTICE_SECONDS:
        rule = f"a Spot node is terminated {SPOT_NOTICE_SECONDS} s after the interruption notice"
        yield Problem(f"{path}.grace_seconds", rule, pod.grace_seconds, "Let the worker end within two minutes.")
