"""Where a job of a trace can run on a stack: the pools with its GPUs, which its team has a share of, and what its pods
request there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from components.queues import LEVELS, by_topology, ordered
from slipway.replay.jobs import Job
from slipway.replay.text import tables
from spec.catalog import gpus, instances
from spec.pools import PoolSpec, resolve_all
from spec.pools.allocatable import allocatable
from spec.pools.keys import MIG
from spec.quantities import CPU, MEMORY, quantity
from spec.settings import Platform
from spec.settings.capacity import Market

_SLICES: Final = 7  # compute slices of a GPU with MIG (NVIDIA MIG User Guide, "Partitioning")
_BOARD: Final = re.compile("nvidia|tesla|geforce|quadro|generation|sxm[0-9]?|pcie|nvl|hbm[0-9]?e?|mega|mig|shared")
"""What NVML, Slurm, GKE and GPU feature discovery write around a model: brand, board, kind of memory, and sharing."""
_MIG: Final = re.compile(r"[0-9]g\.([0-9]+)gb")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A pool, as jobs see it."""

    spec: PoolSpec
    shares: Mapping[str, int]  # what each team may use of it at once, in GPUs or, of a CPU pool, vCPUs
    parts: Sequence[tuple[str, Fraction]]
    """Extended resources of its GPUs with the part of a GPU that one of them is, the smallest first; empty for a CPU
    pool."""
    cpu_millis: int  # thousandths of a CPU that pods can request on its largest node
    memory_mib: int  # memory of that node
    topology: bool  # whether its queue admits only pods that say how near each other they are placed

    @property
    def name(self) -> str:
        """Name of the pool, of its flavor and of its label."""
        return self.spec.name

    @property
    def nodes(self) -> int:
        """Maximum number of its nodes, with those of its fallbacks."""
        return self.spec.settings.max + sum(one.settings.max for one in self.spec.fallbacks)

    @property
    def whole(self) -> bool:
        """Whether its GPUs are neither partitioned nor shared."""
        return all(part == 1 for _, part in self.parts)

    def gpus_of(self, requests: Mapping[str, str]) -> Fraction:
        """GPUs of a pod's requests on this pool, as parts of whole ones."""
        return sum((int(requests[name]) * part for name, part in self.parts if name in requests), Fraction(0))

    def part(self, gpu_millis: int) -> tuple[str, Fraction] | None:
        """The smallest resource that holds a part of a GPU; None if it has none."""
        return next((one for one in self.parts if one[1] * 1000 >= min(gpu_millis, 1000)), None)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What one pod of a job requests in its places."""

    place: Place  # the first of its places
    among: Sequence[Place]  # the pools that it selects; none if Kueue may choose among all with the resource
    requests: Mapping[str, str]  # quantities by resource
    gpus: Fraction  # GPUs of each pod, as parts of whole ones
    notes: Sequence[str] = ()  # what differs from the trace


class NoPlaceError(Exception):
    """A job can't run on the stack; the text says why."""


def places(platform: Platform) -> tuple[Place, ...]:
    """The pools that teams share, in the order in which Kueue tries them."""
    pools = resolve_all(platform)
    return tuple(_place(spec, platform) for spec in ordered(pools.values(), platform.queues))


def _place(spec: PoolSpec, platform: Platform) -> Place:
    nodes = allocatable(spec)
    teams = platform.teams.items()
    return Place(
        spec=spec,
        shares={name: team.shares[spec.name].maximum for name, team in teams if spec.name in team.shares},
        parts=parts_of(spec),
        cpu_millis=max(node.cpu_millis for node in nodes),
        memory_mib=max(node.memory_mib for node in nodes),
        topology=by_topology(spec, platform.queues),
    )


def parts_of(spec: PoolSpec) -> tuple[tuple[str, Fraction], ...]:
    """Resources of the GPUs of a pool, with the part of a GPU that one of them is, the smallest first."""
    if spec.gpu is None:
        return ()
    times = spec.sharing.replicas if spec.sharing else 1
    names = [name for name in spec.resources if name.startswith(gpus.DEVICES)]
    found = ((name, (_slices(name) if name.startswith(MIG) else Fraction(1)) / times) for name in names)
    return tuple(sorted(found, key=lambda one: (one[1], one[0])))


def _slices(resource: str) -> Fraction:
    return Fraction(int(resource.removeprefix(MIG).partition("g.")[0]), _SLICES)


def find(job: Job, team: str, every: Sequence[Place], types: Mapping[str, str]) -> Fit:
    """Where a job of a team runs.

    Args:
        types: GPU types that the user translates, to types that the catalog or the table knows.

    Raises:
        NoPlaceError: It can't run: no such GPU, no share of the team, or larger than what the team or a node has.
    """
    kind = [one for one in every if (bool(one.parts) if job.gpu_millis else one.spec.plain)]
    if not kind:
        msg = f"the stack has no pool {'with' if job.gpu_millis else 'without'} GPUs for teams"
        raise NoPlaceError(msg)
    typed, notes = _typed(job, kind, types)
    allowed = [one for one in typed if job.spot is not False or one.spec.market is not Market.SPOT]
    if not allowed:
        msg = "it must not run on Spot nodes, and the stack has such GPUs on Spot nodes alone"
        raise NoPlaceError(msg)
    shared = [one for one in allowed if one.shares.get(team, 0) > 0]
    if not shared:
        names = ", ".join(one.name for one in allowed)
        msg = f"team {team} has no share of {names}"
        raise NoPlaceError(msg)
    fitting = [one for one in shared if one.part(job.gpu_millis) is not None or not job.gpu_millis]
    if not fitting and job.gpu_millis <= 1000:
        fitting = shared
        notes = [*notes, "asks for a whole GPU and gets a part, because its team has a share of partitioned GPUs alone"]
    large = [one for one in fitting if _holds(one, job, team)]
    if not large:
        most = ", ".join(f"{one.name}: {one.shares[team]}" for one in fitting or shared)
        msg = f"it is larger than a node, or than the share of team {team} ({most})"
        raise NoPlaceError(msg)
    best = min(large, key=lambda one: (_waste(one, job), large.index(one)))
    same = [one for one in large if _request(one, job) == _request(best, job)]
    # Kueue tries every flavor of the team's queue that has the resource: only if all of them will do, it may choose.
    resource = _request(best, job)[0]
    offering = [one for one in every if one.shares.get(team, 0) > 0 and resource in {name for name, _ in one.parts}]
    equal = [one for one in same if one.spec.gpu == best.spec.gpu] if job.gpu_millis else [best]
    return _fit(best, job, among=[] if job.gpu_millis and same == offering else equal, notes=notes)


def _typed(job: Job, every: Sequence[Place], types: Mapping[str, str]) -> tuple[list[Place], list[str]]:
    """The pools with a GPU type of the job: that type itself, else the smallest GPU with as much memory."""
    if not job.gpu_types or not job.gpu_millis:
        return list(every), []
    words = [types.get(word, word) for word in job.gpu_types]
    models = {model for word in words for model in models_of(word)}
    exact = [one for one in every if one.spec.gpu is not None and one.spec.gpu.name in models]
    if exact:
        return exact, []
    sizes = [size for word in words if (size := memory_of(word)) is not None]
    name = "|".join(job.gpu_types)
    if not sizes:
        msg = f"GPU type {name} is in neither the catalog nor the table: name one with --gpu-type"
        raise NoPlaceError(msg)
    larger = [one for one in every if one.spec.gpu is not None and one.spec.gpu.memory_mib >= min(sizes)]
    if not larger:
        msg = f"the stack has no GPU with the memory of {name}, {min(sizes) / 1024:.0f} GiB"
        raise NoPlaceError(msg)
    least = min(_memory(one) for one in larger) if min(sizes) else None
    chosen = larger if least is None else [one for one in larger if _memory(one) == least]
    on = ", ".join(sorted({one.spec.gpu.name for one in chosen if one.spec.gpu}))
    return chosen, [f"GPU type {name} runs on {on}"] if min(sizes) else []


def _memory(place: Place) -> int:
    return place.spec.gpu.memory_mib if place.spec.gpu else 0


def _named(word: str) -> tuple[str, int | None]:
    """Model and memory in GiB of `nvidia_a100-sxm4-40gb_3g.20gb`, `a100_80` or `NVIDIA GeForce RTX 2080 Ti`. A MIG
    instance is one of its GPU; without a model it has its own memory."""
    model, memory, instance = "", None, _MIG.search(word.lower())
    for part in re.split("[^a-z0-9]+", _MIG.sub("", word.lower())):
        if model and (size := re.fullmatch("([0-9]{2,3})(gb?)?", part)):
            memory = int(size[1])
        elif not _BOARD.fullmatch(part):
            model += part
    return model.replace("rtxa", "a"), int(instance[1]) if instance and not model else memory


def models_of(word: str) -> set[str]:
    """Models of the catalog that a word names, or an instance type: those of its memory, if it has one."""
    kind = instances.find(word.lower())
    if kind is not None and kind.gpu_name:
        return {kind.gpu_name}
    model, memory = _named(word)
    whole = {name: one for name, one in gpus.GPUS.items() if one.whole}
    found = (name for name, one in whole.items() if model in (_named(one.ec2_name)[0], _named(one.accelerator)[0]))
    return {name for name in found if None in (memory, _named(name)[1]) or memory == _named(name)[1]}


def memory_of(word: str) -> int | None:
    """Memory in MiB of a GPU type: of the catalog's smallest variant, or by the table; None if unknown."""
    models = models_of(word)
    if models:
        return min(gpus.get(name).memory_mib for name in models)
    table = {_named(name)[0]: gib for name, gib in tables()["gpus"].items()}
    model, memory = _named(word)
    size = memory or table.get(model)
    # What is sold as 24 GB, EC2 reports as 22,888 MiB: GPUs of one size count as equal.
    return None if size is None else int(size) * 1024 * 9 // 10


def _units(place: Place, job: Job) -> tuple[str, Fraction, int]:
    """Resource, part of a GPU, and number of a pod."""
    resource, part = place.part(job.gpu_millis) or place.parts[-1]
    return resource, part, -(-job.gpu_millis // 1000) if part == 1 else 1


def _request(place: Place, job: Job) -> tuple[str, int]:
    if not job.gpu_millis:
        return CPU, 0
    resource, _, count = _units(place, job)
    return resource, count


def _waste(place: Place, job: Job) -> Fraction:
    if not job.gpu_millis:
        return Fraction(0)
    _, part, count = _units(place, job)
    return abs(part * count - Fraction(job.gpu_millis, 1000))


def _holds(place: Place, job: Job, team: str) -> bool:
    if not place.parts:
        return job.cpu_millis <= place.cpu_millis and job.pods * job.cpu_millis <= place.shares[team] * 1000
    if not place.whole and job.gpu_millis > 1000:
        return False
    _, part, count = _units(place, job)
    per_node = max(1, int(place.spec.gpu_count / part))
    return (
        count <= per_node and part * count * job.pods <= place.shares[team] and -(-job.pods // per_node) <= place.nodes
    )


def _fit(place: Place, job: Job, *, among: Sequence[Place], notes: Iterable[str]) -> Fit:
    cpu, memory, said = job.cpu_millis, job.memory_mib, list(notes)
    requests, amount = {}, Fraction(0)
    if place.parts:
        resource, part, count = _units(place, job)
        requests[resource], amount = str(count), part * count
        share = amount / place.spec.gpu_count
        if cpu > place.cpu_millis or memory > place.memory_mib:
            said.append("asks for more CPU or memory than a node has, and gets that of its GPUs")
            cpu, memory = min(cpu, int(place.cpu_millis * share)), min(memory, int(place.memory_mib * share))
    elif memory > place.memory_mib:
        said.append("asks for more memory than a node has, and gets that of its CPUs")
        memory = place.memory_mib * cpu // place.cpu_millis
    requests = {CPU: quantity(CPU, cpu), MEMORY: quantity(MEMORY, memory), **requests}
    return Fit(place=place, among=tuple(among), requests=requests, gpus=amount, notes=tuple(said))


def topology_of(place: Place) -> dict[str, str | None]:
    """How near each other the pods of a job are placed: within the narrowest layer of the network if that is free."""
    return {"required": None, "preferred": LEVELS[-2] if place.topology else None}
