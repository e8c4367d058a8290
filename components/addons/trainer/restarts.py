"""What a JobSet does when one of its pods is lost: all start again, because the others wait for it in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RESTARTS: Final = 3
"""Restarts of a platform's runtime for failures of the program."""
RECLAIMED: Final[Mapping[str, Any]] = {
    # A job that fails because of a disruption restarts the set without counting as a failure: the job's pod failure
    # policy gives that reason (jobset.sigs.k8s.io, "Failure Policy", host maintenance; 0.12).
    "name": "reclaimed",
    "action": "RestartJobSetAndIgnoreMaxRestarts",
    "onJobFailureReasons": ["PodFailurePolicy"],
}
DISRUPTED: Final[Mapping[str, Any]] = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
"""Rule of a Job's `podFailurePolicy`, which the API server accepts only with pods that are never restarted."""


def failure_policy(restarts: int | None) -> dict[str, Any]:
    """`failurePolicy` of a JobSet."""
    return {"maxRestarts": restarts, "rules": [dict(RECLAIMED)]}


def job_failures() -> dict[str, Any]:
    """Fields of each Job of such a JobSet: its first failure is one of the set."""
    return {"backoffLimit": 0, "podFailurePolicy": {"rules": [dict(DISRUPTED)]}}
