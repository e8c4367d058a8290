"""Idle GPUs go back to the queue: every ten minutes a CronJob warns teams whose queued jobs don't use their GPUs, and
stops those that nobody keeps (`take_back.py`, which it runs).

It may read pods, and change Workloads of Kueue, in namespaces of teams alone: one ClusterRole, bound in each of them.
Model servers are no queued jobs, and scale by their load.
"""

from collections.abc import Sequence
from typing import Any, Final

from components.base.operator import rule
from components.composition import in_cluster, scripts, take_back
from components.workloads.serving.scaling import PROMETHEUS
from spec.quantities import seconds
from spec.settings.cost import IdleGpus

NAME: Final = "idle-gpus"
ROLE: Final = f"slipway-{NAME}"
EVERY: Final = "*/10 * * * *"


def permissions(spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Account, ClusterRole and a RoleBinding in each namespace of a team, by the suffix of their logical name."""
    rules = [
        rule("", ["pods"], ["get", "list"]),
        rule("", ["events"], ["create"]),
        rule("kueue.x-k8s.io", ["workloads"], ["get", "list", "patch"]),
    ]
    return scripts.permissions(NAME, rules, spaces)


def job(settings: IdleGpus, spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The CronJob and its script, by the suffix of their logical name."""
    limits = (str(seconds(settings.after)), str(seconds(settings.warning)))
    return scripts.job(NAME, EVERY, [in_cluster, take_back], [PROMETHEUS, *limits, *sorted(spaces)])
