"""The aws provider's ports, recording their calls."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.aws.client import Clients
from sandbox.aws.moto import live
from sandbox.errors import SandboxError
from sandbox.ports import ClusterEndpoint, Outcome


class FakeClusters:
    """API servers that exist only by name."""

    def __init__(self) -> None:
        self.running: dict[str, ClusterEndpoint] = {}
        self.versions: dict[str, str] = {}
        self.scheduling: dict[str, Mapping[str, Any]] = {}

    def expect(self, program: str, version: str, name: str = "") -> None:
        """What comes is taken as it comes."""

    def create(self, name: str, version: str, made: str = "") -> ClusterEndpoint:
        self.versions[name] = version
        port = 40000 + len(self.running)
        return self.running.setdefault(name, ClusterEndpoint(f"https://127.0.0.1:{port}", "Y2E="))

    def schedule(self, name: str, config: Mapping[str, Any]) -> None:
        self.scheduling[name] = config

    def delete(self, name: str) -> None:
        self.running.pop(name, None)

    def get(self, name: str) -> ClusterEndpoint | None:
        return self.running.get(name)


class FakeNodes:
    """The nodes of each group, as (inputs, data of the launch template), and the tags of Auto Scaling groups."""

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str], tuple[Mapping[str, Any], Mapping[str, Any] | None]] = {}
        self.tags: dict[tuple[str, str], str] = {}

    def node_group_changed(
        self, cluster: str, name: str, inputs: Mapping[str, Any], launch_template: Mapping[str, Any] | None
    ) -> None:
        self.groups[cluster, name] = (inputs, launch_template)

    def node_group_deleted(self, cluster: str, name: str) -> None:
        self.groups.pop((cluster, name), None)

    def asg_tag_changed(self, asg_name: str, key: str, value: str | None) -> None:
        if value is None:
            self.tags.pop((asg_name, key), None)
        else:
            self.tags[asg_name, key] = value


class FakeAddons:
    """The add-ons of each cluster with their configuration; one that is `failing` never becomes ready."""

    def __init__(self) -> None:
        self.present: dict[tuple[str, str], str | None] = {}
        self.failing: set[str] = set()
        self.came: set[str] = set()
        """Add-ons whose chart came after they were recorded."""

    def behind(self, cluster: str, name: str) -> bool:
        return name in self.came

    def problems(self, name: str, configuration: str | None) -> list[str]:
        return [f"bad: {configuration}"] if configuration == "broken" else []

    def changed(self, cluster: str, name: str, configuration: str | None) -> None:
        if name in self.failing:
            msg = "its pods are Pending"
            raise SandboxError(msg)
        self.present[cluster, name] = configuration
        self.came.discard(name)

    def outcome(self, cluster: str, name: str) -> Outcome | None:
        return Outcome(installed=True, text="a chart") if (cluster, name) in self.present else None

    def deleted(self, cluster: str, name: str) -> None:
        del self.present[cluster, name]


@contextmanager
def attached(
    clients: Clients,
    clusters: FakeClusters | None = None,
    nodes: FakeNodes | None = None,
    addons: FakeAddons | None = None,
) -> Iterator[None]:
    """They are behind the EKS of this process meanwhile."""
    before = live.attach(live.Behind(clients, clusters, nodes, addons))
    try:
        yield
    finally:
        live.attach(before)
