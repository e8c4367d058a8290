"""How the manifests of a workload become resources: the same for every kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.base.kubernetes import declare
from components.workloads.target import Target


@dataclass(frozen=True)
class WorkloadManifest:
    """One object of a workload.

    Attributes:
        manifest: All of it.
        needs: Roles of those that must stand before it.
        timeout_seconds: How long the engine waits until it is ready; its own patience (10 min) where not given.
    """

    manifest: Mapping[str, Any]
    needs: Sequence[str] = ()
    timeout_seconds: int | None = None


WorkloadManifests = Mapping[str, WorkloadManifest]
"""Objects of a workload by role; the role ends the logical name."""


class Workload(pulumi.ComponentResource):
    """A workload as resources. The pieces come from a pure function, which has refused what can't run."""

    def __init__(
        self,
        token: str,
        name: str,
        manifests: WorkloadManifests,
        target: Target,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(token, name, None, opts)
        declared: dict[str, pulumi.Resource] = {}
        for role, manifest in manifests.items():
            options = pulumi.ResourceOptions(
                parent=self,
                depends_on=[*target.after, *(declared[need] for need in manifest.needs)],
                ignore_changes=controlled(manifest.manifest),
                custom_timeouts=_patience(manifest.timeout_seconds),
            )
            declared[role] = declare(f"{name}-{role}", manifest.manifest, options)
        self.register_outputs({"namespace": target.namespace, "objects": sorted(manifests)})


def controlled(manifest: Mapping[str, Any]) -> list[str] | None:
    """Fields that somebody else sets once the object stands: Kueue starts a job by clearing `suspend`, and an update
    that set it again would stop the job."""
    spec = manifest.get("spec", {})
    if "suspend" in spec:
        return ["spec.suspend"]
    return ["spec.runPolicy.suspend"] if "suspend" in spec.get("runPolicy", {}) else None


def _patience(seconds: int | None) -> pulumi.CustomTimeouts | None:
    return None if seconds is None else pulumi.CustomTimeouts(create=f"{seconds}s", update=f"{seconds}s")
