"""Volumes of a pod: persistent claims, ephemeral scratch space, files of a ConfigMap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A PersistentVolumeClaim of the namespace.

    Attributes:
        claim: Its name.
        path: Mount path.
        read_only: Whether to mount it read-only.
        sub_path: Folder of the volume to mount; the whole volume by default.
    """

    claim: str
    path: str
    read_only: bool = False
    sub_path: str | None = None


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """Ephemeral space of the pod: on the node's disk, or in memory.

    Attributes:
        path: Mount path.
        size: Size limit: `"20Gi"`. In memory it counts against the container's memory limit.
        memory: Whether it is in memory.
    """

    path: str
    size: str
    memory: bool = False


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a ConfigMap of the namespace.

    Attributes:
        config_map: Its name.
        path: Mount path, in which each key is a file.
    """

    config_map: str
    path: str


Volume: TypeAlias = Claim | Scratch | Files


def volume(name: str, source: Volume) -> dict[str, Any]:
    """An entry of a pod's `volumes`."""
    if isinstance(source, Claim):
        return {"name": name, "persistentVolumeClaim": {"claimName": source.claim}}
    if isinstance(source, Files):
        return {"name": name, "configMap": {"name": source.config_map}}
    medium = {"medium": "Memory"} if source.memory else {}
    return {"name": name, "emptyDir": {**medium, "sizeLimit": source.size}}


def mount(name: str, source: Volume) -> dict[str, Any]:
    """An entry of a container's `volumeMounts`."""
    entry: dict[str, Any] = {"name": name, "mountPath": source.path}
    if isinstance(source, Files) or (isinstance(source, Claim) and source.read_only):
        entry["readOnly"] = True
    if isinstance(source, Claim) and source.sub_path:
        entry["subPath"] = source.sub_path
    return entry


def volumes(sources: Mapping[str, Volume]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`volumes` of a pod and `volumeMounts` of its container, sorted by name."""
    return [volume(*each) for each in sorted(sources.items())], [mount(*each) for each in sorted(sources.items())]
