"""How managed add-ons are configured: only what differs from what AWS ships."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spec.addresses import WARM_PREFIXES
from spec.settings.cluster import AddonName


def configuration(addon: AddonName, tags: Mapping[str, str]) -> str | None:
    """`configurationValues` of an add-on as JSON with sorted keys; None where nothing differs.

    Args:
        addon: The add-on.
        tags: Tags of the platform: the provider's default tags don't reach volumes that a driver makes.
    """
    values = _values(addon, tags)
    return json.dumps(values, sort_keys=True) if values else None


def _values(addon: AddonName, tags: Mapping[str, str]) -> dict[str, Any]:
    match addon:
        case AddonName.VPC_CNI:
            # A /28 prefix takes one slot of an interface, so a node can have as many pods as it can run; one prefix is
            # kept ready, because attaching one takes seconds (EKS User Guide, "Assign more IP addresses to nodes").
            env = {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": str(WARM_PREFIXES)}
            return {"enableNetworkPolicy": "true", "env": env}
        case AddonName.EBS_CSI:
            return {"controller": {"extraVolumeTags": dict(tags)}}
        case AddonName.S3_CSI:
            # GPU nodes are tainted, and it is training jobs that mount buckets. The other drivers' node pods tolerate
            # everything by default; this one's only since v2.7 (its chart's values.yaml).
            return {"node": {"tolerateAllTaints": True}}
        case _:
            return {}
