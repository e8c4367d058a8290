"""Data stores and their users, according to the program.

Users are derived from the property dependencies of the recording: a volume with its claim's namespace, a role's policy
with the service accounts that the role is associated with, a release or an object that references the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording
from slipway.report.model import StoreView
from spec.settings.platform import Platform

_BUCKET: Final = "aws:s3/bucket:Bucket"
_PREFIX: Final = "storage-"


@dataclass(frozen=True)
class _Kind:
    """How a store type is shown."""

    label: str
    facts: Callable[[Mapping[str, Any], Platform, str], Iterator[str]]
    idle: str = "not used in the cluster"


def stores(platform: Platform, recording: Recording) -> tuple[StoreView, ...]:
    """Every data store of the stack, in the order of `_KINDS`, then by name."""
    teams = {space: name for name, team in platform.teams.items() for space in team.namespaces_of(name)}
    users = Users(recording)
    views = []
    for token, kind in _KINDS.items():
        for one in recording.of_type(token):
            name = one.name.removeprefix(_PREFIX)
            spaces = users.of(one.urn)
            views.append(
                StoreView(
                    kind=kind.label,
                    name=name,
                    facts=tuple(kind.facts(one.inputs.plain, platform, name)),
                    teams=tuple(sorted({teams[space] for space in spaces if space in teams})),
                    software=tuple(sorted(space for space in spaces if space not in teams)),
                    idle=kind.idle,
                    protected=one.options.protect or one.options.retain_on_delete,
                )
            )
    return tuple(views)


class Users:
    """The namespaces and other stores that reference a resource."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._referring: dict[str, list[RecordedResource]] = {}
        for one in recording:
            for urn in dict.fromkeys(urn for urns in one.options.property_dependencies.values() for urn in urns):
                self._referring.setdefault(urn, []).append(one)
        self._claims = {
            claim.inputs.plain["spec"].get("volumeName"): _namespace(claim)
            for claim in recording.of_type("kubernetes:core/v1:PersistentVolumeClaim")
        }

    def of(self, urn: str) -> frozenset[str]:
        """Names of the namespaces that use it, and of stores linked to it."""
        return frozenset(name for one in self._referring.get(urn, ()) for name in self._names(one, urn))

    def _names(self, one: RecordedResource, urn: str) -> Iterator[str]:
        if one.type == "kubernetes:core/v1:PersistentVolume":
            space = self._claims.get(one.inputs.plain["metadata"].get("name"))
            if space:
                yield space
        elif one.type == "aws:iam/rolePolicy:RolePolicy":
            roles = one.options.property_dependencies.get("role", ())
            yield from self._accounts(roles)
        elif one.type == "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation":
            if urn in one.options.property_dependencies.get("dataRepositoryPath", ()):
                yield "FSx for Lustre (linked)"
        elif one.type.startswith("kubernetes:"):
            space = _namespace(one)
            if space:
                yield space

    def _accounts(self, roles: Sequence[str]) -> Iterator[str]:
        for association in self._recording.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation"):
            sources = association.options.property_dependencies.get("roleArn", ())
            if set(sources) & set(roles):
                yield str(association.inputs.plain["namespace"])


def _namespace(one: RecordedResource) -> str:
    metadata = one.inputs.plain.get("metadata")
    inside = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    return str(one.inputs.plain.get("namespace") or inside or "")


def _bucket(_: Mapping[str, Any], platform: Platform, name: str) -> Iterator[str]:
    settings = platform.storage.buckets
    if name == "checkpoints" and settings.checkpoint_days is not None:
        yield f"checkpoints expire after {settings.checkpoint_days} days"
    if name == "state" and settings.artifact_days is not None:
        yield f"workflow artifacts expire after {settings.artifact_days} days"
    if name == "raw" and settings.tier_raw_after_days is not None:
        yield f"Intelligent-Tiering after {settings.tier_raw_after_days} days"
    if name == "logs":
        yield f"kept {settings.log_days} days"
    else:
        yield f"noncurrent versions kept {settings.noncurrent_days} days"


def _efs(inputs: Mapping[str, Any], platform: Platform, _: str) -> Iterator[str]:
    yield f"{inputs.get('throughputMode', 'bursting')} throughput"
    if platform.storage.efs and platform.storage.efs.backup:
        yield "daily backups"
    if platform.storage.efs and platform.storage.efs.transition_to_ia_days:
        yield f"Infrequent Access after {platform.storage.efs.transition_to_ia_days} days"


def _lustre(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield f"{inputs['storageCapacity']:,} GiB"
    yield str(inputs["deploymentType"])
    if inputs.get("perUnitStorageThroughput"):
        yield f"{inputs['perUnitStorageThroughput']} MB/s per TiB"


def _database(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield f"{inputs.get('engine')} {inputs.get('engineVersion', '')}".strip()
    yield str(inputs.get("instanceClass"))
    grows = f", grows to {inputs['maxAllocatedStorage']} GiB" if "maxAllocatedStorage" in inputs else ""
    yield f"{inputs.get('allocatedStorage')} GiB{grows}"
    yield "in two zones" if inputs.get("multiAz") else "in one zone"
    yield f"backups kept {inputs.get('backupRetentionPeriod', 0)} days"


def _images(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield "immutable tags" if str(inputs.get("imageTagMutability", "")).startswith("IMMUTABLE") else "mutable tags"


_KINDS: Final[Mapping[str, _Kind]] = {
    _BUCKET: _Kind("S3 bucket", _bucket),
    "aws:efs/fileSystem:FileSystem": _Kind("EFS file system", _efs),
    "aws:fsx/lustreFileSystem:LustreFileSystem": _Kind("FSx for Lustre", _lustre),
    "aws:rds/instance:Instance": _Kind("RDS database", _database),
    "aws:ecr/repository:Repository": _Kind("ECR repository", _images, "pulled by nodes"),
}
