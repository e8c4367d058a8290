"""Checks of how GPUs are partitioned and shared, and of the device plugins that expose them to pods."""

from collections.abc import Iterator
from typing import Final

from spec.catalog import kubernetes, mig
from spec.settings.addons import Addons, AddonSettings
from spec.settings.addons.batch import SCHEDULERS
from spec.settings.addons.cost import Kubecost, Opencost
from spec.settings.addons.gpu import DraDriver, EfaDevicePlugin, GpuOperator
from spec.settings.capacity import Mig
from spec.settings.checks.addons import key_of
from spec.settings.checks.base import Context, warns
from spec.settings.checks.machines import known_types
from spec.settings.cluster import Cluster
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem

SHARE_CPU_MILLIS: Final = 1000
SHARE_MEMORY_MIB: Final = 4096
"""Least allocatable CPU and memory of one share of a GPU: a pod that imports PyTorch and copies batches needs about
that; the smallest g6 has 0.98 vCPUs and 3.3 GiB for each of four."""


def mig_fits(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A MIG layout exists for the pool's GPU and fits its slices."""
    for name, pool in pools.items():
        if pool.mig is None:
            continue
        path = f"pools.{name}.mig"
        kinds = known_types(pool)
        if not kinds:
            continue  # `machines.types_exist` reports the names
        gpu = kinds[0].gpu_name
        if gpu is None:
            yield Problem(path, "MIG is only for pools with GPUs", "no GPU", "Remove it.")
        elif not mig.is_capable(gpu):
            fix = "Remove it, or share the GPU by time-slicing or MPS."
            yield Problem(path, f"the GPU must support MIG, and {gpu} does not", gpu, fix)
        elif pool.os == "bottlerocket":
            # Its plugin has only the strategy `single` (bottlerocket-os/bottlerocket#4483 of 2025-04, still open).
            rule = "Bottlerocket exposes every MIG instance as `nvidia.com/gpu`, so that pods can't request one by size"
            yield Problem(path, rule, pool.os, "Use `os: al2023`.")
        else:
            yield from _layout(path, pool.mig, gpu)


def sharing_fits(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """GPUs are shared only in GPU pools, not in training pools, and in a mode that the device plugin supports."""
    for name, pool in pools.items():
        if pool.sharing is None:
            continue
        path, mode = f"pools.{name}.sharing", pool.sharing.mode
        kinds = known_types(pool)
        if not kinds:
            continue  # as above
        if not any(kind.gpus for kind in kinds):
            yield Problem(path, "sharing is only for pools with GPUs", "no GPU", "Remove it.")
        elif pool.role is Role.TRAINING:
            rule = "jobs of a training pool get whole GPUs: a job on a shared one runs out of memory or waits"
            yield Problem(path, rule, mode, "Remove it, or give the pool the role interactive or inference.")
        elif mode == "mps" and pool.mig is not None and pool.mig.layout != mig.DISABLED:
            # NVIDIA/k8s-device-plugin v0.20.0, cmd/nvidia-device-plugin: MPS refuses the strategy `mixed`.
            rule = "the device plugin can't share MIG instances by MPS"
            yield Problem(f"{path}.mode", rule, mode, "Use time-slicing, or remove `mig`.")


DRA_SINCE: Final = 36
"""First minor version of Kubernetes 1 in which a pod that requests `nvidia.com/gpu` gets a device of a DeviceClass: the
feature DRAExtendedResource is beta and on (kubernetes v1.36.3, pkg/features/kube_features.go)."""


def allocation_fits(context: Context, pools: dict[str, Pool], cluster: Cluster, addons: Addons) -> Iterator[Problem]:
    """Claims of devices are for GPUs and MIG instances of pools that don't scale, and nothing else offers the same."""
    plugin = "or use `gpuAllocation: device-plugin`."
    for name, pool in ((name, pool) for name, pool in pools.items() if pool.gpu_allocation == "dra"):
        path, version = f"pools.{name}", pool.version or cluster.version
        kinds = known_types(pool)
        if kinds and not any(kind.gpus for kind in kinds):
            yield Problem(f"{path}.gpuAllocation", "only pools with GPUs allocate them", "dra", "Remove it.")
        if (kubernetes.minor(version) or DRA_SINCE) < DRA_SINCE:
            rule = (
                f"`dra` needs Kubernetes 1.{DRA_SINCE}, and the pool has {version}, in which a request of "
                "nvidia.com/gpu gets no device of a class"
            )
            yield Problem(f"{path}.gpuAllocation", rule, "dra", f"Set the version to 1.{DRA_SINCE}, {plugin}")
        if pool.provisioner is Provisioner.KARPENTER or pool.min < pool.max:
            # Karpenter 1.15 has claims behind alpha gates (karpenter.sh, "Utilizing GPUs and EFAs with Dynamic Resource
            # Allocation") and no requests that a DeviceClass satisfies (karpenter#3231, open in 2026-08).
            rule = "no autoscaler of the platform adds nodes for claims of devices, so their pool has a fixed size"
            fix = f"Use `provisioner: managed` with min = max, {plugin}"
            yield Problem(f"{path}.gpuAllocation", rule, "dra", fix)
        if pool.os == "bottlerocket":
            rule = "Bottlerocket has a device plugin of its own, which would give the same GPUs to other pods"
            yield Problem(f"{path}.os", rule, pool.os, f"Use `os: al2023`, {plugin}")
        if pool.sharing is not None:
            rule = "claims of devices are for whole GPUs and MIG instances: sharing by the driver is alpha"
            yield Problem(f"{path}.sharing", rule, None, f"Remove it, {plugin}")
        if not addons.has(DraDriver):
            rule = "claims of devices need NVIDIA's driver"
            yield Problem(f"{path}.gpuAllocation", rule, "dra", f"Add `draDriver: {{}}` to addons, {plugin}")
        for other in filter(addons.has, SCHEDULERS):
            rule = f"queues of {key_of(other)} count no claims of devices"
            yield Problem(f"{path}.gpuAllocation", rule, "dra", f"Use `kueue: {{}}`, {plugin}")


@warns
def claims_unseen(context: Context, pools: dict[str, Pool], addons: Addons) -> Iterator[Problem]:
    """What splits costs by metrics sees no claims (a warning)."""
    split_costs: tuple[type[AddonSettings], ...] = (Kubecost, Opencost)
    for other in filter(addons.has, split_costs):
        for name in (name for name, pool in pools.items() if pool.gpu_allocation == "dra"):
            rule = (
                f"{key_of(other)} reads GPUs in requests and in the status of nodes: it splits the price of a node "
                "with claims of devices by CPU and memory"
            )
            fix = "Compare teams by their queue's quota there, or use `gpuAllocation: device-plugin`."
            yield Problem(f"pools.{name}.gpuAllocation", rule, "dra", fix)


@warns
def shares_fit(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A share of a GPU has CPU and memory of its node. A warning: a small model may do with less."""
    for name, pool in pools.items():
        if pool.sharing is None:
            continue
        for kind in known_types(pool):
            shares = pool.sharing.replicas * (kind.gpus or 1)
            cpu, memory = kind.allocatable_cpu_millis / shares, kind.allocatable_memory_at(pool.max_pods) / shares
            if cpu < SHARE_CPU_MILLIS or memory < SHARE_MEMORY_MIB:
                # Karpenter launches the lowest-priced type that fits the pods that wait at the moment.
                rule = (
                    f"each share of a GPU should have 1 vCPU and 4 GiB: on a smaller node CPU or memory is used up "
                    f"before the shares are, and the next pod gets another node ({shares} shares of {kind.name} have "
                    f"{cpu / 1000:.1f} vCPUs and {memory / 1024:.1f} GiB each)"
                )
                yield Problem(f"pools.{name}.instanceTypes", rule, kind.name, "Name larger types, or fewer replicas.")


def offered_as_promised(context: Context, pools: dict[str, Pool], addons: Addons) -> Iterator[Problem]:
    """Partitioned and shared GPUs need the GPU Operator: without it, the autoscalers start machines for pods that can
    never run on them. Bottlerocket shares GPUs by itself, and the driver for claims publishes MIG instances."""
    if addons.has(GpuOperator):
        return
    for name, pool in pools.items():
        for key, setting in (("mig", pool.mig), ("sharing", pool.sharing)):
            own = pool.os == "bottlerocket" or pool.gpu_allocation == "dra"
            if setting is not None and not own and any(kind.gpus for kind in known_types(pool)):
                rule = "partitioned and shared GPUs need the GPU Operator, which configures and exposes them"
                yield Problem(f"pools.{name}.{key}", rule, None, "Add `gpuOperator: {}` to addons, or remove it.")


@warns
def unoffered(context: Context, pools: dict[str, Pool], addons: Addons) -> Iterator[Problem]:
    """Devices that no pod can request. A warning, not an error: the user may install other device plugins."""
    whole = [
        name
        for name, pool in pools.items()
        if pool.os != "bottlerocket" and pool.gpu_allocation != "dra" and any(kind.gpus for kind in known_types(pool))
    ]
    if whole and not addons.has(GpuOperator):
        rule = "the EKS-optimized GPU AMI has no device plugin, so no pod can request a GPU"
        yield Problem("addons.gpuOperator", rule, f"pools {', '.join(whole)}", "Add `gpuOperator: {}` to addons.")
    efa = [name for name, pool in pools.items() if pool.efa]
    if efa and not addons.has(EfaDevicePlugin):
        rule = "without a device plugin, no pod can request an Elastic Fabric Adapter"
        fix = "Add `efaDevicePlugin: {}` to addons."
        yield Problem("addons.efaDevicePlugin", rule, f"pools {', '.join(efa)}", fix)


def _layout(path: str, setting: Mig, gpu: str) -> Iterator[Problem]:
    given = {"layout": setting.layout, "profiles": setting.profiles}
    if (setting.layout is None) == (not setting.profiles):
        yield Problem(path, "set either layout or profiles", given, "Use one of the two.")
    elif setting.layout is not None:
        if mig.named_layout(setting.layout, gpu) is None:
            known = ", ".join(sorted(mig.layout_names(gpu)))
            yield Problem(f"{path}.layout", f"the layout must exist for {gpu}", setting.layout, f"Use {known}.")
    elif (reason := mig.layout_problem(gpu, setting.profiles)) is not None:
        yield Problem(f"{path}.profiles", reason, dict(setting.profiles), f"See NVIDIA's table of profiles for {gpu}.")
