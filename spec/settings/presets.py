"""Named defaults for pools, so that a stack file says only what differs.

Plain data in the spelling of the stack file: `load` merges a pool's own keys over its preset's before validation.
"""

from collections.abc import Mapping
from typing import Any, Final

from spec.jobs import HOUR, LONGEST

_WORKING_HOURS_FREEZE: Final = {
    # No consolidation or drift during working hours, so that notebooks in use are not moved.
    "working-hours": {
        "nodes": "0",
        "schedule": "0 7 * * mon-fri",
        "duration": "12h",
        "reasons": ["Underutilized", "Drifted"],
    },
    "always": {"nodes": "10%"},
}

_LONGEST_DRAIN: Final = f"{LONGEST // HOUR + 4}h"
"""The longest job, and four hours for its pods to end. A node
that expires or drifts takes no new pods, and is deleted when its last job ends, not after this time."""

_TRAINING: Final = {
    "role": "training",
    "provisioner": "karpenter",
    "max": 2,
    "disk": {"sizeGib": 200, "iops": 6000, "throughputMibps": 500},
    "localNvme": "raid0",
    "disruption": {
        "consolidateAfter": "15m",
        "terminationGracePeriod": _LONGEST_DRAIN,
        "budgets": _WORKING_HOURS_FREEZE,
    },
}

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "system": {
        "role": "system",
        "provisioner": "managed",
        "instanceTypes": ["m7i.large", "m6i.large", "m7a.large"],
        "min": 2,
        "max": 3,
        "disk": {"sizeGib": 50},
    },
    "cpu": {
        "role": "general",
        "provisioner": "karpenter",
        "instanceTypes": ["m7i.xlarge", "m7i.2xlarge", "m7i.4xlarge", "m7a.xlarge", "m7a.2xlarge", "m7a.4xlarge"],
        "max": 10,
        "disruption": {
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "consolidateAfter": "5m",
            "budgets": _WORKING_HOURS_FREEZE,
        },
    },
    "a100": {**_TRAINING, "instanceTypes": ["p4d.24xlarge"]},
    "h100": {**_TRAINING, "instanceTypes": ["p5.48xlarge"]},
    "gpu-spot": {
        "role": "interactive",
        "provisioner": "karpenter",
        "instanceTypes": ["g6.xlarge", "g6.2xlarge", "g6.4xlarge", "g6.8xlarge"],
        "capacity": {"market": "spot"},
        "max": 8,
        "disk": {"sizeGib": 150},
        "localNvme": "raid0",
        "disruption": {"consolidateAfter": "10m", "budgets": {**_WORKING_HOURS_FREEZE, "always": {"nodes": "20%"}}},
    },
}
