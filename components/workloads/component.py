"""Declares the manifests of a workload as resources, the same way for every kind, or reports all of its problems in one
error before that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.kubernetes import declare
from components.workloads.target import Target
from spec.settings.problems import ConfigurationError, Problem

NAME_LENGTH: Final = 45
"""Maximum length of a workload's name. Controllers add suffixes (`-predictor-`, `-node-0-15`, a hash) to the host name
of a pod, which has at most 63 characters (RFC 1123)."""
_NAME: Final = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


class WorkloadRefused(ConfigurationError, pulumi.RunError):  # noqa: N818 - the name says what happened
    """A workload with problems. As a `RunError` it ends a Pulumi program with its message and without a traceback."""


def refuse_if_any(kind: str, name: str, problems: Iterable[Problem]) -> None:
    """Raise if there are problems.

    Raises:
        WorkloadRefused: With all problems.
    """
    everything = [*name_problems(name), *problems]
    if everything:
        raise WorkloadRefused(everything, f"{kind} {name}")


def name_problems(name: str) -> Iterator[Problem]:
    """What is wrong with a workload's name."""
    if len(name) > NAME_LENGTH or not _NAME.fullmatch(name):
        rule = f"a name has at most {NAME_LENGTH} lowercase letters, digits and hyphens, and begins with a letter"
        yield Problem("name", rule, name, "Shorten it; controllers add suffixes, and a host name has 63 characters.")


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
