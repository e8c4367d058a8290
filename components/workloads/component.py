"""Declares the manifests of a workload as resources, the same way for every kind."""

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
        manifest: The whole object.
        needs: Roles of the objects that it depends on.
        timeout_seconds: How long Pulumi waits until it is ready; by default 10 minutes.
    """

    manifest: Mapping[str, Any]
    needs: Sequence[str] = ()
    timeout_seconds: int | None = None


WorkloadManifests = Mapping[str, WorkloadManifest]
"""Objects of a workload by role; the role is the suffix of the logical name."""


class Workload(pulumi.ComponentResource):
    """The resources of a workload. A pure function builds and validates the manifests."""

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
                custom_timeouts=_timeouts(manifest.timeout_seconds),
            )
            declared[role] = declare(f"{name}-{role}", manifest.manifest, options)
        self.register_outputs({"namespace": target.namespace, "objects": sorted(manifests)})


def controlled(manifest: Mapping[str, Any]) -> list[str] | None:
    """Fields that a controller changes after creation: Kueue starts a job by clearing `suspend`, and an update that set
    it again would stop the job."""
    spec = manifest.get("spec", {})
    if "suspend" in spec:
        return ["spec.suspend"]
    for holder in ("runPolicy", "rayClusterConfig"):
        if "suspend" in spec.get(holder, {}):
            return [f"spec.{holder}.suspend"]
    return None


def _timeouts(seconds: int | None) -> pulumi.CustomTimeouts | None:
    return None if seconds is None else pulumi.CustomTimeouts(create=f"{seconds}s", update=f"{seconds}s")
