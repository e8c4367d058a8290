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
from policies.rule import Context, Setting, Violation, setting, violation
from spec.catalog.software import PRIVILEGED

_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_STEPS: Final = ("container", "script")
"""One container of a template of Argo (argoproj/argo-workflows v4, pkg/apis/workflow/v1alpha1, Template)."""
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
        listed = [entry for key in _LISTS for entry in self.spec[key].items() if entry.known]
        return [*listed, *(self.spec[key] for key in _STEPS if self.spec[key].known)]

    @property
    def main(self) -> list[Node]:
        """Known containers without init and ephemeral ones."""
        return [entry for entry in self.spec["containers"].items() if entry.known]

    def security(self, container: Node, key: str) -> Node:
        """A field of the security context: the container's, otherwise the pod's."""
        own = container["securityContext"][key]
        return self.spec["securityContext"][key] if own.missing else own


def pods(resource: Resource, *, steps: bool = False) -> Iterator[Pod]:
    """Pods that a Kubernetes resource declares; with `steps`, also those of a workflow's templates, which have a few of
    a pod's fields: the workflow has the others."""
    if resource.type.startswith("kubernetes:") and ":helm.sh/" not in resource.type:
        yield from _below(resource, resource.props, resource["metadata"], _is_step if steps else _is_pod)


def _below(
    resource: Resource, node: Node, metadata: Node, counts: Callable[[Mapping[str, Any]], bool]
) -> Iterator[Pod]:
    if isinstance(node.raw, Mapping):
        if counts(node.raw):
            yield Pod(at=resource, spec=node, metadata=metadata)
            return
        own = node["metadata"]
        for key, field in node.fields().items():
            if key != "metadata":
                yield from _below(resource, field, own if not own.missing else metadata, counts)
    elif isinstance(node.raw, list):
        for entry in node.items():
            yield from _below(resource, entry, Node(entry.path, MISSING), counts)


def _is_pod(raw: Mapping[str, Any]) -> bool:
    containers = raw.get("containers")
    return isinstance(containers, list) and all(not isinstance(entry, str) for entry in containers)


def _is_step(raw: Mapping[str, Any]) -> bool:
    return _is_pod(raw) or any(isinstance(raw.get(key), Mapping) and "image" in raw[key] for key in _STEPS)


def exempt(resource: Resource, context: Context) -> bool:
    """Whether a resource is, or may be, in a namespace of node software."""
    namespace = resource["metadata"]["namespace"]
    patterns = context.settings.get(EXEMPT, ())
    return bool(patterns) and (
        namespace.unknown or any(fnmatchcase(namespace.text() or "", pattern) for pattern in patterns)
    )


def images(node: Node) -> Iterator[Node]:
    """Every known image that a property names, of a container or a volume, in whatever kind."""
    for key, below in node.fields().items() if isinstance(node.raw, Mapping) else ():
        named = below["reference"] if isinstance(below.raw, Mapping) else below
        if key == "image" and isinstance(named.raw, str):
            yield named
        yield from images(below)
    for one in node.items() if isinstance(node.raw, list) else ():
        yield from images(one)


Question = Callable[[Pod, Node], Node | None]


def of_container(question: Question, *, steps: bool = False) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A check of every container; the question returns the property that is certainly wrong, or None."""

    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        for pod in () if exempt(resource, context) else pods(resource, steps=steps):
            for container in pod.containers:
                wrong = question(pod, container)
                if wrong is not None:
                    yield violation(wrong, at=resource)

    return find


def of_pod(
    question: Callable[[Pod], Node | None], *, steps: bool = False
) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A check of every pod; the question returns the property that is certainly wrong, or None."""

    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        for pod in () if exempt(resource, context) else pods(resource, steps=steps):
            wrong = question(pod)
            if wrong is not None:
                yield violation(wrong, at=resource)

    return find


def node_software() -> dict[str, Setting]:
    """The setting that exempts the namespaces of node software."""
    names = ["kube-system", *PRIVILEGED]
    return {
        EXEMPT: setting(
            "globs of namespaces for node software, such as drivers, device plugins and node agents",
            names,
            names,
            names,
        )
    }
