"""Settings of admission: rules that the API server enforces on workloads of teams, whichever client applies them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.alias_generators import to_camel

from spec.settings.base import Model, Name


class Action(StrEnum):
    """What the API server does with a workload that violates a rule."""

    DENY = "deny"
    """Reject it, with the message."""
    WARN = "warn"
    """Admit it; the client receives the message as a warning, and the audit log records it."""
    AUDIT = "audit"
    """Admit it; the audit log records the message."""
    OFF = "off"
    """Don't install the rule."""


class Admission(Model):
    """Rules for workloads in team namespaces, each with its action on a violation."""

    gpu_pool: Action = Action.DENY
    """A pod that requests GPUs fits on a pool of the stack, and tolerates its taints."""
    gpu_limits: Action = Action.DENY
    """GPU requests equal GPU limits, also in custom resources."""
    device_claims: Action = Action.DENY
    """A claim of devices is made by a template, for an exact number of whole GPUs, which its name tells."""
    job_bounds: Action = Action.DENY
    """A job sets a deadline, a limit on its retries, and a time after which it is deleted, none too high."""
    job_cost: Action = Action.DENY
    """A job costs at most `teams.X.jobUsd` until its deadline, a tenth of `budgetUsd` if unset."""
    experiment_bounds: Action = Action.DENY
    """An Experiment of Katib has a bounded number of trials, which are jobs that it writes out itself."""
    spot_checkpoint: Action = Action.DENY
    """A job on Spot writes to a volume claim."""
    spot_eviction: Action = Action.DENY
    """A pod on Spot can be evicted at the notice of an interruption."""
    ray_cluster: Action = Action.DENY
    """A Ray cluster keeps its head off Spot, and starts no pods beyond those that its queue counts."""
    queue_name: Action = Action.DENY
    """A job names its queue, if the stack has Kueue."""
    image_tag: Action = Action.DENY
    """An image has a tag other than `latest`, or a digest."""
    host_access: Action = Action.DENY
    """A pod has no access to its node: neither privileges nor paths, network, processes or ports of the host."""
    scale_bounds: Action = Action.DENY
    """An autoscaled workload sets a maximum, `maxReplicas` or less."""
    controller_reference: Action = Action.DENY
    """Only controllers make objects that a controller owns."""
    gpu_queue: Action = Action.DENY
    """A pod that requests GPUs is queued, if the stack has Kueue."""
    queue_start: Action = Action.DENY
    """Only Kueue starts what it queues."""
    queue_metadata: Action = Action.DENY
    """Labels and annotations by which Kueue counts are those of its users, if the stack has Kueue."""
    queue_topology: Action = Action.DENY
    """A queued pod for pools with a topology alone asks for one, if `queues.topology` is on."""
    scheduler: Action = Action.DENY
    """A pod is placed by the stack's own scheduler in its team's queue, if the stack has YuniKorn or Volcano."""
    priority_class: Action = Action.DENY
    """A pod has one of the platform's priority classes, or none."""
    node_selection: Action = Action.DENY
    """A pod selects and tolerates nodes of pools for teams, and those with GPUs only with a request for GPUs."""
    volume_sources: Action = Action.DENY
    """A volume is a claim, or one without a server of its own."""
    external_ips: Action = Action.DENY
    """A Service has no `externalIPs`."""
    ingress_scope: Action = Action.DENY
    """An Ingress has an internal load balancer, and shares it with no other namespace."""
    trigger_scope: Action = Action.DENY
    """KEDA scales by sources that need no token of its own, and with the identity of the workload."""
    monitor_files: Action = Action.DENY
    """A ServiceMonitor names no file of Prometheus."""
    monitor_scope: Action = Action.DENY
    """A monitor of a team reads pods of its own namespace, under their own names."""
    workflow_locks: Action = Action.DENY
    """A workflow takes mutexes and semaphores of its own namespace."""
    workflow_scope: Action = Action.DENY
    """A workflow has no priority, metrics or artifacts beyond those of its namespace."""
    device_variables: Action = Action.DENY
    """A container gets its GPUs by a request, not by a variable."""
    object_size: Action = Action.DENY
    """An object has at most 128 KiB, a workflow 256, a ConfigMap or Secret 512."""
    object_reach: Action = Action.DENY
    """An object has no finalizer, volume or token of others, and its disruption budget lets a pod go."""
    team_labels: Action = Action.DENY
    """A pod has the team, project and cost center of its namespace, or no labels for them."""
    teams: dict[Name, dict[str, Action]] = Field(default_factory=dict)
    """Other actions in the namespaces of a team, by rule: `{vision: {jobBounds: audit}}`."""
    defaults: bool = True
    """Fill in fields that a rule asks for and that are absent, such as the deadline of a job, from Kubernetes 1.36. A
    warning and the annotation `platform.slipway/defaults` show what was filled in."""
    max_replicas: Annotated[int, Field(ge=1, le=5000)] = 100
    """Maximum number of pods of one workload. 5,000 is the size of cluster that Kubernetes is tested with, in nodes
    (kubernetes.io, "Considerations for large clusters")."""

    def of(self, rule: str) -> Action:
        """Action of a rule, named in kebab-case."""
        action: Action = getattr(self, rule.replace("-", "_"))
        return action

    def of_team(self, rule: str, team: str) -> Action:
        """Its action in the namespaces of a team."""
        return self.teams.get(team, {}).get(to_camel(rule.replace("-", "_")), self.of(rule))
