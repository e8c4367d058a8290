"""The engine's input: what the stack file says of pools, prices and queues, and the jobs of a trace in its namespaces.

Nothing is said twice: pools and prices come from `spec`, as in the cost estimate; queues and NodePools are objects of
the program, as `slipway report --files` writes them.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sandbox.nodes.spec import network_nodes
from slipway.render.layout import RELEASE
from slipway.render.recording import Recording
from slipway.replay.jobs import Job, Trace
from slipway.replay.places import Fit, NoPlaceError, Place, find, places, topology_of
from slipway.replay.text import tables
from spec import strict_yaml
from spec.catalog import instances, prices
from spec.catalog.kubernetes import scheduler_configuration
from spec.errors import refuse
from spec.pools import PoolSpec
from spec.pools.allocatable import allocatable
from spec.pools.keys import CAPACITY_TYPE, GPU, POOL
from spec.pools.start import launch_seconds
from spec.pricing.model import Line, Pricer
from spec.pricing.pools import Running, machines
from spec.quantities import CPU, MEMORY, quantity, seconds
from spec.settings import Platform
from spec.settings.pools import FoundPool
from spec.settings.teams import PriorityName, Team

VERSION: Final = 1
START: Final = "2026-01-05T00:00:00Z"  # a Monday: where a trace has no date, its first day is one
GRACE: Final = 30  # Kubernetes' default of `terminationGracePeriodSeconds` (Pod v1 core, API reference 1.36)
KUEUE: Final = frozenset(
    {"ResourceFlavor", "Topology", "Cohort", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass", "AdmissionCheck"}
)
CLUSTER: Final = frozenset({"PriorityClass", "Namespace", "NodePool", "NodeOverlay", "EC2NodeClass"})
SHORTEST: Final = 1.0
"""Seconds of the shortest job: Kubernetes, Slurm and openb count whole ones, so that some have none."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A job of the trace on the stack."""

    id: str  # its name in the engine
    job: Job  # the job of the trace
    team: str  # its team on the stack
    fit: Fit | None  # where it runs; None if it is refused
    refused: str = ""  # why it can't run; empty if it can

    @property
    def gpus(self) -> float:
        """GPUs of all its pods, as parts of whole ones."""
        return float(self.fit.gpus) * self.job.pods if self.fit else self.job.gpus


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The input of the engine, and what is needed to read its events."""

    document: Mapping[str, Any]  # the input
    jobs: Mapping[str, Planned]  # Jobs by their name in the engine
    pools: Mapping[str, PoolSpec]  # the stack's pools for jobs, those of fallbacks too, by name
    places: Sequence[Place]  # the stack's pools, as jobs see them
    teams: Mapping[str, str]  # team of the stack by team of the trace, where they differ
    left_out: Mapping[str, int]  # how many jobs of the trace's file are not among these, by reason
    notes: Sequence[str]  # how the trace was changed to run on the stack


@dataclass(frozen=True, kw_only=True)
class Options:
    """Choices of the user."""

    until: float | None = None  # seconds after which the replay ends; None: when all jobs have ended
    max_wall_seconds: int = 600  # seconds of real time after which the engine ends with what is known
    gpu_types: Mapping[str, str] | None = None  # GPU types of the trace that the user translates
    launch_seconds: float | None = None  # seconds that a node takes to start; None for the table's


@dataclass(frozen=True, kw_only=True)
class Objects:
    """What decides in a cluster: objects of Kueue, Karpenter and Kubernetes, and configurations."""

    objects: Sequence[Mapping[str, Any]]
    kueue: Mapping[str, Any]  # Kueue's configuration; empty for its defaults
    scheduler: Mapping[str, Any]  # a KubeSchedulerConfiguration


def make(trace: Trace, platform: Platform, recording: Recording | Objects, options: Options) -> Plan:
    """The plan of a trace on a stack, whose objects are those of its program, or found in its cluster."""
    if platform.addons.kueue is None or not platform.teams:
        refuse(
            "replay needs queues: enable addons.kueue in the stack file, and give it teams with shares of its pools; "
            "of a cluster without a stack file, import its LocalQueues"
        )
    given = recording if isinstance(recording, Objects) else rendered(recording)
    every = places(platform)
    planned = _jobs(trace, platform, every, options.gpu_types or {})
    specs = {spec.name: spec for place in every for spec in (place.spec, *place.spec.fallbacks)}
    objects = given.objects
    node_pools = {str(one["metadata"]["name"]): one for one in objects if one["kind"] == "NodePool"}
    document = {
        "version": VERSION,
        "start": trace.start.strftime("%Y-%m-%dT%H:%M:%SZ") if trace.start else START,
        "until": options.until,
        "maxWallSeconds": options.max_wall_seconds,
        "kueue": {
            "configuration": given.kueue,
            "objects": [one for one in objects if one["kind"] in KUEUE],
        },
        "cluster": {
            "objects": [one for one in objects if one["kind"] in CLUSTER],
            "scheduler": given.scheduler,
        },
        "pools": [_pool(spec, platform, node_pools.get(spec.name), options) for spec in specs.values()],
        "jobs": [_document(one, platform) for one in planned if one.fit is not None],
    }
    moved = {one.job.team: one.team for one in planned if one.job.team not in ("", one.team)}
    return Plan(
        document=document,
        jobs={one.id: one for one in planned},
        pools=specs,
        places=every,
        teams=moved,
        left_out=trace.left_out,
        notes=(*trace.notes, *_notes(planned)),
    )


def rendered(recording: Recording) -> Objects:
    """What decides on a stack, from its program."""
    return Objects(objects=list(_objects(recording)), kueue=_configuration(recording), scheduler=_scheduler(recording))


def _objects(recording: Recording) -> Iterator[dict[str, Any]]:
    for resource in recording:
        if resource.custom and resource.type.startswith("kubernetes:") and resource.type != RELEASE:
            plain = resource.inputs.plain
            if plain.get("kind") in KUEUE | CLUSTER:
                yield dict(plain)


def _configuration(recording: Recording) -> dict[str, Any]:
    """Kueue's configuration, from the values of its release."""
    for release in recording.of_type(RELEASE):
        values = release.inputs.plain.get("values") or {}
        text = (values.get("managerConfig") or {}).get("controllerManagerConfigYaml")
        if text:
            found: dict[str, Any] = strict_yaml.one(text)
            return found
    return {}


def _scheduler(recording: Recording) -> dict[str, Any]:
    """The scheduler's configuration, from the cluster."""
    (cluster,) = recording.of_type("aws:eks/cluster:Cluster")
    return scheduler_configuration(cluster.inputs.plain.get("kubeSchedulerConfig") or {})


def _pool(spec: PoolSpec, platform: Platform, node_pool: Mapping[str, Any] | None, options: Options) -> dict[str, Any]:
    settings, disruption = spec.settings, spec.settings.disruption
    rendered = (node_pool or {}).get("spec") or {}
    after: float | None = _ends(disruption.consolidate_after)
    if spec.managed:
        after = tables()["scaleDownSeconds"] if spec.scales else None
    expires = None if spec.managed else _ends(disruption.expire_after)
    return {
        "name": spec.name,
        "scaler": "karpenter" if not spec.managed else "clusterAutoscaler" if spec.scales else "static",
        "labels": dict(spec.labels),
        "taints": [taint.manifest for taint in spec.taints],
        "min": 0 if spec.waiting else settings.min,
        "max": 0 if spec.waiting else settings.max,
        "limits": dict(rendered.get("limits") or {}),
        "weight": rendered.get("weight"),
        "launchSeconds": launch_seconds(spec) if options.launch_seconds is None else options.launch_seconds,
        "consolidateAfterSeconds": after,
        "consolidationPolicy": str(disruption.consolidation_policy),
        "expireAfterSeconds": expires,
        "warmNodes": settings.capacity_buffer,
        "offerings": list(offerings(spec, platform)),
    }


def _ends(after: str) -> float | None:
    return None if after == "Never" else seconds(after)


def offerings(spec: PoolSpec, platform: Platform) -> Iterator[dict[str, Any]]:
    """What EC2 sells of a pool: its types in the zones that have them, at the price of the cost estimate."""
    region = platform.account.region
    for kind in spec.instance_types:
        node = allocatable(replace(spec, instance_types=(kind,)))[0]
        amounts = {CPU: node.cpu_millis, MEMORY: node.memory_mib}
        sizes = {name: quantity(name, amount) for name, amount in amounts.items()}
        many = Fraction(kind.gpus, spec.gpu_count) if spec.gpu_count else 1
        devices = {name: str(int(count * many)) for name, count in node.devices.items()}
        whole = {CPU: kind.vcpus * 1000, MEMORY: kind.usable_memory_mib}
        price = hourly(spec, platform, kind)
        for zone in spec.zones:
            offered = kind.zone_ids.get(region)
            if offered is not None and platform.account.zone_ids.get(zone, offered[0]) not in offered:
                continue
            yield {
                "instanceType": kind.name,
                "zone": zone,
                "capacityType": str(spec.market),
                "usdPerHour": float(price) if price is not None else 0.0,
                "allocatable": {**sizes, **devices, "pods": str(spec.settings.max_pods)},
                "capacity": {**{name: quantity(name, amount) for name, amount in whole.items()}, **devices},
                "labels": {
                    CAPACITY_TYPE: str(spec.market),
                    "topology.kubernetes.io/zone": zone,
                    **network_nodes(kind.name, zone),
                },
            }


def hourly(spec: PoolSpec, platform: Platform, kind: instances.InstanceType) -> Decimal | None:
    """Expected price of one node of a type in USD an hour, as in `slipway cost`; None without a dated price."""
    discount = platform.cost.usage.spot_discount_percent
    one = Running(
        minimum=Decimal(1),
        typical=Decimal(1),
        maximum=Decimal(1),
        use=platform.cost.usage.pools.get(spec.name),
        spot=None if discount is None else Decimal(discount) / 100,
    )
    pricer = Pricer(prices.book(platform.account.region))
    lines = machines(replace(spec, instance_types=(kind,)), one, pricer)
    found = next((line for line in lines if isinstance(line, Line)), None)
    if found is None:
        return None
    # A Capacity Block is one line for all its nodes; its unit price is that of one.
    return found.usual


def _jobs(trace: Trace, platform: Platform, every: Sequence[Place], types: Mapping[str, str]) -> list[Planned]:
    known: dict[tuple[Any, ...], tuple[str, Fit | None, str]] = {}
    planned = []
    for number, job in enumerate(trace.jobs, start=1):
        key = (job.team or job.name, job.pods, job.cpu_millis, job.memory_mib, job.gpu_millis, job.gpu_types, job.spot)
        if key not in known:
            known[key] = _placed(job, platform, every, types)
        team, fit, refused = known[key]
        planned.append(Planned(id=f"j{number:06d}", job=job, team=team, fit=fit, refused=refused))
    return planned


def _placed(
    job: Job, platform: Platform, every: Sequence[Place], types: Mapping[str, str]
) -> tuple[str, Fit | None, str]:
    """Team, place, and why there is none."""
    first, why = "", ""
    for team in teams_for(job.team or job.name, platform):
        try:
            return team, find(job, team, every, types), ""
        except NoPlaceError as error:
            first, why = first or team, why or str(error)
    return first, None, why


def teams_for(word: str, platform: Platform) -> list[str]:
    """Teams of the stack for one of the trace: the one of its name; else all, in an order that its hash gives, of which
    the first that can run a job gets it."""
    if word in platform.teams:
        return [word]

    def rank(team: str) -> str:
        return hashlib.sha256(f"{word}\0{team}".encode()).hexdigest()

    return sorted((name for name, team in platform.teams.items() if not team.retired), key=rank)


def priority_of(kind: str, allowed: Sequence[str]) -> str:
    """Priority class of a class, of those that a team may use."""
    word = kind.lower()
    by_name = {*map(str, PriorityName), *allowed}
    wanted = word if word in by_name else str(tables()["classes"].get(word, PriorityName.EXPERIMENT))
    return wanted if wanted in allowed else allowed[-1]


def checkpointed(trace: Trace, every: float) -> Trace:
    """The trace with a checkpoint after so many seconds of work, for jobs of which it says nothing.

    Servers and interactive jobs have none: what a notebook holds in memory is gone with its pod.
    """
    names = [str(name) for name in PriorityName]
    jobs = tuple(
        replace(job, checkpoint=every)
        if job.checkpoint is None and priority_of(job.kind, names) not in _PURPOSES
        else job
        for job in trace.jobs
    )
    count = sum(one is not job for one, job in zip(jobs, trace.jobs, strict=True))
    note = f"{count:,} jobs keep their work up to a checkpoint after each {every / 60:g} minutes"
    return replace(trace, jobs=jobs, notes=(*trace.notes, note))


def namespace_of(name: str, team: Team, kind: str) -> str:
    """The namespace of a team for a class of jobs: one with that purpose, else a general one, else its first."""
    spaces = team.namespaces_of(name)
    wanted = _PURPOSES.get(priority_of(kind, [str(one) for one in PriorityName]), "training")
    purposes: dict[str, str] = {space.purpose: full for full, space in reversed(spaces.items())}
    return purposes.get(wanted) or purposes.get("general") or purposes.get("training") or next(iter(spaces))


_PURPOSES: Final = {
    str(PriorityName.PRODUCTION_INFERENCE): "serving",
    str(PriorityName.INTERACTIVE): "interactive",
}


def _document(planned: Planned, platform: Platform) -> dict[str, Any]:
    job, fit, team = planned.job, planned.fit, platform.teams[planned.team]
    assert fit is not None  # noqa: S101 - only those that can run are passed to the engine
    place = fit.place
    pools = [one.spec for one in fit.among]
    # What pods with GPUs must tolerate wherever they run, and those of pools that they select.
    tolerations = [{"key": GPU, "operator": "Exists"}] if place.parts else []
    # Kueue's flavors of a stack add the tolerations of its pools; those that are found need not.
    found = [place.spec] if isinstance(place.spec.settings, FoundPool) else []
    of_pools = (one.manifest for pool in [*pools, *found] for one in pool.tolerations)
    tolerations += [json.loads(one) for one in dict.fromkeys(json.dumps(one) for one in of_pools)]
    return {
        "name": planned.id,
        "namespace": namespace_of(planned.team, team, job.kind),
        "queue": team.queue,
        "team": planned.team,
        "class": job.kind,
        "priorityClass": priority_of(job.kind, [str(one) for one in team.priorities]),
        "submitted": job.submitted,
        "duration": max(job.duration, SHORTEST),
        "gracePeriod": GRACE,
        "checkpointEvery": job.checkpoint,
        "podSets": [
            {
                "name": "main",
                "count": job.pods,
                "requests": dict(fit.requests),
                "nodeSelector": dict(pools[0].node_selector) if len(pools) == 1 else {},
                "affinity": _one_of(pools) if len(pools) > 1 else None,
                "tolerations": tolerations,
                "topologyRequest": topology_of(place),
            }
        ],
    }


def _one_of(pools: Sequence[PoolSpec]) -> dict[str, Any]:
    """The affinity of a pod that may run in any of some pools, which Kueue and the schedulers read."""
    terms = [[{"key": POOL, "operator": "In", "values": [one.pool for one in pools]}]]
    if isinstance(pools[0].settings, FoundPool):
        terms = [
            [{"key": key, "operator": "In", "values": [value]} for key, value in one.node_selector.items()]
            for one in pools
        ]
    required = {"nodeSelectorTerms": [{"matchExpressions": one} for one in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _notes(planned: Sequence[Planned]) -> Iterator[str]:
    changed = Counter(note for one in planned if one.fit for note in one.fit.notes)
    for note, count in changed.most_common():
        yield f"{count:,} {'job' if count == 1 else 'jobs'}: {note}"
