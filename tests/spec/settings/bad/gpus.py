"""Mistakes of GPUs, their network and their purchase options."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad
from tests.spec.settings.stack import DELETE

GPUS: Final = (
    Bad(
        41,
        "unknown profile",
        {"pools.a100.mig": {"profiles": {"9g.5gb": 1}}},
        "pools.a100.mig.profiles",
        "no profile 9g.5gb",
        "NVIDIA",
    ),
    Bad(41, "unknown layout", {"pools.a100.mig.layout": "all-9g"}, "pools.a100.mig.layout", "must exist", "all-1g.5gb"),
    Bad(
        42,
        "profile of another GPU",
        {"pools.a100.mig": {"profiles": {"1g.10gb+me": 1, "1g.12gb": 1}}},
        "pools.a100.mig.profiles",
        "no profile",
        "NVIDIA",
    ),
    Bad(
        42,
        "layout of another GPU",
        {"pools.a100.mig.layout": "all-1g.12gb"},
        "pools.a100.mig.layout",
        "must exist for A100-40GB",
        "all-1g.5gb",
    ),
    Bad(
        43,
        "mix that does not fit",
        {"pools.a100.mig": {"profiles": {"3g.20gb": 3}}},
        "pools.a100.mig.profiles",
        "at most 2 of 3g.20gb",
        "NVIDIA",
    ),
    Bad(
        44,
        "MIG on an L4",
        {"pools.l4.mig": {"layout": "all-balanced"}},
        "pools.l4.mig",
        "must support MIG",
        "time-slicing",
    ),
    Bad(44, "MIG without a GPU", {"pools.cpu.mig": {"layout": "all-balanced"}}, "pools.cpu.mig", "with GPUs", "Remove"),
    Bad(
        44,
        "MIG on Bottlerocket",
        {"pools.a100.os": "bottlerocket", "pools.a100.localNvme": "none"},
        "pools.a100.mig",
        "as `nvidia.com/gpu`",
        "al2023",
    ),
    Bad(
        45,
        "time-slicing on a training pool",
        {"pools.h100.sharing": {"mode": "time-slicing", "replicas": 4}},
        "pools.h100.sharing",
        "whole GPUs",
        "role interactive",
    ),
    Bad(
        45,
        "sharing without a GPU",
        {"pools.cpu.sharing": {"mode": "mps", "replicas": 4}},
        "pools.cpu.sharing",
        "with GPUs",
        "Remove",
    ),
    Bad(
        45,
        "sharing by one pod",
        {"pools.l4.sharing": {"mode": "mps", "replicas": 1}},
        "pools.l4.sharing.replicas",
        "at least 2",
        "2",
    ),
    Bad(
        45,
        "more pods than MPS serves",
        {"pools.l4.sharing": {"mode": "time-slicing", "replicas": 1_000_000_000}},
        "pools.l4.sharing.replicas",
        "at most 48",
        "48",
    ),
    Bad(
        44,
        "partitioned GPUs without a device plugin",
        {"addons": {"efaDevicePlugin": {}}},
        "pools.a100.mig",
        "need the GPU Operator",
        "gpuOperator: {}",
    ),
    Bad(
        45,
        "shared GPUs without a device plugin",
        {
            "addons": {"efaDevicePlugin": {}},
            "pools.a100.mig": DELETE,
            "pools.l4.sharing": {"mode": "mps", "replicas": 2},
        },
        "pools.l4.sharing",
        "need the GPU Operator",
        "gpuOperator: {}",
    ),
    Bad(
        46,
        "MPS of MIG instances",
        {"pools.a100.role": "inference", "pools.a100.sharing": {"mode": "mps", "replicas": 2}},
        "pools.a100.sharing.mode",
        "MIG instances by MPS",
        "time-slicing",
    ),
    Bad(
        46,
        "an unknown way of sharing",
        {"pools.l4.sharing": {"mode": "vgpu", "replicas": 2}},
        "pools.l4.sharing.mode",
        "time-slicing",
        "mps",
    ),
    Bad(
        47,
        "EFA on a type without",
        {
            "pools.l4": {
                "role": "training",
                "provisioner": "managed",
                "instanceTypes": ["g6.xlarge"],
                "max": 1,
                "zones": ["us-east-1a"],
                "efa": True,
            }
        },
        "pools.l4.efa",
        "must support EFA",
        "efa: false",
    ),
    Bad(
        48,
        "EFA over zones",
        {"pools.h100.zones": ["us-east-1a", "us-east-1b"]},
        "pools.h100.zones",
        "exactly one zone",
        "Name one",
    ),
    Bad(48, "EFA with no zone named", {"pools.h100.zones": DELETE}, "pools.h100.zones", "exactly one zone", "Name one"),
    Bad(
        49,
        "capacity block without its id",
        {"pools.h100.capacity": {"market": "reserved", "reservation": {"kind": "capacity-block"}}},
        "pools.h100.capacity.reservation.id",
        "is required",
        "Add `id:`",
    ),
    Bad(
        49,
        "reserved without a reservation",
        {"pools.h100.capacity": {"market": "reserved"}},
        "pools.h100.capacity.reservation",
        "needs its reservation",
        "Add",
    ),
    Bad(
        50,
        "spot and a capacity block",
        {"pools.l4.capacity": {"reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890"}}},
        "pools.l4.capacity.market",
        "market: reserved",
        "remove it",
    ),
    Bad(
        51, "a price limit", {"pools.l4.capacity.maxPrice": "0.5"}, "pools.l4.capacity.maxPrice", "not known", "market"
    ),
    Bad(
        49,
        "no day",
        {
            "pools.h100.capacity": {
                "market": "reserved",
                "reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890", "startDate": "2026-13-45"},
            }
        },
        "pools.h100.capacity.reservation.startDate",
        "a day",
        "2026-12-01",
    ),
    Bad(
        49,
        "more machines than a block has",
        {
            "pools.h100.max": 65,
            "pools.h100.maxPods": 50,
            "pools.h100.capacity": {
                "market": "reserved",
                "reservation": {
                    "kind": "capacity-block",
                    "id": "cr-0a1b2c3d4e5f67890",
                    "startDate": "2026-12-01",
                    "endDate": "2026-12-15",
                },
            },
        },
        "pools.h100.max",
        "at most 64 machines",
        "number of machines in the block",
    ),
)
