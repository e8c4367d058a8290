"""Checks of batch add-ons."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


def kinds_named(_context: Context, addons: Addons) -> Iterator[Problem]:
    """The training operator serves at least one kind: with none named, it requires the CRDs of all."""
    operator = addons.training_operator
    if operator is not None and not operator.kinds:
        yield Problem(
            "addons.trainingOperator.kinds",
            "the training operator serves at least one kind",
            [],
            "Name one, like PyTorchJob, or remove trainingOperator.",
        )


def multi_kueue_used(context: Context, addons: Addons) -> Iterator[Problem]:
    """A timeout that only a manager applies is set only on a manager."""
    kueue = addons.kueue
    if kueue is None or kueue.multi_kueue == "manager":
        return
    if "workerLostTimeoutMinutes" in context.own_keys("addons", "kueue"):
        yield Problem(
            "addons.kueue.workerLostTimeoutMinutes",
            "this timeout applies only to a MultiKueue manager",
            kueue.worker_lost_timeout_minutes,
            "Remove it, or set `multiKueue: manager`.",
        )
