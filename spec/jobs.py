"""What jobs of teams keep to: the names of their queue, and their bounds.

Admission rules, typed workloads, `slipway why FILE` and the policy pack all read them here (ADR 0122).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

KUEUE: Final = "kueue.x-k8s.io/"
"""Prefix of Kueue's labels and annotations, and of the scheduling gates with which it holds a pod until it admits it:
`admission`, `topology` (kueue.sigs.k8s.io, "Run Plain Pods"; v0.19)."""
KUEUE_API: Final = f"{KUEUE}v1beta2"  # API version of its queues, flavors, workloads and their priorities
QUEUE: Final = f"{KUEUE}queue-name"
PRIORITY: Final = f"{KUEUE}priority-class"  # labels of Kueue 0.19, "Run A Kubernetes Job"
PODSET: Final = f"{KUEUE}podset-"
"""Prefix of the annotations of a topology (Kueue 0.19, "Topology Aware Scheduling", user-facing APIs)."""
GATE: Final = f"{KUEUE}admission"  # scheduling gate of a pod that waits for quota

HOUR: Final = 3600
DAY: Final = 24 * HOUR
LONGEST: Final = 14 * DAY
"""Seconds that any job may run. On a Karpenter pool the drain of its nodes is a bound as well
(`components.workloads.checks.jobs`, `spec.settings.presets`)."""
LONGEST_KEPT: Final = 7 * DAY  # seconds that a finished job may be kept
LONGEST_IDLE: Final = HOUR  # seconds that the cluster of a finished RayJob may be kept, with its nodes
LONGEST_STOP: Final = HOUR  # seconds that the pods of a job may take to stop: after its deadline, too
MAX_RETRIES: Final = 20
MANAGERS: Final = (
    "kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller", f"{KUEUE}multikueue"
)  # fmt: skip
"""Values of `managedBy` of Jobs and JobSets that somebody acts on: batch/v1 and jobset v0.12.0, API types; Kueue 0.19,
MultiKueue."""

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
"""Annotation: Karpenter neither evicts the pod nor consolidates its node."""
SPOT_NOTICE_SECONDS: Final = 120
"""Between the notice and the end of a Spot instance (EC2 User Guide, "Spot Instance interruption notices")."""

_NUMBER: Final = re.compile("-([1-9][0-9]?)$")


def claimed_by(template: str) -> int:
    """GPUs of a claim by a template: its name tells how many (`components.admission.claims`)."""
    found = _NUMBER.search(template)
    return int(found[1]) if found else 1


def claimed(spec: Mapping[str, Any]) -> int:
    """GPUs of a pod by claims of devices."""
    claims = spec.get("resourceClaims") or ()
    return sum(claimed_by(str(one.get("resourceClaimTemplateName") or "")) for one in claims)
