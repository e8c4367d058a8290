"""A cluster in memory: what a test says becomes of each Job."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref
from slipway.verify import preemption
from slipway.verify.checks import ClusterCheck
from slipway.verify.run import Verification
from spec.settings.platform import Platform
from tests.support.stacks import platform_of

TEAMS: Final = tuple(
    name
    for stack in ("dev", "prod")
    for team, settings in platform_of(stack).teams.items()
    for name in (team, *settings.namespaces_of(team))
)


class Cluster:
    """Keeps objects, and lets `react` change them when a Job is created.

    Attributes:
        objects: Every object by its reference.
        react: Called with the cluster and a new Job.
        refuses: Name of an object that the API server refuses.
        series: What Prometheus answers to a query, as the values of a label; all that a test does not name is there.
    """

    series: Mapping[str, list[str]] = {}

    def __init__(self, react: Callable[[Cluster, Object], None], *others: Object, refuses: str = "") -> None:
        self.objects = {Ref.of(one): one for one in others}
        self.react, self.refuses = react, refuses
        self.discovery = SimpleNamespace(find=lambda version, kind: (version, kind))

    def apply(self, obj: Mapping[str, Any], _manager: str, *, force: bool = False) -> Object:
        """Keep an object."""
        assert force
        self.objects[Ref.of(obj)] = copy.deepcopy(dict(obj))
        return self.objects[Ref.of(obj)]

    def create(self, obj: Mapping[str, Any], _manager: str) -> Object:
        """Keep an object, and react to a Job."""
        if obj["metadata"]["name"] == self.refuses:
            raise ApiError(403, {"message": "no pool fits this pod"})
        kept = self.apply(obj, "", force=True)
        if obj["kind"] == "Job":
            self.react(self, kept)
        return kept

    def get(self, ref: Ref) -> Object | None:
        """One object."""
        return self.objects.get(ref)

    def list(self, kind: tuple[str, str], namespace: str = "", selector: str = "") -> Iterator[Object]:
        """Objects of a kind with a label."""
        key, _, value = selector.partition("=")
        for ref, one in list(self.objects.items()):
            labels = one["metadata"].get("labels") or {}
            chosen = (ref.api_version, ref.kind) == kind and namespace in ("", ref.namespace)
            if chosen and (not selector or labels.get(key) == value):
                yield one

    def get_path(self, path: str) -> Any:
        """The answer of Prometheus to a query."""
        (query,) = parse_qs(urlsplit(path).query)["query"]
        everything = [*TEAMS, "system", "a100", "h100", "cpu"]
        values = next((found for name, found in self.series.items() if name in query), everything)
        return {"status": "success", "data": {"result": [{"metric": {"l": one}, "value": [0, "1"]} for one in values]}}

    def delete(self, ref: Ref) -> None:
        """Remove an object, the pod of a Job, and what is in a namespace."""
        self.objects.pop(ref, None)
        for pod in [one for one in self.objects if one.kind == "Pod" and ref.kind == "Job"]:
            if self.objects[pod]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == ref.name:
                del self.objects[pod]
        for other in [one for one in self.objects if ref.kind == "Namespace" and one.namespace == ref.name]:
            del self.objects[other]


def verified(
    cluster: Cluster, platform: Platform, *, simulated: bool = False, connect: Any = None
) -> list[ClusterCheck]:
    """What a verification finds, in which each wait of two seconds takes a minute."""
    waited: list[float] = []
    return Verification(
        connect=connect or (lambda: cast("KubeClient", cluster)), platform=platform, seconds=1200, simulated=simulated,
        say=lambda _: None, sleep=waited.append, clock=lambda: sum(waited) * 30,
    ).run()  # fmt: skip


NCCL: Final = """\
Selected provider is efa
  8589934592    2147483648     float     sum      -1    33605  255.62  479.28      0    33628  255.44  478.95      0
 17179869184    4294967296     float     sum      -1    66132  259.78  487.09      0    66109  259.87  487.26      0
# Out of bounds values : 0 OK
"""
"""Result of two p5.48xlarge (awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests/README.md, 2026-11-22)."""
ANSWER: Final = """\
inside 200
{"predictions": [{"prediction": 0, "key": "1", "scores": [0.99]}]}
outside 200
"""


def log_of(job: Object) -> str:
    """What the container of a Job says in a cluster that works."""
    name = job["metadata"]["name"]
    if name.startswith("nccl-"):
        return NCCL
    return ANSWER if name == "slipway-verify-model" else "disk written\nGPU 0: NVIDIA"


def preempts(cluster: Cluster, job: Object) -> None:
    """The queue has room for the last of its Jobs alone."""
    for ref, one in cluster.objects.items():
        if ref.kind == "Job" and ref.name.startswith(preemption.NAME):
            one["spec"]["suspend"] = one is not job


def runs(cluster: Cluster, job: Object, *, message: str | None = None, phase: str = "Succeeded") -> None:
    """The Job is admitted, and its pods end on nodes of its pool that advertise what they request."""
    job["spec"]["suspend"] = False
    name, where = job["metadata"]["name"], job["metadata"]["namespace"]
    if name.startswith(preemption.NAME):
        preempts(cluster, job)
        return
    spec = job["spec"]["template"]["spec"]
    job["status"] = {"conditions": [{"type": "Complete" if phase == "Succeeded" else "Failed", "status": "True"}]}
    for index in range(job["spec"].get("completions", 1)):
        pool = (spec.get("nodeSelector") or {}).get("platform.slipway/pool", "cpu")
        node = f"node-{pool}-{index}"
        cluster.objects[Ref("v1", "Node", node)] = {
            "metadata": {"name": node, "labels": spec["nodeSelector"]},
            "status": {"allocatable": spec["containers"][0]["resources"]["limits"]},
        }
        pod, labels = f"{name}-{index}", job["spec"]["template"]["metadata"]["labels"]
        ended = {"reason": "Completed", "message": log_of(job) if message is None else message}
        cluster.objects[Ref("v1", "Pod", pod, where)] = {
            "kind": "Pod",
            "metadata": {
                "name": pod,
                "namespace": where,
                "labels": {
                    "batch.kubernetes.io/job-name": name,
                    "batch.kubernetes.io/job-completion-index": str(index),
                    **labels,
                },
            },
            "spec": {"nodeName": node},
            "status": {"phase": phase, "containerStatuses": [{"state": {"terminated": ended}}]},
        }
