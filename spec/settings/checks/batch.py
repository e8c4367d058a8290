"""Checks of batch work: what a kind of job needs."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


def kinds_named(_context: Context, addons: Addons) -> Iterator[Problem]:
    """The training operator serves something: told of no kind, it would want the CRDs of all."""
    operator = addons.training_operator
    if operator is not None and not operator.kinds:
        yield Problem(
            "addons.trainingOperator.kinds",
            "the training operator serves at least one kind",
            [],
            "Name one, like PyTorchJob, or leave trainingOperator out.",
        )


def multi_kueue_used(context: Context, addons: Addons) -> Iterator[Problem]:
    """A time that only a manager counts is given to a manager."""
    kueue = addons.kueue
    if kueue is None or kueue.multi_kueue == "manager":
        return
    if "workerLostTimeoutMinutes" in context.own_keys("addons", "kueue"):
        yield Problem(
            "addons.kueue.workerLostTimeoutMinutes",
            "only the manager of a MultiKueue loses workers",
            kueue.worker_lost_timeout_minutes,
            "Leave it out, or set `multiKueue: manager`.",
        )
