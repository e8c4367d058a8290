"""Checks of jobs: every job must be bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from components.addons.kueue.configuration import FRAMEWORKS
from components.workloads.target import Target
from spec.settings.addons import AddonSettings
from spec.settings.problems import Problem

DAY: Final = 86400
LONGEST: Final = 14 * DAY
"""Longest deadline of any job. That of a job on a Karpenter pool is bounded by the drain of the pool's nodes as well
(`components.workloads.checks.lifetime`)."""
LONGEST_KEPT: Final = 7 * DAY
LONGEST_IDLE: Final = 3600
"""Longest time that the cluster of a finished RayJob is kept, with its nodes."""
MAX_RETRIES: Final = 20


def bounds_problems(deadline: int | None, ttl: int | None, retries: int | None) -> Iterator[Problem]:
    """Deadline, TTL and number of retries must be set and finite."""
    yield from _within("deadline_seconds", deadline, 60, LONGEST, "how long may it run, including retries")
    yield from _within("ttl_seconds", ttl, 0, LONGEST_KEPT, "how long is it kept after it finishes")
    yield from retries_problems(retries)


def deadline_problems(deadline: int | None) -> Iterator[Problem]:
    """Only the deadline, for kinds without a TTL."""
    yield from _within("deadline_seconds", deadline, 60, LONGEST, "how long may it run, including retries")


def retries_problems(retries: int | None) -> Iterator[Problem]:
    """Only the retries."""
    yield from _within("retries", retries, 0, MAX_RETRIES, "how often is it retried")


def count_problems(path: str, count: int, minimum: int, maximum: int) -> Iterator[Problem]:
    """A number within limits."""
    if not minimum <= count <= maximum:
        yield Problem(
            path, f"it must be from {minimum} to {maximum}", count, f"Set a number from {minimum} to {maximum}."
        )


def suspended_problems(suspend: bool, target: Target, kind: str) -> Iterator[Problem]:
    """A suspended job that no queue would start."""
    if not suspend:
        return
    if target.queue is None:
        rule = "a suspended job starts when its queue admits it, but the target has no queue"
        yield Problem("suspend", rule, suspend, "Set suspend=False, or set a queue in the target.")
    elif target.queued is not None and FRAMEWORKS.get(kind) not in target.queued:
        rule = f"a suspended {kind} starts when Kueue admits it, but Kueue does not manage this kind"
        fix = f"Set suspend=False. Kueue manages {', '.join(sorted(target.queued)) or 'nothing'}."
        yield Problem("suspend", rule, suspend, fix)


def served_problems(target: Target, kind: str, *addons: type[AddonSettings]) -> Iterator[Problem]:
    """A kind whose add-on isn't installed, if the installed add-ons are known."""
    if target.addons is None:
        return
    for addon in addons:
        if addon not in target.addons:
            key = addon.__name__[0].lower() + addon.__name__[1:]
            installed = sorted(each.__name__ for each in target.addons)
            yield Problem(
                "kind", f"{kind} needs the add-on {key}", installed, f"Add `{key}: {{}}` to the stack's addons."
            )


def _within(path: str, value: int | None, minimum: int, maximum: int, question: str) -> Iterator[Problem]:
    if value is None or isinstance(value, bool) or not minimum <= value <= maximum:
        rule = f"a job must be bounded: {question}? From {minimum} to {maximum}"
        yield Problem(path, rule, value, f"Set a number from {minimum} to {maximum}.")
