"""Volumes of a pool's machines."""

from __future__ import annotations

from spec.pools.volumes import volumes
from tests.components.pools.samples import spec

DISK = {"sizeGib": 300, "iops": 6000, "throughputMibps": 500}


def test_amazon_linux_has_one_volume() -> None:
    (only,) = volumes(spec(preset="cpu", disk=DISK))
    assert (only.device, only.size_gib, only.iops, only.throughput_mibps) == ("/dev/xvda", 300, 6000, 500)
    assert only.holds_data


def test_bottlerocket_has_separate_volumes_for_system_and_data() -> None:
    system, data = volumes(spec(preset="cpu", os="bottlerocket", disk=DISK))
    assert (system.device, system.size_gib, system.holds_data) == ("/dev/xvda", 4, False)
    assert (data.device, data.size_gib, data.iops, data.holds_data) == ("/dev/xvdb", 300, 6000, True)
