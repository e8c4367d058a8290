"""Configuration of EKS add-ons: only what differs from AWS's defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spec.addresses import WARM_PREFIXES
from spec.settings.cluster import AddonName


def configuration(addon: AddonName, tags: Mapping[str, str], *, repair_gpus: bool) -> str | None:
    """`configurationValues` of an add-on as JSON with sorted keys; None if nothing differs from the defaults.

    Args:
        addon: The add-on.
        tags: Tags of the platform: the provider's default tags don't reach volumes that a driver creates.
        repair_gpus: Whether the node monitoring agent reports broken GPUs to node repair.
    """
    values = _values(addon, tags, repair_gpus=repair_gpus)
    return json.dumps(values, sort_keys=True) if values else None


def _values(addon: AddonName, tags: Mapping[str, str], *, repair_gpus: bool) -> dict[str, Any]:
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
        case AddonName.NODE_MONITORING_AGENT:
            return _monitoring(repair_gpus=repair_gpus)
        case _:
            return {}


def _monitoring(*, repair_gpus: bool) -> dict[str, Any]:
    """By default, the agent doesn't watch GPUs: it gives DCGM one minute after its own start, which the pull of DCGM's
    image on a fresh node exceeds, reports AcceleratedHardwareReady False, and never takes that back; node repair then
    terminates a healthy node after ten minutes (aws/eks-node-monitoring-agent#266, #275, open in 2026-09; v1.6.6,
    monitors/nvidia/monitor.go; docs/adr/0063-nodes-outlast-their-jobs.md). The switch exists from v1.6.0.

    With the watch, DCGM needs tolerations: its DaemonSet has none, and GPU nodes are tainted.
    """
    if repair_gpus:
        return {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
    return {"nodeAgent": {"monitors": {"nvidia": {"enabled": False}}}}
