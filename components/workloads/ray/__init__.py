"""Ray on KubeRay: a cluster, a job with a cluster of its own, a service on a cluster."""

from components.workloads.ray.args import RayClusterArgs, RayJobArgs, RayServiceArgs, RayWorkers
from components.workloads.ray.cluster import RayCluster, ray_cluster
from components.workloads.ray.job import RayJob, ray_job
from components.workloads.ray.service import RayService, ray_service

__all__ = [
    "RayCluster",
    "RayClusterArgs",
    "RayJob",
    "RayJobArgs",
    "RayService",
    "RayServiceArgs",
    "RayWorkers",
    "ray_cluster",
    "ray_job",
    "ray_service",
]
