"""All rules of a stack. Policies, bindings and the guide are generated from this table."""

from __future__ import annotations

from components.admission.context import StackContext
from components.admission.gpus import GPU_LIMITS, gpu_pool
from components.admission.isolation import PRIORITY_CLASS, VOLUME_SOURCES, node_selection
from components.admission.jobs import JOB_BOUNDS
from components.admission.locks import WORKFLOW_LOCKS
from components.admission.monitors import MONITOR_FILES, MONITOR_SCOPE
from components.admission.owners import CONTROLLER_REFERENCE, TEAM_LABELS
from components.admission.pods import HOST_ACCESS, IMAGE_TAG
from components.admission.queued import QUEUE_NAME, gpu_queue, queue_start
from components.admission.ray import ray_cluster
from components.admission.rule import Rule
from components.admission.scale import scale_bounds
from components.admission.spot import spot_checkpoint, spot_eviction
from components.admission.traffic import EXTERNAL_IPS, INGRESS_SCOPE


def rules(context: StackContext) -> tuple[Rule, ...]:
    """All rules of a stack, those for GPUs first."""
    return (
        gpu_pool(context),
        GPU_LIMITS,
        JOB_BOUNDS,
        spot_checkpoint(context),
        spot_eviction(context),
        ray_cluster(context),
        *((QUEUE_NAME, gpu_queue(context), queue_start(context)) if context.queues else ()),
        IMAGE_TAG,
        HOST_ACCESS,
        scale_bounds(context.max_replicas),
        CONTROLLER_REFERENCE,
        PRIORITY_CLASS,
        node_selection(context),
        VOLUME_SOURCES,
        EXTERNAL_IPS,
        INGRESS_SCOPE,
        MONITOR_FILES,
        MONITOR_SCOPE,
        WORKFLOW_LOCKS,
        TEAM_LABELS,
    )
