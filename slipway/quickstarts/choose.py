"""Chooses the pool: the first on which the workload has no problem."""

from __future__ import annotations

from dataclasses import dataclass

from components.workloads import WorkloadManifests, WorkloadRefused
from slipway.quickstarts.catalog import QUICKSTARTS
from slipway.quickstarts.request import Request
from spec.errors import EXIT_REFUSED, SlipwayError


@dataclass(frozen=True)
class Chosen:
    """The objects of a quickstart.

    Attributes:
        place: The pool or runtime, for the reader.
        manifests: The objects by role.
    """

    place: str
    manifests: WorkloadManifests


def choose(quickstart: str, request: Request, pool: str | None = None) -> Chosen:
    """The objects of a quickstart on the pool that is preferred, or on a given one.

    Raises:
        SlipwayError: The workload fits on no pool of the team; the message has a problem for each.
    """
    attempts = list(QUICKSTARTS[quickstart].attempts(request))
    wanted = [one for one in attempts if pool in (None, one.pool)]
    if pool is not None and not wanted:
        known = ", ".join(dict.fromkeys(one.pool for one in attempts)) or "none"
        msg = f"--pool: {quickstart} must run on one of the team's pools for it (given: {pool!r}). There are: {known}."
        raise SlipwayError(msg, EXIT_REFUSED)
    problems = []
    for one in wanted:
        try:
            return Chosen(one.place, one.build())
        except WorkloadRefused as error:
            problems.append(f"  - {one.place}: {'; '.join(str(each) for each in error.problems)}")
    text = "\n".join(problems) or "  - the team has no share of a pool for it: add one to the team in the stack file"
    msg = f"{quickstart} runs on no pool of the namespace {request.target.namespace}:\n{text}"
    raise SlipwayError(msg, EXIT_REFUSED)
