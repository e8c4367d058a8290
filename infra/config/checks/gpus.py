"""Checks of how GPUs are cut."""

from __future__ import annotations

from collections.abc import Iterator

from infra.catalog import mig
from infra.config.capacity import Mig
from infra.config.checks.base import Context
from infra.config.checks.machines import known_types
from infra.config.pools import Pool
from infra.config.problems import Problem


def mig_fits(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A MIG layout exists for the pool's GPU and fits its slices."""
    for name, pool in pools.items():
        if pool.mig is None:
            continue
        path = f"pools.{name}.mig"
        gpu = next((kind.gpu_name for kind in known_types(pool)), None)
        if gpu is None:
            yield Problem(path, "MIG is for pools with GPUs", "no GPU", "Remove it.")
        elif not mig.is_capable(gpu):
            mend = "Remove it: time-slicing or MPS share such a GPU."
            yield Problem(path, f"the GPU must be able to do MIG, and {gpu} is not", gpu, mend)
        else:
            yield from _layout(path, pool.mig, gpu)


def _layout(path: str, setting: Mig, gpu: str) -> Iterator[Problem]:
    given = {"layout": setting.layout, "profiles": setting.profiles}
    if (setting.layout is None) == (not setting.profiles):
        yield Problem(path, "give either layout or profiles", given, "Keep one of the two.")
    elif setting.layout is not None:
        if mig.named_layout(setting.layout, gpu) is None:
            known = ", ".join(sorted(mig.layout_names(gpu)))
            yield Problem(f"{path}.layout", f"the layout must exist for {gpu}", setting.layout, f"Use {known}.")
    elif (reason := mig.layout_problem(gpu, setting.profiles)) is not None:
        yield Problem(f"{path}.profiles", reason, dict(setting.profiles), f"See NVIDIA's table of profiles for {gpu}.")
