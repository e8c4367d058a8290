"""Checks of jobs: every job must be bounded, and the nodes of its pools must exist as long as it may run."""

from collections.abc import Iterator

from components.addons.kueue import FRAMEWORKS
from components.workloads.checks.fit import Spec, choice
from components.workloads.target import Target
from spec.jobs import HOUR, LONGEST, LONGEST_KEPT, MAX_RETRIES
from spec.pools.pool_spec import guaranteed_seconds
from spec.settings.addons import AddonSettings
from spec.settings.problems import Problem


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
    missing = [] if target.addons is None else [one for one in addons if one not in target.addons]
    yield from (missing_addon(target, kind, key_of(one)) for one in missing)


def key_of(addon: type[AddonSettings]) -> str:
    """Key of an add-on in the stack file."""
    return addon.__name__[0].lower() + addon.__name__[1:]


def missing_addon(target: Target, kind: str, key: str) -> Problem:
    """That the stack lacks the add-on of a kind."""
    installed = sorted(each.__name__ for each in target.addons or ())
    return Problem("kind", f"{kind} needs the add-on {key}", installed, f"Add `{key}: {{}}` to the stack's addons.")


def _within(path: str, value: int | None, minimum: int, maximum: int, question: str) -> Iterator[Problem]:
    if value is None or isinstance(value, bool) or not minimum <= value <= maximum:
        rule = f"a job must be bounded: {question}? From {minimum} to {maximum}"
        yield Problem(path, rule, value, f"Set a number from {minimum} to {maximum}.")


def lifetime_problems(path: str, deadline: int | None, spec: Spec, target: Target) -> Iterator[Problem]:
    """A deadline that the drain of a pool's nodes doesn't wait for.

    Karpenter deletes the pods that are left `terminationGracePeriodSeconds` before the drain ends.

    Args:
        path: Path of the deadline, for messages.
        deadline: Seconds that the job may run; None is another check's problem.
        spec: Spec of its pods.
        target: The target platform and namespace.
    """
    grace = spec.get("terminationGracePeriodSeconds", 30)
    for name, pool in choice(spec, target).pools.items():
        seconds = guaranteed_seconds(pool)
        if deadline is None or seconds is None or deadline + grace <= seconds:
            continue
        disruption = pool.settings.disruption
        rule = (
            f"nodes of pool {name} are replaced when they expire or their image changes, "
            f"at most {disruption.termination_grace_period} after they stop taking new pods"
        )
        setting = f"pools.{name}.disruption.terminationGracePeriod"
        fix = f"Set at most {max(0, seconds - grace)}, or raise {setting} to {-(-(deadline + grace) // HOUR)}h."
        yield Problem(path, rule, deadline, fix)
