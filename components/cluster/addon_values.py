"""Configuration of EKS add-ons: only what differs from AWS's defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spec.addresses import WARM_PREFIXES
from spec.settings.cluster import AddonName


def configuration(addon: AddonName, tags: Mapping[str, str]) -> str | None:
    """`configurationValues` of an add-on as JSON with sorted keys; None if nothing differs from the defaults.

    Args:
        addon: The add-on.
        tags: Tags of the platform: the provider's default tags don't reach volumes that a driver creates.
    """
    values = _values(addon, tags)
    return json.dumps(values, sort_keys=True) if values else None


def _values(addon: AddonName, tags: Mapping[str, str]) -> dict[str, Any]:
    match addon:
        case AddonName.VPC_CNI:
            # A /28 prefix uses one address slot of a network interface, so addresses don't limit the pods of a node;
            # one prefix is kept warm, because attaching one takes seconds (EKS User Guide, "Assign more IP addresses to
            # nodes").
            env = {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": str(WARM_PREFIXES)}
            return {"enableNetworkPolicy": "true", "env": env}
        case AddonName.EBS_CSI:
            return {"controller": {"extraVolumeTags": dict(tags)}}
        case AddonName.S3_CSI:
            # GPU nodes are tainted, and training jobs on them mount buckets. Node pods of the other drivers tolerate
            # all taints by default; this driver's only since v2.7 (its chart's values.yaml).
            return {"node": {"tolerateAllTaints": True}}
        case _:
            return {}
