"""A cluster in memory: what a test says becomes of each Job."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Object, Ref


class Cluster:
    """Keeps objects, and lets `react` change them when a Job is created.

    Attributes:
        objects: Every object by its reference.
        react: Called with the cluster and a new Job.
        refuses: Names of Jobs that the API server refuses.
    """

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
        """Keep a Job, and react."""
        if obj["metadata"]["name"] == self.refuses:
            raise ApiError(403, {"message": "no pool fits this pod"})
        kept = self.apply(obj, "", force=True)
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

    def delete(self, ref: Ref) -> None:
        """Remove an object, the pod of a Job, and what is in a namespace."""
        self.objects.pop(ref, None)
        if ref.kind == "Job":
            self.objects.pop(Ref("v1", "Pod", ref.name, ref.namespace), None)
        for other in [one for one in self.objects if ref.kind == "Namespace" and one.namespace == ref.name]:
            del self.objects[other]


def runs(cluster: Cluster, job: Object, *, message: str = "GPU 0: NVIDIA", phase: str = "Succeeded") -> None:
    """The Job is admitted, and its pod ends on a node of its pool that advertises what it requests."""
    job["spec"]["suspend"] = False
    name, where = job["metadata"]["name"], job["metadata"]["namespace"]
    spec = job["spec"]["template"]["spec"]
    node = f"node-{spec['nodeSelector']['platform.slipway/pool']}"
    cluster.objects[Ref("v1", "Node", node)] = {
        "metadata": {"name": node, "labels": spec["nodeSelector"]},
        "status": {"allocatable": spec["containers"][0]["resources"]["limits"]},
    }
    job["status"] = {"conditions": [{"type": "Complete" if phase == "Succeeded" else "Failed", "status": "True"}]}
    cluster.objects[Ref("v1", "Pod", name, where)] = {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": where,
            "labels": {"batch.kubernetes.io/job-name": name, **job["spec"]["template"]["metadata"]["labels"]},
        },
        "spec": {"nodeName": node},
        "status": {
            "phase": phase,
            "containerStatuses": [{"state": {"terminated": {"reason": "Completed", "message": message}}}],
        },
    }
