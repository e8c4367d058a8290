"""Geometry of Multi-Instance GPU: the profiles of a GPU, and the combinations of them that fit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spec.catalog import gpus
from spec.catalog.document import Source, load, source

_DOCUMENT: Final = load("mig.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
COMPUTE_SLICES: Final[int] = _DOCUMENT["compute_slices"]  # compute slices of a GPU that supports MIG
MEMORY_SLICES: Final[int] = _DOCUMENT["memory_slices"]  # memory slices of a GPU that supports MIG
DISABLED: Final = "all-disabled"
BALANCED: Final = "all-balanced"
OWN: Final = "slipway"  # prefix of the names of layouts that are not mig-parted's


@dataclass(frozen=True)
class Profile:
    """Size of a GPU instance."""

    name: str  # NVIDIA's name: `1g.10gb`, `1g.10gb+me` with the media engines
    compute: int  # compute slices of an instance
    memory: int  # memory slices of an instance
    id: int  # ID of the profile in NVML and nvidia-smi
    maximum: int  # maximum number of instances on one GPU
    starts: tuple[int, ...]  # memory slices at which an instance can start
    memory_mib: int  # memory of an instance in MiB: NVML's where that is known, else its eighths of the GPU's


def _profiles(gpu: str, kinds: Mapping[str, str]) -> Mapping[str, Profile]:
    measured, whole = _DOCUMENT["memory_mib"].get(gpu, {}), gpus.get(gpu).memory_mib

    def profile(kind: str, name: str) -> Profile:
        shape = _DOCUMENT["kinds"][kind]
        memory = measured.get(kind, whole * shape["memory"] // MEMORY_SLICES)
        starts = tuple(shape["starts"])
        return Profile(name, shape["compute"], shape["memory"], shape["id"], shape["max"], starts, memory)

    return MappingProxyType({name: profile(kind, name) for kind, name in kinds.items()})


PROFILES: Final[Mapping[str, Mapping[str, Profile]]] = MappingProxyType(
    {gpu: _profiles(gpu, kinds) for gpu, kinds in _DOCUMENT["profiles"].items()}
)
"""Profiles by GPU model, then by name."""


def is_capable(gpu: str) -> bool:
    """Whether the GPU model supports MIG."""
    return gpus.get(gpu).mig_capable


def resource_name(profile: str) -> str:
    """Extended resource of the device plugin for a profile with `migStrategy: mixed`.

    Instances with media engines have one of their own since k8s-device-plugin v0.20.0 (internal/rm/rm.go,
    AddDefaultResourcesToConfig, and NVIDIA/k8s-device-plugin#1807); before, they counted as those without.
    """
    return f"{gpus.DEVICES}mig-{profile.replace('+', '.')}"


def resources(layout: Mapping[str, int], count: int) -> dict[str, int]:
    """Extended resources of a node with `count` GPUs, partitioned by `layout`; whole GPUs if the layout is empty."""
    if not layout:
        return {gpus.DEVICE: count}
    return {resource_name(profile): instances * count for profile, instances in sorted(layout.items())}


def uniform_layouts(gpu: str) -> dict[str, dict[str, int]]:
    """Layouts of one profile each, as many as fit, by mig-parted's name: `all-1g.10gb`, `all-1g.10gb.me`."""
    profiles = PROFILES.get(gpu, {})
    return {f"all-{name.replace('+', '.')}": {name: profile.maximum} for name, profile in profiles.items()}


def balanced_layout(gpu: str) -> dict[str, int] | None:
    """mig-parted's layout `all-balanced` on this GPU; None if it does not support MIG."""
    kinds = _DOCUMENT["profiles"].get(gpu)
    return {kinds[kind]: count for kind, count in _DOCUMENT["balanced"].items()} if kinds else None


def layout_names(gpu: str) -> tuple[str, ...]:
    """Names of layouts that `named_layout` knows for this GPU."""
    return (DISABLED, BALANCED, *uniform_layouts(gpu)) if is_capable(gpu) else (DISABLED,)


def named_layout(name: str, gpu: str) -> dict[str, int] | None:
    """Instances by profile of a mig-parted layout on this GPU; empty for `all-disabled`, None for an unknown name."""
    if name == DISABLED:
        return {}
    return balanced_layout(gpu) if name == BALANCED else uniform_layouts(gpu).get(name)


def own_name(layout: Mapping[str, int]) -> str:
    """Name of a layout that mig-parted has no name for: `slipway-3x1g.5gb-1x3g.20gb`.

    The name contains the layout, so that the label of a node shows what the node has.
    """
    parts = (f"{count}x{profile.replace('+', '.')}" for profile, count in sorted(layout.items()))
    return "-".join([OWN, *parts])


def layout_of(name: str, gpu: str) -> dict[str, int] | None:
    """Instances by profile of a layout that mig-parted or `own_name` names in a node's label; None for other names."""
    own, *parts = name.split("-")
    if own != OWN:
        return named_layout(name, gpu)
    written = {profile.replace("+", "."): profile for profile in PROFILES.get(gpu, {})}
    layout: dict[str, int] = {}
    for part in parts:
        count, _, profile = part.partition("x")
        if not count.isdecimal() or profile not in written:
            return None
        layout[written[profile]] = int(count)
    return layout or None


def placements(gpu: str, layout: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Profile and first memory slice of each instance of a layout, largest first.

    Without a start the driver places each instance by itself, and the next may not fit: with 1g.10gb at slice 0 of an
    A100, only five of six 1g.5gb fit.

    Raises:
        ValueError: The layout doesn't fit.
    """
    problem = layout_problem(gpu, layout)
    if problem is not None:
        msg = f"{gpu}: {problem}"
        raise ValueError(msg)
    wanted = _largest_first(PROFILES[gpu][name] for name, count in sorted(layout.items()) for _ in range(count))
    starts = _starts(wanted, 0) or ()
    return tuple((profile.name, start) for profile, start in zip(wanted, starts, strict=True))


def _largest_first(profiles: Iterable[Profile]) -> list[Profile]:
    return sorted(profiles, key=lambda profile: -profile.memory)


def layout_problem(gpu: str, layout: Mapping[str, int]) -> str | None:
    """Why one GPU can't be partitioned by `layout` (instances by profile); None if it can."""
    profiles = PROFILES.get(gpu)
    if profiles is None:
        return f"{gpu} does not support MIG"
    unknown = sorted(set(layout) - set(profiles))
    if unknown:
        return f"{gpu} has no profile {', '.join(unknown)}: it has {', '.join(profiles)}"
    if not layout or min(layout.values()) < 1:
        return "a layout needs at least one profile, and at least one instance of each"
    for name, count in layout.items():
        if count > profiles[name].maximum:
            return f"one {gpu} holds at most {profiles[name].maximum} of {name}, and {count} are requested"
    wanted = [profiles[name] for name, count in layout.items() for _ in range(count)]
    compute, memory = sum(p.compute for p in wanted), sum(p.memory for p in wanted)
    if compute > COMPUTE_SLICES or _starts(_largest_first(wanted), 0) is None:
        return (
            f"a GPU has {COMPUTE_SLICES} compute and {MEMORY_SLICES} memory slices, "
            f"and these instances, which need {compute} and {memory}, do not fit"
        )
    return None


def _starts(wanted: Sequence[Profile], taken: int) -> tuple[int, ...] | None:
    """A start for each instance so that none overlap, or None; `taken` has a bit for each memory slice in use.

    It tries every placement: at most 7 instances, with at most 7 starts each.
    """
    if not wanted:
        return ()
    first, rest = wanted[0], wanted[1:]
    for start in first.starts:
        mask = ((1 << first.memory) - 1) << start
        others = None if taken & mask else _starts(rest, taken | mask)
        if others is not None:
            return (start, *others)
    return None
