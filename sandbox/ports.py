"""The interfaces between the two providers of the sandbox.

An `aws:eks/cluster:Cluster` needs an API server, node groups need nodes in it, and add-ons pods. The aws provider
requests all of them through these protocols and does not depend on kube-apiserver; the Kubernetes side implements them.
"""

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

    def expect(self, program: str, version: str, name: str = "") -> None:
        """A program has a cluster of this Kubernetes version, which may not exist yet, or run with another version: an
        API server of that version validates its manifests. `program` is the stack and project
        (`rpc.hooks.Resource.program`), `name` the cluster's, if it is known."""
        ...

    def create(self, name: str, version: str, made: str = "") -> ClusterEndpoint:
        """Start the API server of a cluster, restart it if it runs with another version, and wait until it answers.

        `made` is when EKS made the cluster: the API server of an earlier one of this name is deleted first.
        """
        ...

    def schedule(self, name: str, config: Mapping[str, Any]) -> None:
        """Configure the cluster's scheduler by EKS's `kubeSchedulerConfig`; empty for its defaults."""
        ...

    def delete(self, name: str) -> None:
        """Stop the API server and delete its data."""
        ...

    def get(self, name: str) -> ClusterEndpoint | None:
        """Where the cluster's API server listens; None if there is none."""
        ...


class NodeObserver(Protocol):
    """Is notified after a node group was created, updated or deleted, so that Node objects follow.

    `inputs` are those of the Pulumi resource, in provider spelling (camelCase). `launch_template` is the
    `LaunchTemplateData` of the version in use, in EC2's spelling, or None if the group has no launch template.
    """

    def node_group_changed(
        self, cluster: str, name: str, inputs: Mapping[str, Any], launch_template: Mapping[str, Any] | None
    ) -> None:
        """A node group was created or updated. Called again after a failure, so it must be idempotent."""
        ...

    def node_group_deleted(self, cluster: str, name: str) -> None:
        """A node group was deleted."""
        ...

    def asg_tag_changed(self, asg_name: str, key: str, value: str | None) -> None:
        """A tag of a node group's Auto Scaling group was set, or removed if the value is None."""
        ...


@dataclass(frozen=True)
class Outcome:
    """Whether an add-on was installed or only recorded, and as what."""

    installed: bool
    text: str


class ManagedAddons(Protocol):
    """Is notified of EKS add-ons, so that their DaemonSets and Deployments run in the cluster.

    `configuration` is the add-on's `configurationValues`, JSON text.
    """

    def problems(self, name: str, configuration: str | None) -> list[str]:
        """The problems with an add-on's configuration, one line each."""
        ...

    def changed(self, cluster: str, name: str, configuration: str | None) -> None:
        """An add-on was created or updated. Raises SandboxError if its pods do not become ready."""
        ...

    def behind(self, cluster: str, name: str) -> bool:
        """Whether an update with the same configuration would install an add-on that was only recorded."""
        ...

    def outcome(self, cluster: str, name: str) -> Outcome | None:
        """What became of the last change of an add-on; None if nobody asked for one."""
        ...

    def deleted(self, cluster: str, name: str) -> None:
        """An add-on was deleted. Raises SandboxError if it can't be removed."""
        ...
