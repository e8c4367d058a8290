"""Two Jobs in a queue with room for one: Kueue suspends the first for the second, whose priority is higher.

The queue exists only while the command runs, and is in no cohort, so neither quotas nor jobs of teams are affected.
"""

from dataclasses import dataclass
from typing import Any, Final

from components.addons.kueue import NOT_COUNTED
from components.tenancy.priorities import PRIORITIES
from sandbox.kubernetes.objects import Object
from slipway.verify.checks import CheckStatus, ClusterCheck
from slipway.verify.probes import LABEL, cheapest, short_job
from spec.jobs import KUEUE_API, PRIORITY, QUEUE
from spec.pools import keys
from spec.pools.resolution import resolve_all
from spec.settings.platform import Platform

NAME: Final = "slipway-verify-preemption"
SECONDS: Final = 120.0  # how long Kueue may take for each of the two Jobs; it takes seconds unless its queue is long
DURATION: Final = "sandbox.slipway/duration"
"""Annotation: how long the pod of a Job runs in the sandbox; by default it ends at once."""
WHAT: Final = "a Job of higher priority preempts another in its queue"


@dataclass(frozen=True)
class Rivals:
    """What is created, in this order."""

    subject: str  # of the check
    queues: tuple[Object, Object]  # the ClusterQueue, and the LocalQueue in the team's namespace
    first: Object  # the Job that is preempted
    second: Object  # the Job for which it is


def of_queues(platform: Platform, deadline: int) -> Rivals | None:
    """The Jobs, in the first namespace of a team that has a share; None without Kueue or such a team."""
    if platform.addons.kueue is None:
        return None
    pools = resolve_all(platform)
    without_gpus = {name: pool for name, pool in pools.items() if pool.plain}
    for team, settings in sorted(platform.teams.items()):
        pool = cheapest(settings, without_gpus) or cheapest(settings, pools)
        if settings.retired or pool is None:
            continue
        where = min(settings.namespaces_of(team))
        # A pod that requests no GPU gets no flavor of a GPU pool.
        devices = dict.fromkeys((one for one in pool.resources if one.startswith(keys.NVIDIA)), 1)
        lowest, *_, highest = sorted(PRIORITIES, key=lambda name: PRIORITIES[name].value)
        jobs = []
        for suffix, priority in (("first", lowest), ("second", highest)):
            job = short_job(f"{NAME}-{suffix}", where, pool, devices, deadline, command=f"sleep {deadline}")
            job["metadata"]["labels"] |= {QUEUE: NAME, PRIORITY: str(priority)}
            job["spec"]["template"]["metadata"]["annotations"] = {DURATION: f"{deadline}s"}
            job["spec"]["suspend"] = True
            jobs.append(job)
        amounts = jobs[0]["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
        return Rivals(f"queue ({where})", _queues(where, pool.name, amounts), *jobs)
    return None


def _queues(namespace: str, flavor: str, amounts: dict[str, str]) -> tuple[Object, Object]:
    """The ClusterQueue with the quota of one Job, and its LocalQueue."""
    quota = [
        {"name": name, "nominalQuota": amount} for name, amount in amounts.items() if not name.startswith(NOT_COUNTED)
    ]
    group = {"coveredResources": [one["name"] for one in quota], "flavors": [{"name": flavor, "resources": quota}]}
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [group],
    }
    labels = {LABEL: "true"}
    return (
        {"apiVersion": KUEUE_API, "kind": "ClusterQueue", "metadata": {"name": NAME, "labels": labels}, "spec": spec},
        {
            "apiVersion": KUEUE_API,
            "kind": "LocalQueue",
            "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
            "spec": {"clusterQueue": NAME},
        },
    )


def admitted(job: Object | None) -> bool:
    """Whether Kueue has admitted a Job, and not suspended it since."""
    return job is not None and not job["spec"].get("suspend")


def judged(rivals: Rivals, *, started: bool, replaced: bool, why: str) -> ClusterCheck:
    """The result.

    Args:
        rivals: The Jobs.
        started: Whether the first was admitted.
        replaced: Whether the second was admitted, and the first suspended.
        why: Why the one that should be admitted is not.
    """
    if replaced:
        return ClusterCheck(rivals.subject, WHAT, CheckStatus.PASSED)
    waits = "the second Job is not admitted" if started else "the first Job is not admitted"
    return ClusterCheck(rivals.subject, WHAT, CheckStatus.FAILED, f"{waits}: {why or 'Kueue says nothing about it'}")
