"""Software that add-ons install, by name: pinned versions, and facts that other parts of the platform derive from.

The rows are in `data/software.yaml`. From them come reserved namespaces, allowed chart repositories, images that are
pulled through caches, resources that teams may create, and the kinds of jobs that Kueue queues.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar, cast

from spec.catalog.document import load

FILE: Final = "software.yaml"
PodSecurity = Literal["privileged", "baseline", "restricted"]
"""Pod Security Standards (kubernetes.io, "Pod Security Standards")."""


@dataclass(frozen=True, kw_only=True)
class OwnNamespace:
    """The namespace of an add-on's controllers."""

    name: str  # name of the namespace
    pod_security: PodSecurity  # enforced Pod Security level


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A PodDisruptionBudget of a controller, which keeps one of its pods; `selects` are the labels of its pods."""

    name: str
    selects: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Software:
    """One version of one project's software."""

    name: str  # name of the chart or project
    version: str  # exact version, in the publisher's spelling (with `v` or without)
    released: date  # date of the release
    source: str  # where version and date were read
    newest_on: date | None = None  # day on which it was still the newest release, if somebody looked since
    namespace: OwnNamespace | None = None
    """Namespace that the platform makes for it; None if it has no pods or runs in `kube-system`."""
    node_software: dict[str, str] = field(default_factory=dict)
    """What needs its node, such as a node agent, as kind/name: the repository of its image, or the chart of a release.
    """
    repositories: list[str] = field(default_factory=list)
    """Repositories of further images that its pods run; all of an owner's if one ends with a slash."""
    images: dict[str, str] = field(default_factory=dict)
    """By the path of a chart's value: the registry, repository or image that is its default."""
    team_kinds: dict[str, list[str]] = field(default_factory=dict)
    """By API group and version: resources that members of teams may create."""
    queued_kinds: dict[str, str] = field(default_factory=dict)  # by kind: the integration of Kueue that queues it
    addon: str | None = None  # key in the stack file of the add-on that these kinds come with
    budget: Budget | None = None  # a PodDisruptionBudget that its chart has no value for


@dataclass(frozen=True, kw_only=True)
class ChartRef(Software):
    """One version of one Helm chart."""

    repository: str  # an `https://` repository, or an `oci://` registry with its path
    digest: str = ""
    """`sha256:` and the SHA-256 of the packed chart, which a download must have; empty if none is known."""

    @property
    def chart(self) -> str:
        """What Helm calls the chart: its name in an `https://` repository, or a whole `oci://` reference."""
        return f"{self.repository}/{self.name}" if self.in_registry else self.name

    @property
    def in_registry(self) -> bool:
        """Whether the chart is in an OCI registry and not in a repository of Helm's own kind."""
        return self.repository.startswith("oci://")


@dataclass(frozen=True, kw_only=True)
class ManifestRef(Software):
    """One version of software that is published as manifests, which the platform declares itself, with their image."""

    image: str


Row = TypeVar("Row")


class _Rows(dict[str, Row]):
    def __missing__(self, name: str) -> Row:
        msg = f"{name}: spec/catalog/data/{FILE} has no row of it"
        raise KeyError(msg)


_KEYS: Final[Mapping[str, str]] = MappingProxyType({"released": "date"})
"""Names of fields in the file, where they aren't the field's own in camel case."""
_PARTS: Final[Mapping[str, type[Any]]] = MappingProxyType({"namespace": OwnNamespace, "budget": Budget})
_TYPES: Final[Mapping[str, type]] = MappingProxyType({"date": date, "newestOn": date, "repositories": list})
_MAPS: Final = ("images", "node_software", "queued_kinds", "selects", "team_kinds")


def row_of(kind: type[Row], name: str, given: Mapping[str, Any]) -> Row:
    """A row of the file. Not by pydantic, which would take a sixth of the time of the policy pack in each preview.

    Raises:
        ValueError: A key is unknown or missing, or a value is of another type.
    """
    names = {_KEYS.get(each.name, _camel(each.name)): each.name for each in fields(cast(Any, kind))}
    values: dict[str, Any] = {}
    for key, value in given.items():
        attribute = names.get(key)
        expected = _TYPES.get(key, dict if attribute in (*_MAPS, *_PARTS) else str)
        if attribute is None or not isinstance(value, expected):
            msg = f"{FILE}, {name}.{key}: " + (f"must be a {expected.__name__}" if attribute else "is no key of a row")
            raise ValueError(msg)
        part, given_value = _PARTS.get(attribute), cast(Any, value)
        values[attribute] = row_of(part, f"{name}.{key}", given_value) if part else value
    try:
        return kind(**values)
    except TypeError as error:
        msg = f"{FILE}, {name}: {error}"
        raise ValueError(msg) from None


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _read(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, ChartRef | ManifestRef]:
    kinds: dict[str, type[ChartRef | ManifestRef]] = {
        name: ManifestRef if "image" in row else ChartRef for name, row in rows.items()
    }
    return MappingProxyType(
        _Rows({name: row_of(kinds[name], name, {"name": name, **row}) for name, row in rows.items()})
    )


SOFTWARE: Final = _read(load(FILE))
PRIVILEGED: Final = tuple(
    sorted(
        row.namespace.name for row in SOFTWARE.values() if row.namespace and row.namespace.pod_security == "privileged"
    )
)
"""Namespaces of node software, such as drivers, device plugins and node agents."""
CHARTS: Final[Mapping[str, ChartRef]] = MappingProxyType(
    _Rows({name: row for name, row in SOFTWARE.items() if isinstance(row, ChartRef)})
)
NODE_SOFTWARE: Final[Mapping[str, str]] = {
    workload.replace("/", f"/{row.namespace.name if row.namespace else 'kube-system'}/"): source
    for row in CHARTS.values()
    for workload, source in row.node_software.items()
}
"""Workloads that need their node, such as device plugins and node agents, as kind/namespace/name: the repository of
their image, or the chart of a release."""
MANIFESTS: Final[Mapping[str, ManifestRef]] = MappingProxyType(
    _Rows({name: row for name, row in SOFTWARE.items() if isinstance(row, ManifestRef)})
)
IMAGES: Final = frozenset(
    image
    for row in SOFTWARE.values()
    for image in (*row.repositories, *row.images.values(), *([row.image] if isinstance(row, ManifestRef) else []))
    if "/" in image
)
"""Repositories of images that the software runs, some with a version; all of an owner's if it ends with a slash."""

CLUSTER_AUTOSCALER_IMAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"1.32": "v1.32.5", "1.33": "v1.33.3", "1.34": "v1.34.2", "1.35": "v1.35.2", "1.36": "v1.36.1"}
)
"""Image by Kubernetes minor version: the autoscaler simulates the scheduler of one version (its README, "Releases").
Tags published at registry.k8s.io as of 2026-07 (github.com/kubernetes/k8s.io, images of autoscaling; 2025-11 up to
1.34). For other versions the chart's default applies."""
