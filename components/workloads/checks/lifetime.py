"""Whether the nodes of a job's pools exist as long as the job may run."""

from __future__ import annotations

from collections.abc import Iterator

from components.workloads.checks.need import Spec, choice
from components.workloads.target import Target
from spec.pools.lifetime import guaranteed_seconds
from spec.settings.problems import Problem

_HOUR = 3600


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
        fix = f"Set at most {max(0, seconds - grace)}, or raise {setting} to {-(-(deadline + grace) // _HOUR)}h."
        yield Problem(path, rule, deadline, fix)
