"""GPU models of the catalog's instance types."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from spec.catalog.document import Source, load, source

DEVICES: Final = "nvidia.com/"
"""Prefix of the extended resources of NVIDIA's device plugin."""
DEVICE: Final = f"{DEVICES}gpu"
"""Extended resource of one whole GPU."""
DEVICE_CLASS: Final = "gpu.nvidia.com"
"""DeviceClass of whole GPUs, and name of NVIDIA's driver for Dynamic Resource Allocation, whose chart makes the class
with `extendedResourceName: nvidia.com/gpu` (dra-driver-nvidia-gpu v0.4.1, templates/deviceclass-gpu.yaml)."""


def device_class(resource: str) -> str:
    """DeviceClass whose devices satisfy requests of an extended resource: `mig-1g.5gb.nvidia.com` of one MIG profile,
    which the platform makes, because the driver's class of MIG instances has all profiles and satisfies no requests
    (dra-driver-nvidia-gpu v0.4.1, templates/deviceclass-mig.yaml)."""
    return f"{resource.removeprefix(DEVICES)}.nvidia.com"


@dataclass(frozen=True)
class GpuModel:
    """One GPU model, in the variant that EC2 offers."""

    name: str
    """Key of the model, with its memory if there are variants: `A100-40GB`."""
    ec2_name: str
    """Name in EC2's DescribeInstanceTypes: `A100`."""
    memory_mib: int
    """Memory as EC2 reports it, in MiB; slightly less is available to programs."""
    architecture: Literal["turing", "ampere", "ada", "hopper", "blackwell"]
    accelerator: str
    """Value of the node label `accelerator`: `nvidia-a100` for both variants of the A100."""
    mig: Literal["none", "reboot", "live"]
    """Whether it supports Multi-Instance GPU, and whether the node must reboot to enable it."""
    whole: bool
    """Whether it is one, and not what EC2 sells as a part of one."""
    pci_ids: tuple[str, ...]
    """Device and vendor ID as in mig-parted's `device-filter`."""

    @property
    def mig_capable(self) -> bool:
        """Whether the GPU supports MIG."""
        return self.mig != "none"


_DOCUMENT: Final = load("gpus.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
GPUS: Final[Mapping[str, GpuModel]] = MappingProxyType(
    {
        name: GpuModel(
            name=name,
            ec2_name=entry["ec2"],
            memory_mib=entry["memory_mib"],
            architecture=entry["architecture"],
            accelerator=entry["accelerator"],
            mig=entry["mig"],
            whole=entry.get("whole", True),
            pci_ids=tuple(entry["pci"]),
        )
        for name, entry in _DOCUMENT["gpus"].items()
    }
)
"""All models by name."""


def get(name: str) -> GpuModel:
    """Return the model of that name; a KeyError lists the known ones."""
    if name not in GPUS:
        message = f"the catalog has no GPU {name!r}: it has {', '.join(GPUS)}"
        raise KeyError(message)
    return GPUS[name]


def by_ec2(ec2_name: str, memory_mib: int) -> GpuModel | None:
    """Return the model that EC2 reports under this name with this memory; None if the catalog has none."""
    found = (model for model in GPUS.values() if (model.ec2_name, model.memory_mib) == (ec2_name, memory_mib))
    return next(found, None)
