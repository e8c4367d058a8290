"""Workloads as typed components that report problems at preview instead of failing later.

They need only a `Target`, a plain value, and so work in any Pulumi program, not only the platform's.
"""

from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, WorkloadRefused
from components.workloads.distributed import (
    DistributedTraining,
    DistributedTrainingArgs,
    Topology,
    distributed_training,
)
from components.workloads.notebook import Notebook, NotebookArgs, notebook
from components.workloads.pipeline import Pipeline, PipelineArgs, Step, pipeline
from components.workloads.pods import Claim, Files, Pod, Resources, Scratch, SecretKey, Staged
from components.workloads.ray import (
    RayCluster,
    RayClusterArgs,
    RayJob,
    RayJobArgs,
    RayService,
    RayServiceArgs,
    RayWorkers,
    ray_cluster,
    ray_job,
    ray_service,
)
from components.workloads.serving import (
    VLLM_ERRORS,
    Autoscaling,
    Canary,
    ErrorMetrics,
    ModelDeployment,
    ModelDeploymentArgs,
    ModelServer,
    ModelServerArgs,
    Picker,
    model_deployment,
    model_server,
)
from components.workloads.sweep import Sweep, SweepArgs, grid, sweep
from components.workloads.target import Target
from components.workloads.training_job import TrainingJob, TrainingJobArgs, training_job

__all__ = [
    "VLLM_ERRORS",
    "Autoscaling",
    "Canary",
    "Claim",
    "DistributedTraining",
    "DistributedTrainingArgs",
    "ErrorMetrics",
    "Files",
    "ModelDeployment",
    "ModelDeploymentArgs",
    "ModelServer",
    "ModelServerArgs",
    "Notebook",
    "NotebookArgs",
    "Picker",
    "Pipeline",
    "PipelineArgs",
    "Pod",
    "RayCluster",
    "RayClusterArgs",
    "RayJob",
    "RayJobArgs",
    "RayService",
    "RayServiceArgs",
    "RayWorkers",
    "Resources",
    "Scratch",
    "SecretKey",
    "Staged",
    "Step",
    "Sweep",
    "SweepArgs",
    "Target",
    "Topology",
    "TrainingJob",
    "TrainingJobArgs",
    "Workload",
    "WorkloadManifest",
    "WorkloadManifests",
    "WorkloadRefused",
    "distributed_training",
    "grid",
    "model_deployment",
    "model_server",
    "notebook",
    "pipeline",
    "pod_problems",
    "ray_cluster",
    "ray_job",
    "ray_service",
    "spot_problems",
    "sweep",
    "training_job",
]
