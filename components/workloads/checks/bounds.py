"""Rules for what runs and ends: every job has an end, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from components.workloads.target import Target
from spec.settings.addons import AddonSettings
from spec.settings.problems import Problem

DAY: Final = 86400
LONGEST: Final = 14 * DAY
"""Karpenter replaces a node after 336 hours (`disruption.expireAfter` of a pool), whatever runs on it."""
LONGEST_KEPT: Final = 7 * DAY
MAX_RETRIES: Final = 20


def bounds_problems(deadline: int | None, ttl: int | None, retries: int | None) -> Iterator[Problem]:
    """A deadline, a time after which it is cleaned up, a number of retries: none may be missing or endless."""
    yield from _within("deadline_seconds", deadline, 60, LONGEST, "how long may it run, with its retries")
    yield from _within("ttl_seconds", ttl, 0, LONGEST_KEPT, "how long is it kept once it has ended")
    yield from retries_problems(retries)


def deadline_problems(deadline: int | None) -> Iterator[Problem]:
    """A deadline alone, for kinds that keep no finished object."""
    yield from _within("deadline_seconds", deadline, 60, LONGEST, "how long may it run, with its retries")


def retries_problems(retries: int | None) -> Iterator[Problem]:
    """Retries alone."""
    yield from _within("retries", retries, 0, MAX_RETRIES, "how often may it fail and start again")


def count_problems(path: str, count: int, minimum: int, maximum: int) -> Iterator[Problem]:
    """A number within bounds."""
    if not minimum <= count <= maximum:
        yield Problem(
            path, f"it must be from {minimum} to {maximum}", count, f"Give a number from {minimum} to {maximum}."
        )


def suspended_problems(suspend: bool, target: Target) -> Iterator[Problem]:
    """A job that nobody starts."""
    if suspend and target.queue is None:
        rule = "a suspended job starts when its queue admits it, and the target has no queue"
        yield Problem("suspend", rule, suspend, "Set suspend=False, or name a queue in the target.")


def served_problems(target: Target, kind: str, *addons: type[AddonSettings]) -> Iterator[Problem]:
    """A kind that the platform does not serve, as far as is known what is installed."""
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
        yield Problem(path, rule, value, f"Give a number from {minimum} to {maximum}.")
