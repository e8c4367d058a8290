"""Checks of how GPUs are cut and shared, and of who offers them to pods."""

from __future__ import annotations

from collections.abc import Iterator

from spec.catalog import mig
from spec.settings.addons import Addons
from spec.settings.addons.gpu import EfaDevicePlugin, GpuOperator
from spec.settings.capacity import Mig
from spec.settings.checks.base import Context
from spec.settings.checks.machines import known_types
from spec.settings.pools import Pool, Role
from spec.settings.problems import Problem


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
            fix = "Remove it: time-slicing or MPS share such a GPU."
            yield Problem(path, f"the GPU must be able to do MIG, and {gpu} is not", gpu, fix)
        elif pool.os == "bottlerocket":
            # Its plugin knows the strategy `single` alone (bottlerocket-os/bottlerocket#4483 of 2025-04, still open).
            rule = "Bottlerocket offers every MIG instance as `nvidia.com/gpu`, and none can be asked for by its size"
            yield Problem(path, rule, pool.os, "Use `os: al2023`.")
        else:
            yield from _layout(path, pool.mig, gpu)


def sharing_fits(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """GPUs are shared only where there are some, where the work bears it, and in a way that the device plugin can."""
    for name, pool in pools.items():
        if pool.sharing is None:
            continue
        path, mode = f"pools.{name}.sharing", pool.sharing.mode
        if not any(kind.gpus for kind in known_types(pool)):
            yield Problem(path, "sharing is for pools with GPUs", "no GPU", "Remove it.")
        elif pool.role is Role.TRAINING:
            rule = "jobs of a training pool get whole GPUs: one that shares with a stranger runs out of memory or waits"
            yield Problem(path, rule, mode, "Remove it, or give the pool the role interactive or inference.")
        elif mode == "mps" and pool.mig is not None and pool.mig.layout != mig.DISABLED:
            # NVIDIA/k8s-device-plugin v0.20.0, cmd/nvidia-device-plugin: MPS refuses the strategy `mixed`.
            rule = "the device plugin can't share MIG instances by MPS"
            yield Problem(f"{path}.mode", rule, mode, "Use time-slicing, or remove `mig`.")


def offered_as_promised(context: Context, pools: dict[str, Pool], addons: Addons) -> Iterator[Problem]:
    """What tags and overlays promise of cut and shared GPUs, somebody must offer: else machines are bought for pods
    that never run on them. Bottlerocket shares by itself."""
    if addons.has(GpuOperator):
        return
    for name, pool in pools.items():
        for key, setting in (("mig", pool.mig), ("sharing", pool.sharing)):
            if setting is not None and pool.os != "bottlerocket" and any(kind.gpus for kind in known_types(pool)):
                rule = "cut and shared GPUs need the GPU Operator, which cuts and offers them"
                yield Problem(f"pools.{name}.{key}", rule, None, "Add `gpuOperator: {}` to addons, or remove it.")


def unoffered(context: Context, pools: dict[str, Pool], addons: Addons) -> Iterator[Problem]:
    """Devices that no pod can ask for. A warning and no error: somebody may bring device plugins of their own."""
    whole = [
        name
        for name, pool in pools.items()
        if pool.os != "bottlerocket" and any(kind.gpus for kind in known_types(pool))
    ]
    if whole and not addons.has(GpuOperator):
        rule = "AWS's image for GPUs has no device plugin, so no pod can ask for a GPU"
        yield Problem("addons.gpuOperator", rule, f"pools {', '.join(whole)}", "Add `gpuOperator: {}` to addons.")
    efa = [name for name, pool in pools.items() if pool.efa]
    if efa and not addons.has(EfaDevicePlugin):
        rule = "without a device plugin no pod can ask for an Elastic Fabric Adapter"
        fix = "Add `efaDevicePlugin: {}` to addons."
        yield Problem("addons.efaDevicePlugin", rule, f"pools {', '.join(efa)}", fix)


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
