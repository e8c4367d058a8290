"""APIs of Kubernetes by version: since when each is served, and from when on no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from spec.catalog.document import Source, load, source
from spec.catalog.kubernetes import minor


@dataclass(frozen=True, kw_only=True)
class Api:
    """A kind in one version of its group.

    Attributes:
        introduced: The first minor version of Kubernetes that serves it.
        removed: The first one that doesn't; empty while none is known.
        use: The apiVersion that replaces it; empty if none does.
    """

    introduced: str
    removed: str = ""
    use: str = ""


_DOCUMENT: Final = load("lifecycle.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {group: tuple(versions) for group, versions in _DOCUMENT["groups"].items()}
)
"""Groups of Kubernetes itself, with the versions that the newest one still has the code of."""


def _apis(rows: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], Api]:
    return {(version, kind): Api(**row) for version, kinds in rows.items() for kind, row in kinds.items()}


APIS: Final[Mapping[tuple[str, str], Api]] = MappingProxyType(_apis(_DOCUMENT["apis"]))
"""By apiVersion and kind: those that go, and those that came since 1.25."""


def removed(api_version: str, kind: str, kubernetes: str) -> Api | None:
    """The API, if a version of Kubernetes no longer serves it; without `use` and `removed` if even its code is gone."""
    group, _, version = api_version.rpartition("/")
    if group in GROUPS and version not in GROUPS[group]:
        return Api(introduced="")
    api = APIS.get((api_version, kind))
    return api if api and api.removed and reached(api.removed, kubernetes) else None


def added(api_version: str, kind: str, kubernetes: str) -> Api | None:
    """The API, if a version of Kubernetes does not serve it yet."""
    api = APIS.get((api_version, kind))
    return api if api and not reached(api.introduced, kubernetes) else None


def reached(version: str, kubernetes: str) -> bool:
    """Whether a minor version is that of Kubernetes, or an earlier one."""
    return (minor(version) or 0) <= (minor(kubernetes) or 0)
