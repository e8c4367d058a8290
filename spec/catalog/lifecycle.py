"""APIs of Kubernetes by version: since when each is served, and from when on no more."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spec.catalog.document import load
from spec.catalog.kubernetes import minor


class Api(NamedTuple):
    """A kind in one version of its group: the first Kubernetes that serves it, the first that doesn't, and the
    apiVersion that replaces it; empty where there is none."""

    introduced: str
    removed: str = ""
    use: str = ""


def _apis(rows: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], Api]:
    return {(version, kind): Api(**row) for version, kinds in rows.items() for kind, row in kinds.items()}


_DOCUMENT: Final = load("lifecycle.yaml")
GROUPS: Final[Mapping[str, list[str]]] = _DOCUMENT["groups"]
"""Groups of Kubernetes itself, with the versions of which its newest release still has the code."""
APIS: Final[Mapping[tuple[str, str], Api]] = MappingProxyType(_apis(_DOCUMENT["apis"]))
"""By apiVersion and kind: those that go, and those that came since 1.25."""


def removed(api_version: str, kind: str, kubernetes: str) -> Api | None:
    """The API, if a version of Kubernetes no longer serves it; of one without code not even its versions are known."""
    group, _, version = api_version.rpartition("/")
    if group in GROUPS and version not in GROUPS[group]:
        return Api("")
    api = APIS.get((api_version, kind))
    return api if api and api.removed and reached(api.removed, kubernetes) else None


def reached(version: str, kubernetes: str) -> bool:
    """Whether a minor version is that of Kubernetes, or an earlier one."""
    return (minor(version) or 0) <= (minor(kubernetes) or 0)
