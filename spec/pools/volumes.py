"""Volumes of a pool's machines: all gp3, all encrypted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spec.pools.pool_spec import PoolSpec

BOTTLEROCKET_SYSTEM_GIB: Final = 4
"""Size of Bottlerocket's own volume in Karpenter (v1.14.1, pkg/providers/amifamily/bottlerocket.go)."""
GP3_IOPS: Final = 3000
GP3_MIBPS: Final = 125
"""Performance that is included in every gp3 volume (EBS User Guide, "General Purpose SSD volumes")."""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """One EBS volume of a machine.

    Attributes:
        device: Device name in EC2.
        size_gib: Size in GiB.
        iops: I/O operations per second.
        throughput_mibps: Throughput in MiB/s.
        holds_data: Whether images, logs and scratch space are on it, and not only the operating system.
    """

    device: str
    size_gib: int
    iops: int
    throughput_mibps: int
    holds_data: bool


def volumes(spec: PoolSpec) -> tuple[Volume, ...]:
    """Volumes in the order of their devices. Bottlerocket has its system on a separate, small first volume
    (bottlerocket.dev, "Concepts", data and OS volumes)."""
    disk = spec.settings.disk
    data = Volume(
        device="/dev/xvdb" if spec.settings.os == "bottlerocket" else "/dev/xvda",
        size_gib=disk.size_gib,
        iops=disk.iops,
        throughput_mibps=disk.throughput_mibps,
        holds_data=True,
    )
    if spec.settings.os != "bottlerocket":
        return (data,)
    system = Volume(
        device="/dev/xvda",
        size_gib=BOTTLEROCKET_SYSTEM_GIB,
        iops=GP3_IOPS,
        throughput_mibps=GP3_MIBPS,
        holds_data=False,
    )
    return (system, data)
