"""Configurations for the operator: a ConfigMap whose name changes with its content.

The operator does not watch these ConfigMaps (NVIDIA GPU Operator documentation, "Time-Slicing GPUs", "Updating a
Time-Slicing Config Map"); a new name changes the ClusterPolicy, which starts new pods that read the new content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import yaml


def config_map(prefix: str, default: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """`config` of the device plugin in the chart's values.

    Args:
        prefix: Prefix of the ConfigMap's name.
        default: Key of `data`, or name in it, for nodes without the label.
        data: Documents by key.
    """
    texts = {key: yaml.safe_dump(document, sort_keys=True) for key, document in sorted(data.items())}
    digest = hashlib.sha256("\0".join(f"{key}\0{text}" for key, text in texts.items()).encode()).hexdigest()
    return {"create": True, "name": f"{prefix}-{digest[:8]}", "default": default, "data": texts}
