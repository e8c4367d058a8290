"""A Ray cluster without end, for interactive work and jobs of many users."""

from __future__ import annotations

from typing import Any, Final

import pulumi

from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.metadata import SKIP_AWAIT, metadata
from components.workloads.ray.args import RayClusterArgs
from components.workloads.ray.checks import cluster_problems
from components.workloads.ray.groups import cluster_spec
from components.workloads.refusal import refuse_if_any

API: Final = "ray.io/v1"


def ray_cluster(name: str, args: RayClusterArgs) -> WorkloadManifests:
    """The manifests of a Ray cluster.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayCluster", name, cluster_problems("RayCluster", args))
    spec = {**cluster_spec(name, args), "suspend": args.suspend}
    return {"cluster": WorkloadManifest(ray_object("RayCluster", name, args, spec))}


def ray_object(kind: str, name: str, args: RayClusterArgs, spec: dict[str, Any]) -> dict[str, Any]:
    """An object of KubeRay in its queue."""
    meta = metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"})
    return {"apiVersion": API, "kind": kind, "metadata": meta, "spec": spec}


class RayCluster(Workload):
    """The resources of a Ray cluster."""

    PULUMI_TYPE: Final = "slipway:workloads:RayCluster"

    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_cluster(name, args), args.target, opts)
