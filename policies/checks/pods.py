"""Pod specs in any resource: a Deployment, a JobSet, a training runtime, a manifest of a rendered chart.

A pod spec is recognized by its shape, a map with a list of `containers`, so unknown kinds are evaluated as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.resources.access import MISSING, Node
from policies.resources.resource import Resource
from policies.rule import Context, Setting, Violation, violation

_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
EXEMPT: Final = "privilegedNamespaces"
"""Setting: namespaces of node software."""


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod spec in a resource.

    Attributes:
        at: The resource.
        spec: The pod spec.
        metadata: Metadata of the pod; of the resource if it is a Pod.
    """

    at: Resource
    spec: Node
    metadata: Node

    @property
    def containers(self) -> list[Node]:
        """All known containers, including init and ephemeral ones."""
        return [entry for key in _LISTS for entry in self.spec[key].items() if entry.known]

    @property
    def main(self) -> list[Node]:
        """Known containers without init and ephemeral ones."""
        return [entry for entry in self.spec["containers"].items() if entry.known]

    def security(self, container: Node, key: str) -> Node:
        """A field of the security context: the container's, otherwise the pod's."""
        own = container["securityContext"][key]
        return self.spec["securityContext"][key] if own.missing else own


def pods(resource: Resource) -> Iterator[Pod]:
    """Pods that a Kubernetes resource declares."""
    if resource.type.startswith("kubernetes:") and ":helm.sh/" not in resource.type:
        yield from _below(resource, resource.props, resource["metadata"])


def _below(resource: Resource, node: Node, metadata: Node) -> Iterator[Pod]:
    if isinstance(node.raw, Mapping):
        if _is_pod(node.raw):
            yield Pod(at=resource, spec=node, metadata=metadata)
            return
        own = node["metadata"]
        for key, field in node.fields().items():
            if key != "metadata":
                yield from _below(resource, field, own if not own.missing else metadata)
    elif isinstance(node.raw, list):
        for entry in node.items():
            yield from _below(resource, entry, Node(entry.path, MISSING))


def _is_pod(raw: Mapping[str, Any]) -> bool:
    containers = raw.get("containers")
    return isinstance(containers, list) and all(not isinstance(entry, str) for entry in containers)


def exempt(resource: Resource, context: Context) -> bool:
    """Whether a resource is, or may be, in a namespace of node software."""
    namespace = resource["metadata"]["namespace"]
    patterns = context.settings.get(EXEMPT, ())
    return bool(patterns) and (
        namespace.unknown or any(fnmatchcase(namespace.text() or "", pattern) for pattern in patterns)
    )


Question = Callable[[Pod, Node], Node | None]


def of_container(question: Question) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A check of every container; the question returns the property that is certainly wrong, or None."""

    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        for pod in () if exempt(resource, context) else pods(resource):
            for container in pod.containers:
                wrong = question(pod, container)
                if wrong is not None:
                    yield violation(wrong, at=resource)

    return find


def of_pod(question: Callable[[Pod], Node | None]) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A check of every pod; the question returns the property that is certainly wrong, or None."""

    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        for pod in () if exempt(resource, context) else pods(resource):
            wrong = question(pod)
            if wrong is not None:
                yield violation(wrong, at=resource)

    return find


def node_software() -> dict[str, Setting]:
    """The setting that exempts the namespaces of node software."""
    names = ["kube-system", "gpu-operator", "logging", "monitoring"]
    return {
        EXEMPT: Setting(
            asks="globs of namespaces for node software, such as drivers, device plugins and node agents",
            schema={"type": "array", "items": {"type": "string"}},
            values={"dev": names, "staging": names, "prod": names},
        )
    }
