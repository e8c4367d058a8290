"""The files of a rendering, as text by relative path, and the difference of two recordings."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import yaml

from slipway.render.recording import RecordedResource, Recording, RenderError

# The files of a rendering, as text by relative path.


RELEASE: Final = "kubernetes:helm.sh/v3:Release"
CLUSTER_SCOPE: Final = "_cluster"
"""Folder of cluster-scoped objects; no namespace can have this name, because it is not an RFC 1123 label."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]|^\.")

Named = tuple[RecordedResource, str]


class _Dumper(yaml.SafeDumper):
    """YAML as people write it: no anchors, and multi-line strings as blocks."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - name given by the base class
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def files_of(recording: Recording) -> dict[str, str]:
    """Text of every file by its path.

    `resources.json` has every resource, `exports.json` the stack's outputs, `manifests/` every Kubernetes object other
    than Helm releases, `values/` the values of every Helm release.

    Raises:
        RenderError: Two resources are the same object of a cluster, so that each would overwrite the other.
    """
    files = {
        "resources.json": _json([as_data(resource) for resource in recording]),
        "exports.json": _json(recording.exports.plain),
    }
    kubernetes = [one for one in recording if one.custom and one.type.startswith("kubernetes:")]
    releases = [one for one in kubernetes if one.type == RELEASE]
    objects = [one for one in kubernetes if one.type != RELEASE]
    for resource, path in _distinct(objects, (_path, _path_with_group)):
        files[path] = _yaml(resource.inputs.plain)
    for resource, path in _distinct(releases, (_values_path, _values_path_with_namespace)):
        files[path] = _values(resource)
    return files


def as_data(resource: RecordedResource) -> dict[str, Any]:
    """One entry of `resources.json`."""
    return {
        "urn": resource.urn,
        "type": resource.type,
        "name": resource.name,
        "parent": resource.parent,
        "inputs": resource.inputs.plain,
        "options": options_of(resource),
    }


def options_of(resource: RecordedResource) -> dict[str, Any]:
    """`options` of an entry of `resources.json`."""
    options = resource.options
    return {
        "protect": options.protect,
        "retainOnDelete": options.retain_on_delete,
        "deleteBeforeReplace": options.delete_before_replace,
        "deletedWith": options.deleted_with,
        "ignoreChanges": list(options.ignore_changes),
        "replaceOnChanges": list(options.replace_on_changes),
        "additionalSecretOutputs": list(options.additional_secret_outputs),
        "aliases": list(options.aliases),
        "customTimeouts": dict(options.custom_timeouts),
        "dependsOn": list(options.dependencies),
        "provider": options.provider,
        "others": dict(options.others),
    }


def _distinct(
    resources: Sequence[RecordedResource], spellings: Sequence[Callable[[RecordedResource], str]]
) -> list[Named]:
    """A unique path for each resource: the first spelling, or the next one for those that share it."""
    first, *rest = spellings
    by_path: defaultdict[str, list[RecordedResource]] = defaultdict(list)
    for resource in resources:
        by_path[first(resource)].append(resource)
    named: list[Named] = []
    for path, group in by_path.items():
        if len(group) == 1:
            named.append((group[0], path))
        elif rest:
            named += _distinct(group, rest)
        else:
            urns = " and ".join(resource.urn for resource in group)
            msg = (
                f"{path}: {urns} are the same object of the cluster and would overwrite each other: remove one of them"
            )
            raise RenderError(msg)
    return named


def _path(resource: RecordedResource) -> str:
    return _manifest_path(resource, str(resource.inputs.plain.get("kind", "")).lower())


def _path_with_group(resource: RecordedResource) -> str:
    inputs = resource.inputs.plain
    group = str(inputs.get("apiVersion", "")).rpartition("/")[0]
    return _manifest_path(resource, ".".join(part for part in (str(inputs.get("kind", "")).lower(), group) if part))


def _manifest_path(resource: RecordedResource, kind: str) -> str:
    metadata = resource.inputs.plain.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    folder = metadata.get("namespace") or CLUSTER_SCOPE
    return f"manifests/{_safe(folder)}/{_safe(kind)}-{_safe(metadata.get('name') or resource.name)}.yaml"


def _values_path(resource: RecordedResource) -> str:
    return f"values/{_safe(resource.inputs.plain.get('name') or resource.name)}.yaml"


def _values_path_with_namespace(resource: RecordedResource) -> str:
    inputs = resource.inputs.plain
    return f"values/{_safe(inputs.get('namespace', 'default'))}.{_safe(inputs.get('name') or resource.name)}.yaml"


def _values(resource: RecordedResource) -> str:
    inputs = resource.inputs.plain
    repository = inputs.get("repositoryOpts")
    facts = {
        "chart": inputs.get("chart"),
        "version": inputs.get("version"),
        "repository": repository.get("repo") if isinstance(repository, Mapping) else None,
        "namespace": inputs.get("namespace"),
    }
    head = "".join(f"# {key}: {value}\n" for key, value in facts.items() if value)
    return head + _yaml(inputs.get("values") or {})


def _safe(name: object) -> str:
    """A name as a path component: no separator, no leading dot, no character that a file system refuses."""
    return _UNSAFE.sub("_", str(name))


def _yaml(value: Any) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=120)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
