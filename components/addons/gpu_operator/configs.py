"""Configurations as the operator takes them: a config map whose name changes with its content.

The operator does not watch the maps that it is given (NVIDIA GPU Operator documentation, "Time-Slicing GPUs", "Updating
a Time-Slicing Config Map"); a new name is a new ClusterPolicy, and so new pods that read the new content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import yaml


def config_map(prefix: str, default: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """`config` of the device plugin or the MIG manager in the chart's values.

    Args:
        prefix: Begins the name of the map.
        default: Key of `data`, or name in it, for nodes whose label names none.
        data: Documents by key.
    """
    texts = {key: yaml.safe_dump(document, sort_keys=True) for key, document in sorted(data.items())}
    digest = hashlib.sha256("\0".join(f"{key}\0{text}" for key, text in texts.items()).encode()).hexdigest()
    return {"create": True, "name": f"{prefix}-{digest[:8]}", "default": default, "data": texts}
