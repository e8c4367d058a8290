"""Names of the configurations of GPU sharing, on which settings, nodes, the device plugin and the sandbox agree."""

from __future__ import annotations

import re
from typing import Final

CONFIG_LABEL: Final = "nvidia.com/device-plugin.config"
"""Node label by which the device plugin finds its configuration among the named ones (k8s-device-plugin v0.20.0,
"Configuration Option Details", config manager)."""
_NAME: Final = re.compile(r"(?:time-slicing|mps)-([1-9][0-9]*)")


def config_name(mode: str, replicas: int) -> str:
    """Name of the device plugin's configuration: `time-slicing-4`. It contains the whole setting, so that a
    changed setting changes the node label, on which the plugin acts."""
    return f"{mode}-{replicas}"


def replicas_of(name: str) -> int:
    """Pods on one GPU under the configuration of that name; 1 for a name that is not one of `config_name`."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 1
