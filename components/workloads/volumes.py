"""What a pod mounts: claims that outlive it, scratch space that does not, files of a ConfigMap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A PersistentVolumeClaim of the namespace.

    Attributes:
        claim: Its name.
        path: Where it is mounted.
        read_only: Whether the pod may only read.
        sub_path: Folder of the volume that is mounted; all of it where not given.
    """

    claim: str
    path: str
    read_only: bool = False
    sub_path: str | None = None


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """Space that goes with the pod: on the node's disk, or in memory.

    Attributes:
        path: Where it is mounted.
        size: Its limit: `"20Gi"`. In memory it counts against the memory of the container.
        memory: Whether it is kept in memory.
    """

    path: str
    size: str
    memory: bool = False


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a ConfigMap of the namespace.

    Attributes:
        config_map: Its name.
        path: Folder in which each key is a file.
    """

    config_map: str
    path: str


Volume: TypeAlias = Claim | Scratch | Files


def volume(name: str, given: Volume) -> dict[str, Any]:
    """An entry of a pod's `volumes`."""
    if isinstance(given, Claim):
        return {"name": name, "persistentVolumeClaim": {"claimName": given.claim}}
    if isinstance(given, Files):
        return {"name": name, "configMap": {"name": given.config_map}}
    medium = {"medium": "Memory"} if given.memory else {}
    return {"name": name, "emptyDir": {**medium, "sizeLimit": given.size}}


def mount(name: str, given: Volume) -> dict[str, Any]:
    """An entry of a container's `volumeMounts`."""
    made: dict[str, Any] = {"name": name, "mountPath": given.path}
    if isinstance(given, Files) or (isinstance(given, Claim) and given.read_only):
        made["readOnly"] = True
    if isinstance(given, Claim) and given.sub_path:
        made["subPath"] = given.sub_path
    return made


def volumes(given: Mapping[str, Volume]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`volumes` of a pod and `volumeMounts` of its container, sorted by name."""
    return [volume(*each) for each in sorted(given.items())], [mount(*each) for each in sorted(given.items())]
