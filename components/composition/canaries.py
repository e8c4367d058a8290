"""Canaries of KServe are rolled back by their error rate: every minute a CronJob compares it with the limit that the
program set (`canary_rollback.py`, which it runs).

It may read pods, and change InferenceGraphs, in namespaces for serving alone: one ClusterRole, bound in each of them.
"""

from collections.abc import Sequence
from typing import Any, Final

from components.base import canaries
from components.base.operator import rule
from components.composition import canary_rollback, in_cluster, scripts
from components.workloads.serving.scaling import PROMETHEUS
from spec.quantities import seconds
from spec.settings.addons.serving import CanaryRollback

NAME: Final = "canary-rollback"
EVERY: Final = "* * * * *"


def permissions(spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Account, ClusterRole and a RoleBinding in each namespace for serving, by the suffix of their logical name."""
    rules = [
        rule("", ["pods"], ["get", "list"]),
        rule("", ["events"], ["create"]),
        rule("serving.kserve.io", ["inferencegraphs"], ["get", "list", "patch"]),
    ]
    return scripts.permissions(NAME, rules, spaces)


def job(settings: CanaryRollback, spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The CronJob and its script, by the suffix of their logical name."""
    limits = (str(seconds(settings.window)), str(settings.min_requests))
    return scripts.job(NAME, EVERY, [canaries, in_cluster, canary_rollback], [PROMETHEUS, *limits, *sorted(spaces)])
