"""What the API server does with workloads of teams that would fail later, whoever applies them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from spec.settings.base import Model


class Action(StrEnum):
    """What happens to a workload that breaks a rule."""

    DENY = "deny"
    """It is refused, with the message."""
    WARN = "warn"
    """It is taken; who applies it gets the message, and the audit log has it."""
    AUDIT = "audit"
    """It is taken; the audit log has the message."""
    OFF = "off"
    """The rule is not there."""


class Admission(Model):
    """Rules for workloads in the namespaces of teams, each with what happens where it is broken."""

    gpu_pool: Action = Action.DENY
    """A pod that asks for GPUs fits on a pool of the stack, and tolerates its taints."""
    gpu_limits: Action = Action.DENY
    """Requests of GPUs equal their limits, in custom resources too."""
    job_bounds: Action = Action.DENY
    """A job has a deadline, a bound on its retries, and a time after which it is cleaned up."""
    spot_checkpoint: Action = Action.DENY
    """A job on spot writes to a volume claim."""
    queue_name: Action = Action.DENY
    """A job names its queue, where the stack has Kueue."""
    image_tag: Action = Action.DENY
    """An image has a tag other than `latest`, or a digest."""
    host_access: Action = Action.DENY
    """A pod has no part of its node: neither privileges nor paths, network, processes or ports of the host."""
    scale_bounds: Action = Action.DENY
    """What scales has a bound, `maxReplicas` at most."""
    max_replicas: Annotated[int, Field(ge=1, le=5000)] = 100
    """Pods of one workload at most. 5,000 is the size of cluster that Kubernetes is tested with, in nodes
    (kubernetes.io, "Considerations for large clusters")."""

    def of(self, rule: str) -> Action:
        """What happens where a rule, named in kebab-case, is broken."""
        action: Action = getattr(self, rule.replace("-", "_"))
        return action
