"""Any instance type of EC2: those of the catalog, and the others as EC2 describes them.

Programs of others have types that no stack of Slipway uses, such as t3.medium, which EKS takes by default. moto has
EC2's answers to DescribeInstanceTypes.
"""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from spec.catalog import gpus, instances
from spec.catalog.instances import InstanceType


@cache
def find(name: str) -> InstanceType | None:
    """The type of that name; None if EC2 has none. Where one that the catalog lacks is offered is not known."""
    known = instances.find(name)
    if known is None and (entry := described().get(name)):
        return instances.of(name, shape(entry), {})
    return known


@cache
def described() -> Mapping[str, Mapping[str, Any]]:
    """EC2's description of each type, by name."""
    # Read as a file: the module of moto that has them takes half a second to import.
    packed = (files("moto") / "ec2" / "resources" / "instance_types.json.gz").read_bytes()
    found: Mapping[str, Mapping[str, Any]] = json.loads(gzip.decompress(packed))
    return found


def shape(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A description as a row of the catalog; `gpu_name` is None for a GPU that the catalog lacks."""
    network = entry["NetworkInfo"]
    cards = network["NetworkCards"]
    row = {
        "vcpus": entry["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": entry["MemoryInfo"]["SizeInMiB"],
        "arch": entry["ProcessorInfo"]["SupportedArchitectures"][0],
        "nvme_gb": entry.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "network_cards": network["MaximumNetworkCards"],
        "network_mbps": int(sum(card["BaselineBandwidthInGbps"] for card in cards) * 1000),
        "enis": network["MaximumNetworkInterfaces"],
        "primary_card_enis": cards[network["DefaultNetworkCardIndex"]]["MaximumNetworkInterfaces"],
        "ipv4_per_eni": network["Ipv4AddressesPerInterface"],
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "markets": sorted(entry["SupportedUsageClasses"]),
    }
    without_efa = [card["NetworkCardIndex"] for card in cards if "efa" not in card["InterfaceTypes"]]
    if row["efa_interfaces"] and without_efa:
        row["cards_without_efa"] = without_efa
    # All are of NVIDIA: moto has no type with GPUs of AMD.
    for gpu in entry.get("GpuInfo", {}).get("Gpus", ())[:1]:
        memory = gpu["MemoryInfo"]["SizeInMiB"]
        model = gpus.by_ec2(gpu["Name"], memory)
        row |= {"gpus": gpu["Count"], "gpu_memory_mib": memory, "gpu_name": model.name if model else None}
        if not gpu["Count"]:
            row |= {"gpus": gpu["LogicalGpuCount"], "gpu_part": gpu["GpuPartitionSize"]}
    for device in entry.get("NeuronInfo", {}).get("NeuronDevices", ()):
        row["neuron_devices"] = device["Count"]
    return row
