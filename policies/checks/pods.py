"""Pod specs in any resource: a Deployment, a JobSet, a training runtime, a manifest of a rendered chart.

A pod spec is recognized by its shape, a map with a list of `containers`, so unknown kinds are evaluated as well.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from policies.checks.images import images, place
from policies.resources.access import MISSING, Node
from policies.resources.resource import Resource
from policies.resources.tokens import RELEASE
from policies.rule import Context, Setting, Violation, setting, violation
from spec.catalog.software import NODE_SOFTWARE

_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_STEPS: Final = ("container", "script")
"""One container of a template of Argo (argoproj/argo-workflows v4, pkg/apis/workflow/v1alpha1, Template)."""
EXEMPT: Final = "privilegedWorkloads"
"""Setting: workloads of node software, such as drivers, device plugins and node agents, as kind/namespace/name."""


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod spec in a resource."""

    at: Resource
    spec: Node
    metadata: Node  # metadata of the pod; of the resource if it is a Pod

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
    """Whether a resource is, or may be, one of the workloads of node software, with its image or its chart."""
    release = resource.type == RELEASE
    at = resource.props if release else resource["metadata"]

    def may_be(workload: str) -> bool:
        kind, *names = workload.split("/")
        parts = zip(names, (at["namespace"], at["name"]), strict=True)
        return resource.type.endswith(f":{kind}") and all(node.unknown or node.raw == name for name, node in parts)

    software = {source for workload, source in context.settings.get(EXEMPT, {}).items() if may_be(workload)}
    if release:
        return bool(software) and (resource["chart"].text() or "").rpartition("/")[2] in {"", *software}
    return bool(software) and {place(str(image.raw), context.account) for image in images(resource.props)} <= software


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
    """The setting that exempts node software."""
    return {EXEMPT: setting("workloads of node software with their image's repository or their chart", NODE_SOFTWARE)}
