"""What a launch template says about its instances, in EC2's spelling (ec2:DescribeLaunchTemplateVersions)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EFA_KINDS = frozenset({"efa", "efa-only"})
_MAX_PODS = re.compile(r"(?:--max-pods=|max-pods\s*=\s*|maxPods:\s*)[\"']?(\d+)")
"""As a flag of the kubelet, as Bottlerocket's setting, and as the kubelet's configuration."""
_RAID = re.compile(r"strategy:\s*[\"']?RAID0")


@dataclass(frozen=True)
class Template:
    """The settings that are visible on a node."""

    instance_type: str = ""
    efa: int = 0
    disk_gib: int | None = None
    max_pods: int | None = None
    nvme_raid: bool = False


def read_template(data: Mapping[str, Any] | None) -> Template:
    """From LaunchTemplateData; an empty Template if there is none."""
    if not data:
        return Template()
    interfaces = data.get("NetworkInterfaces") or ()
    sizes = [(device.get("Ebs") or {}).get("VolumeSize") for device in data.get("BlockDeviceMappings") or ()]
    text = _user_data(data.get("UserData"))
    pods = _MAX_PODS.search(text)
    return Template(
        instance_type=str(data.get("InstanceType") or ""),
        efa=sum(each.get("InterfaceType") in EFA_KINDS for each in interfaces),
        # Bottlerocket has a small volume for the system and a larger one for containers.
        disk_gib=max((int(size) for size in sizes if size), default=None),
        max_pods=int(pods[1]) if pods else None,
        nvme_raid=_RAID.search(text) is not None,
    )


def _user_data(encoded: Any) -> str:
    try:
        return base64.b64decode(str(encoded or ""), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""
