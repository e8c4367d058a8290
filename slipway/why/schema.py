"""Kinds that members of a team may create, with their versions and fields: from the roles, the pinned software, and the
classes of pulumi_kubernetes, which are generated from Kubernetes' OpenAPI."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final

from pulumi_kubernetes.core.v1 import PodSpecArgs
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.admission import kinds
from components.admission.rule import Kind
from components.tenancy.roles import created
from components.workloads.checks.jobs import key_of, missing_addon
from components.workloads.target import Target
from slipway.why import shapes, trainjob
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.podsets import podsets
from slipway.why.shapes import classes
from slipway.why.table import Finding, finding
from spec.catalog.software import SOFTWARE
from spec.settings.addons.batch import Trainer

_CREATED: Final = tuple(kinds.BY_RESOURCE[one] for one in created())
_SOFTWARE: Final = {
    (*api.partition("/")[::2], resource): row.addon or ""
    for row in SOFTWARE.values()
    for api, names in row.team_kinds.items()
    for resource in names
}
"""Add-on that serves a resource, by group, version and resource."""


_SET_BY: Final = {
    "Namespace": "teams.TEAM.namespaces",
    "NetworkPolicy": "teams.TEAM.namespaces.NAME.purpose",
    "PersistentVolume": "storage",
    "PriorityClass": "teams.TEAM.priorities",
    "ResourceQuota": "gpus, cpus, storageGib, pods and objects of teams.TEAM",
    "RoleBinding": "teams.TEAM.members",
    "StorageClass": "storage",
}
"""The settings by which the platform makes what members may not create."""


def kind_problems(manifest: Object, target: Target) -> Iterator[Finding]:
    """A kind or version that the stack does not serve, or that members of a team may not create."""
    api, name = str(manifest.get("apiVersion")), str(manifest.get("kind"))
    group = api.rpartition("/")[0]
    kind = next((one for one in _CREATED if (one.group, one.kind) == (group, name)), None)
    own = classes(group, name)
    if kind is not None and (addon := _missing(kind, target)):
        lacks = missing_addon(target, name, addon)
        if name == trainjob.KIND and Trainer in (target.addons or ()):
            lacks = replace(lacks, fix=f"{lacks.fix} Or `--fix` makes a TrainJob of it.")
        yield Finding(Layer.ADMISSION, lacks, decoding=True)
    elif kind is not None and api not in (known := versions(kind)):
        yield finding("other version", "apiVersion", api, kind=name, known=", ".join(known), first=known[0])
    elif kind is None and (not own or target.shares is not None):  # without teams nobody is a member of one
        of_group = ", ".join(one.kind for one in _CREATED if one.group == group)
        rule = f"teams create {of_group} of {api}" if of_group else "no add-on of the stack serves this kind to teams"
        rule = "members of a team may not create this kind" if own else rule
        by_name = {one.kind.lower(): one for one in sorted(_CREATED, key=lambda one: one.group == group)}
        like = get_close_matches(name.lower(), by_name, 1, 0.8)
        served = ", ".join(one.kind for one in kinds.WITH_PODS if one in _CREATED and not _missing(one, target))
        meant = " or ".join(f"{versions(by_name[one])[0]} {by_name[one].kind}" for one in like)
        fix = f"Did you mean {meant}?" if like else f"Workloads can be {served}."
        if setting := _SET_BY.get(name) if own else None:
            fix = f"The platform makes it: set {setting} in the stack file."
        elif own and name == "LimitRange":
            fix = "Each namespace of a team has one: write requests and limits into the containers."
        yield finding("no such kind", "kind", f"{api} {name}", rule=rule, fix=fix)


def _missing(kind: Kind, target: Target) -> str:
    """The add-on that serves a kind, if the stack lacks it."""
    addons = {addon for (group, _, name), addon in _SOFTWARE.items() if (group, name) == (kind.group, kind.resource)}
    installed = {key_of(one) for one in target.addons or ()}
    return "" if target.addons is None or not addons - installed else min(addons)


def versions(kind: Kind) -> list[str]:
    """The API versions in which a kind is served."""
    found = [one for group, one, name in _SOFTWARE if (group, name) == (kind.group, kind.resource)]
    return [f"{kind.group}/{one}".lstrip("/") for one in found or sorted(classes(kind.group, kind.kind), reverse=True)]


def field_problems(manifest: Object) -> Iterator[Finding]:
    """Fields that the API does not have: of Kubernetes' own kinds all, of others those of their metadata and pods. The
    API server refuses them (kubectl: `--validate=strict`, its default)."""
    group, _, version = str(manifest.get("apiVersion")).rpartition("/")
    kind = str(manifest.get("kind"))
    if schema := classes(group, kind).get(version):
        yield from _unknown("", manifest, schema)
    if not classes(group, kind):
        yield from _unknown("metadata", manifest.get("metadata"), ObjectMetaArgs)
        makes = any((one.group, one.kind) == (group, kind) for one in kinds.UNCHECKED)
        if makes and not podsets(manifest) and not (manifest.get("spec") or {}).get("clusterSelector"):
            yield finding("no template", "spec", None, kind=kind)
    for one in () if classes(group, kind) else podsets(manifest):
        yield from _unknown(one.name, one.spec, PodSpecArgs)


def _unknown(path: str, value: Any, kind: Any) -> Iterator[Finding]:
    several, known = shapes.parts(kind)
    fields = known or {}
    for at, one in enumerate(value) if isinstance(value, list) else ():
        yield from _unknown(f"{path}[{at}]", one, several)
    for key, one in value.items() if isinstance(value, Mapping) and fields else ():
        where = f"{path}.{key}".lstrip(".")
        if key in fields or "*" in fields:
            yield from _unknown(where, one, fields.get(key, fields.get("*")))
        else:
            fix = f"Did you mean {like[0]}?" if (like := get_close_matches(str(key), fields, 1)) else "Remove it."
            yield finding("no such field", where, key, fix=fix)
