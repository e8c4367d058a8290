"""What the two providers of the sandbox tell each other.

An `aws:eks/cluster:Cluster` needs an API server to point at, and node groups need nodes in it. The aws provider asks
for both through these protocols and knows nothing of kube-apiserver; the kubernetes side implements them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class ClusterEndpoint:
    """Where a cluster's API server listens.

    `server` is `https://127.0.0.1:PORT`; `certificate_authority` is base64 of a PEM bundle, the form EKS returns.
    """

    server: str
    certificate_authority: str


class Clusters(Protocol):
    """The API servers, one per EKS cluster. Both `create` and `delete` are idempotent."""

    def create(self, name: str) -> ClusterEndpoint:
        """Start the API server of a cluster and wait until it answers; the running one if there is one."""
        ...

    def delete(self, name: str) -> None:
        """Stop it and forget what it stored."""
        ...

    def get(self, name: str) -> ClusterEndpoint | None:
        """Where the cluster's API server listens, None if there is none."""
        ...


class NodeObserver(Protocol):
    """Told of each node group after it was created, updated or deleted, so that Node objects follow.

    `inputs` are those of the Pulumi resource, in provider spelling (camelCase). `launch_template` is the
    `LaunchTemplateData` of the version in use, in EC2's spelling, or None where the group has no launch template.
    """

    def node_group_changed(
        self, cluster: str, name: str, inputs: Mapping[str, Any], launch_template: Mapping[str, Any] | None
    ) -> None:
        """A node group was created or updated; told again after a failure, so it must bear repetition."""
        ...

    def node_group_deleted(self, cluster: str, name: str) -> None:
        """A node group is gone."""
        ...

    def asg_tag_changed(self, asg_name: str, key: str, value: str | None) -> None:
        """A tag of a node group's Auto Scaling group was set, or with None removed."""
        ...
