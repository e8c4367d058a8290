"""Checks of the machines of each pool: instance types, markets, reservations, EFA, NVMe."""

from collections.abc import Iterator
from typing import Final

from spec import interfaces
from spec.catalog import instances
from spec.catalog.instances import OFFERING_REGIONS, InstanceType
from spec.settings.capacity import Market
from spec.settings.checks.base import Context, warns
from spec.settings.environment import Account
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem
from spec.subnets import max_pods_of

MANAGED_TYPES: Final = 20
"""Maximum number of instance types of one node group (EKS API Reference, CreateNodegroup)."""
SPOT_TYPES: Final = 3
"""Minimum number of types of a Spot pool: the capacity pool of one type can run dry as a whole (EC2 User Guide, "Best
practices for EC2 Spot", be flexible about instance types)."""


def known_types(pool: Pool) -> list[InstanceType]:
    """The pool's types that the catalog has."""
    return [kind for name in pool.instance_types if (kind := instances.find(name)) is not None]


def types_exist(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Types are in the catalog, and are listed once."""
    for name, pool in pools.items():
        for position, given in enumerate(pool.instance_types):
            path = f"pools.{name}.instanceTypes.{position}"
            if instances.find(given) is None:
                close = instances.closest(given)
                fix = f"Did you mean {close}?" if close else "See spec/catalog/data for the known types."
                yield Problem(path, "the catalog must know the instance type", given, fix)
            if given in pool.instance_types[:position]:
                yield Problem(path, "each type is listed once", given, "Remove one of the two.")


def types_required(context: Context, pools: dict[str, Pool], account: Account) -> Iterator[Problem]:
    """Requirements are of Karpenter's pools, in place of names, and some type meets them."""
    families = {kind.family for kind in instances.ALL.values()}
    for name, pool in pools.items():
        wanted, path = pool.instance_requirements, f"pools.{name}.instanceRequirements"
        if wanted is None:
            continue
        given = wanted.model_dump(exclude_defaults=True)
        unknown = sorted(set(wanted.families) - families)
        if pool.provisioner is Provisioner.MANAGED:
            fix = "Name the types in instanceTypes, or use `provisioner: karpenter`."
            yield Problem(path, "a managed pool has its types by name", given, fix)
        elif "instanceTypes" in context.own_keys("pools", name):
            yield Problem(path, "a pool has its types by name or by requirements", given, "Remove one of the two.")
        elif unknown:
            fix = f"Use some of {', '.join(sorted(families))}."
            yield Problem(f"{path}.families", "the catalog must know the family", unknown, fix)
        elif not wanted.types(account.region):
            rule = f"a type of the catalog that {account.region} offers must meet them"
            yield Problem(path, rule, given, "Name fewer conditions.")


def types_offered(context: Context, pools: dict[str, Pool], account: Account) -> Iterator[Problem]:
    """Types are offered in the region. If several pools lack theirs, the region is probably the mistake: one problem,
    with the regions that offer all types."""
    kinds = {name: known_types(pool) for name, pool in pools.items()}
    lacking = {
        name: names
        for name, of_pool in kinds.items()
        if (names := [kind.name for kind in of_pool if kind.offered_in(account.region) is False])
    }
    if len(lacking) > 1:
        rule = "the region must offer the instance types of " + ", ".join(
            f"{name} ({', '.join(names)})" for name, names in lacking.items()
        )
        where = _offering([kind for of_pool in kinds.values() for kind in of_pool])
        fix = (
            f"These regions offer the types of all pools: {where}."
            if where
            else "No region of the catalog offers the types of all pools: use others."
        )
        yield Problem("account.region", rule, account.region, fix)
        return
    for name, names in lacking.items():
        where = _offering([kind for kind in kinds[name] if kind.name in names])
        fix = f"Use other types; these are offered in {where}." if where else "Use other types."
        yield Problem(f"pools.{name}.instanceTypes", f"{account.region} must offer the instance types", names, fix)


def _offering(kinds: list[InstanceType]) -> str:
    """Regions of the catalog that offer all of the types."""
    return ", ".join(sorted(region for region in OFFERING_REGIONS if all(kind.offered_in(region) for kind in kinds)))


@warns
def types_unverified(context: Context, pools: dict[str, Pool], account: Account) -> Iterator[Problem]:
    """Types whose regions no source lists (a warning)."""
    for name, pool in pools.items():
        for kind in known_types(pool):
            if kind.offered_in(account.region) is None:
                rule = f"the catalog does not know whether {account.region} offers the type"
                yield Problem(f"pools.{name}.instanceTypes", rule, kind.name, "Check in the EC2 console first.")


def types_alike(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Types of a pool have the same GPUs and architecture: its labels, AMI and quotas apply to all of them."""
    for name, pool in pools.items():
        kinds = known_types(pool)
        path = f"pools.{name}.instanceTypes"
        accelerators = sorted({f"{kind.gpus} x {kind.gpu_name}" if kind.gpus else "no GPU" for kind in kinds})
        neuron = [kind.name for kind in kinds if kind.neuron_devices]
        if neuron:
            # The chart neuron-helm-chart has AWS's plugin (github.com/aws-neuron/neuron-helm-charts, read 2026-11).
            rule = f"the platform has no device plugin for {instances.NEURON}: no pod could request a Neuron device"
            yield Problem(path, rule, neuron, "Use types with GPUs.")
        if len(accelerators) > 1:
            rule = "all types of a pool must have the same number of the same GPU"
            yield Problem(path, rule, accelerators, "Make a pool of each.")
        if len({kind.arch for kind in kinds}) > 1:
            rule = "all types of a pool must have one processor architecture"
            yield Problem(path, rule, sorted({kind.arch for kind in kinds}), "Make a pool of each.")
        if pool.role is Role.SYSTEM and any(kind.gpus for kind in kinds):
            yield Problem(path, "the system pool must have no GPUs", accelerators, "Use a CPU type such as m7i.large.")
        if pool.os == "bottlerocket" and any(kind.gpus > kind.counted_gpus for kind in kinds):
            rule = "a part of a GPU needs a driver of NVIDIA vGPU, which no source finds in Bottlerocket"
            yield Problem(f"pools.{name}.os", rule, pool.os, "Use `os: al2023`.")
        if pool.role is Role.SYSTEM and any(kind.arch == "arm64" for kind in kinds):
            rule = "the system pool must have x86_64 processors: not every controller has an image for arm64"
            yield Problem(path, rule, list(pool.instance_types), "Use a type such as m7i.large.")


def pods_addressed(context: Context, pools: dict[str, Pool], network: Network) -> Iterator[Problem]:
    """Network card 0 has addresses for the pool's pods, beside what EFA and the node take of it."""
    for name, pool in pools.items():
        for kind in known_types(pool):
            if pool.efa and not kind.efa_interfaces:
                continue  # another check asks for a type with EFA
            count = interfaces.for_pods(_launched(pool, kind), kind, pod_subnets=network.pod_cidr is not None)
            maximum = max_pods_of(count, kind.ipv4_per_eni)
            if count < 1:
                rule = (
                    f"card 0 of {kind.name} has {kind.primary_card_enis} network interfaces: with Karpenter the node "
                    "and EFA have one each, and pods with addresses of network.podCidr need a third"
                )
                fix = "Use `provisioner: managed`, where the node and EFA share one, or a type with more on card 0."
                yield Problem(f"pools.{name}.efa", rule, pool.efa, fix)
            elif pool.max_pods > maximum:
                rule = f"{kind.name} has IP addresses for {maximum} pods"
                yield Problem(f"pools.{name}.maxPods", rule, pool.max_pods, f"Use {maximum} or less.")


def _launched(pool: Pool, kind: InstanceType) -> tuple[interfaces.Interface, ...]:
    if not pool.efa:
        return interfaces.PRIMARY
    return interfaces.managed(kind) if pool.provisioner is Provisioner.MANAGED else interfaces.karpenter(kind)


def markets(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Markets match the pool's role and types, and reservations match the market."""
    for name, pool in pools.items():
        capacity, path = pool.capacity, f"pools.{name}.capacity"
        if capacity.market is Market.SPOT and len(set(pool.instance_types)) < SPOT_TYPES:
            rule = f"a Spot pool needs at least {SPOT_TYPES} instance types"
            yield Problem(f"pools.{name}.instanceTypes", rule, list(pool.instance_types), "Add types of similar size.")
        if capacity.market is Market.SPOT and pool.role is Role.SYSTEM:
            yield Problem(f"{path}.market", "the system pool can't be Spot", "spot", "Use `market: on-demand`.")
        if capacity.market is Market.RESERVED and capacity.reservation is None:
            rule = "reserved capacity needs its reservation"
            yield Problem(f"{path}.reservation", rule, None, "Add `reservation: {kind: odcr, id: cr-…}`.")
        if capacity.market is not Market.RESERVED and capacity.reservation is not None:
            rule = "a reservation needs `market: reserved`"
            yield Problem(f"{path}.market", rule, str(capacity.market), "Use `market: reserved`, or remove it.")


def types_sold(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """EC2 sells the types as the pool buys them. An On-Demand Capacity Reservation is of a type sold on demand."""
    for name, pool in pools.items():
        reservation = pool.capacity.reservation
        market = str(pool.capacity.market)
        if pool.capacity.market is Market.RESERVED:
            market = "capacity-block" if reservation and reservation.kind == "capacity-block" else "on-demand"
        for kind in known_types(pool):
            if market not in kind.markets:
                fix = f"Use a market of {kind.name}: {', '.join(sorted(kind.markets))}."
                yield Problem(f"pools.{name}.capacity", f"EC2 must sell {kind.name} as {market}", market, fix)


BLOCK: Final = 64
"""Maximum size of one Capacity Block (botocore 1.44.5, ec2 DescribeCapacityBlockOfferings, `InstanceCount`)."""


def reservations(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A reservation is for one type in one zone (EC2 User Guide, "Capacity Reservations", "Capacity Blocks")."""
    for name, pool in pools.items():
        reservation = pool.capacity.reservation
        if reservation is not None and reservation.kind == "capacity-block" and pool.max > BLOCK:
            rule = f"a Capacity Block has at most {BLOCK} machines"
            yield Problem(f"pools.{name}.max", rule, pool.max, "Use the number of machines in the block.")
        if reservation is None or pool.provisioner is not Provisioner.MANAGED:
            continue
        if len(pool.instance_types) != 1:
            rule = f"a managed pool on a {reservation.kind} must have one instance type"
            yield Problem(f"pools.{name}.instanceTypes", rule, list(pool.instance_types), "Name the reserved type.")
        if len(pool.zones) != 1:
            rule = f"a {reservation.kind} is in exactly one zone"
            yield Problem(f"pools.{name}.zones", rule, list(pool.zones), "Name the zone of the reservation.")


def efa(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """EFA needs a type that supports it, and one zone: its traffic does not leave a subnet (EC2 User Guide, "EFA")."""
    for name, pool in pools.items():
        if not pool.efa:
            continue
        without = [kind.name for kind in known_types(pool) if not kind.efa_interfaces]
        if without:
            yield Problem(f"pools.{name}.efa", "every type of the pool must support EFA", without, "Set `efa: false`.")
        if len(pool.zones) != 1:
            rule = "an EFA pool needs exactly one zone"
            yield Problem(f"pools.{name}.zones", rule, list(pool.zones), "Name one zone of the network.")
        if len(pool.instance_types) != 1:
            rule = "an EFA pool has one instance type, because the launch template defines its network interfaces"
            yield Problem(f"pools.{name}.instanceTypes", rule, list(pool.instance_types), "Name one type.")


def managed_types(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """EKS limits the number of types of a node group (EKS API Reference, CreateNodegroup, `instanceTypes`)."""
    for name, pool in pools.items():
        if pool.provisioner is Provisioner.MANAGED and len(pool.instance_types) > MANAGED_TYPES:
            rule = f"a managed pool has at most {MANAGED_TYPES} instance types"
            yield Problem(
                f"pools.{name}.instanceTypes",
                rule,
                len(pool.instance_types),
                "Keep those that are most likely to be available.",
            )


IOPS_PER_GIB: Final = 500
IOPS_PER_MIBPS: Final = 4
"""Maximum IOPS per GiB of gp3, and minimum IOPS per MiB/s, that is 0.25 MiB/s per IOPS (EBS User Guide, "General
Purpose SSD volumes", gp3 performance; as jayendrapatil.com, "AWS EBS Volume Types", gives it with the bounds
of 2025-09; read 2026-11)."""


def disks(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Combinations of size, IOPS and throughput that EC2 refuses."""
    for name, pool in pools.items():
        disk = pool.disk
        if disk.iops > disk.size_gib * IOPS_PER_GIB:
            rule = f"a gp3 volume of {disk.size_gib} GiB has at most {disk.size_gib * IOPS_PER_GIB} IOPS"
            fix = f"Use less, or a sizeGib of {-(-disk.iops // IOPS_PER_GIB)} or more."
            yield Problem(f"pools.{name}.disk.iops", rule, disk.iops, fix)
        if disk.throughput_mibps * IOPS_PER_MIBPS > disk.iops:
            rule = f"a gp3 volume of {disk.iops} IOPS has at most {disk.iops // IOPS_PER_MIBPS} MiB/s"
            fix = f"Use less, or iops of {disk.throughput_mibps * IOPS_PER_MIBPS} or more."
            yield Problem(f"pools.{name}.disk.throughputMibps", rule, disk.throughput_mibps, fix)


FAST_DISK: Final = 600
"""MiB/s of the root volume below which unpacking image layers in parallel is slower than one after another
(awslabs/amazon-eks-ami, nodeadm/doc/examples.md, "Enabling fast image pull
(experimental)", 2026-07)."""


def parallel_pull(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Parallel unpacking needs a fast disk."""
    for name, pool in pools.items():
        slow = pool.local_nvme == "none" and pool.disk.throughput_mibps < FAST_DISK
        if pool.parallel_image_pull and slow:
            rule = f"parallel image pull needs a disk of {FAST_DISK} MiB/s or more, or local NVMe"
            fix = f"Use `disk: {{throughputMibps: {FAST_DISK}}}` or more, `localNvme: raid0`, or remove it."
            yield Problem(f"pools.{name}.parallelImagePull", rule, pool.disk.throughput_mibps, fix)


def local_nvme(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A RAID0 array needs local disks, and an operating system that creates it."""
    for name, pool in pools.items():
        if pool.local_nvme == "none":
            continue
        without = [kind.name for kind in known_types(pool) if not kind.nvme_gb]
        if without:
            rule = "every type of the pool must have local NVMe"
            yield Problem(f"pools.{name}.localNvme", rule, without, "Use `localNvme: none`.")
        if pool.os == "bottlerocket" and pool.provisioner is Provisioner.MANAGED:
            rule = "a managed Bottlerocket pool does not support RAID0"
            yield Problem(
                f"pools.{name}.localNvme", rule, pool.local_nvme, "Use `os: al2023` or `provisioner: karpenter`."
            )
