"""Small builders of PromQL for recurring expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NAMESPACE_TEAM: Final = "slipway:namespace_team:info"  # 1 for each namespace of a team: `namespace`, `team`, `project`
POD_JOB: Final = "slipway:pod_job:info"
"""1 for each pod of a job: `namespace`, `pod`, `workload`. A label `job` would be Prometheus's own."""
NODE: Final = "slipway:node:info"  # 1 for each node: `node`, `pool`, `instance_type`, `capacity_type`

Renaming = tuple[str, str, str, str]
"""Arguments of `label_replace`: target label, replacement, source label, pattern of its whole value."""


def relabelled(expression: str, *renamings: Renaming) -> str:
    """An expression with labels derived from others; if a pattern doesn't match, the label is unchanged."""
    for target, text, source, pattern in renamings:
        expression = f'label_replace({expression}, "{target}", "{text}", "{source}", "{pattern}")'
    return expression


def renamed(expression: str, **labels: str) -> str:
    """An expression with renamed labels: `renamed("x", node="Hostname")`."""
    return relabelled(expression, *((target, "$1", source, "(.+)") for target, source in labels.items()))


def with_team(expression: str, identity: Iterable[str]) -> str:
    """Series of pods with the team of their namespace; those without a team are kept, without the label.

    Args:
        expression: Series with a label `namespace`.
        identity: Labels that identify a series.
    """
    joined = f"({expression}) * on (namespace) group_left (team) {NAMESPACE_TEAM}"
    return f"{joined} or on ({', '.join(identity)}) ({expression})"


def of_team(expression: str) -> str:
    """Series of the teams' pods only, with their team."""
    return f"({expression}) * on (namespace) group_left (team) {NAMESPACE_TEAM}"


def by_leader(metric: str, *matchers: str) -> str:
    """A gauge of Kueue as its leader exports it.

    Followers export their own copies, without having tried to admit anything: what the leader counts as `inadmissible`
    is `active` there, so that not even the maximum over replicas is right (kueue v0.19, pkg/util/roletracker and
    pkg/cache/queue/metrics.go; with one replica the role is `standalone`; read 2026-11).
    """
    selected = ", ".join(('replica_role!="follower"', *matchers))
    return f"{metric}{{{selected}}}"
